-- +goose Up

-- Edits of messages that could not be decrypted yet. Each is applied again
-- when the real message comes, whose file it may have to keep. All columns but
-- message are the edit's own, as in messages and message_raw.
CREATE TABLE parked_edits (
    message   INTEGER PRIMARY KEY REFERENCES messages (arrival) ON DELETE CASCADE,
    editor    TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    type      TEXT NOT NULL,
    content   TEXT NOT NULL,
    details   TEXT,
    raw       BLOB,
    media_ref TEXT,
    view_once INTEGER NOT NULL
) STRICT;
