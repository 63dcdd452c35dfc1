-- +goose Up

-- Messages taken over from the phone's history: they were never received over
-- the connection, and no event tells of them.
ALTER TABLE messages ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
