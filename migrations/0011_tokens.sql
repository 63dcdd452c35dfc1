-- +goose Up

-- Bearers with less power than BRIDGE_TOKEN. hash is the SHA-256 of the secret.
-- scopes is a JSON list; chats is one of JIDs as they were given, NULL for all.
-- What a token made ends with it.
CREATE TABLE tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    scopes       TEXT NOT NULL,
    chats        TEXT,
    expires_at   INTEGER,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    parent       INTEGER REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL;

ALTER TABLE webhooks ADD COLUMN token INTEGER REFERENCES tokens (id) ON DELETE CASCADE;
CREATE INDEX webhooks_by_token ON webhooks (token) WHERE token IS NOT NULL;
