-- +goose Up

-- The chats that the account began within the last day, where their number is
-- limited.
CREATE TABLE new_chats (
    chat INTEGER PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    at   INTEGER NOT NULL
) STRICT;
CREATE INDEX new_chats_by_time ON new_chats (at);

-- A chat stays used when its messages are removed for their age.
ALTER TABLE chats ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
