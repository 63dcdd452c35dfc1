-- +goose Up

-- Where other services post what becomes messages to a chat. key_hash is the
-- SHA-256 of the key in the address; secret checks signatures, NULL for none.
-- template is a shipped one's name or its source. What a token made ends with it.
CREATE TABLE hooks (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    name             TEXT NOT NULL,
    chat             TEXT NOT NULL,
    template         TEXT NOT NULL,
    secret           TEXT,
    key_hash         BLOB NOT NULL,
    enabled          INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    last_delivery_at INTEGER,
    last_failed_at   INTEGER,
    last_error       TEXT,
    token            INTEGER REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX hooks_by_token ON hooks (token) WHERE token IS NOT NULL;
