-- +goose Up

-- What the account's other devices show of a chat. unread is the number of
-- messages by others that arrived after read_seq, up to which the account has
-- read; none of them is older than unread_since. What was stored before there
-- were these columns counts as read. muted_until is null where it is not muted.
ALTER TABLE chats ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN unread_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN read_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN marked_unread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN muted_until INTEGER;

UPDATE chats SET read_seq = (SELECT ifnull(max(arrival), 0) FROM messages);

-- Settings of chats that are not stored yet, by the JID that they were told
-- under: a chat takes its own over when it is added.
CREATE TABLE parked_settings (
    jid         TEXT PRIMARY KEY,
    archived    INTEGER NOT NULL DEFAULT 0,
    pinned      INTEGER NOT NULL DEFAULT 0,
    muted_until INTEGER
) STRICT, WITHOUT ROWID;
