-- +goose Up

-- The network says nothing of a group that is gone, or that the account is not
-- in: it is not asked again at every login.
ALTER TABLE groups ADD COLUMN withheld INTEGER NOT NULL DEFAULT 0;
