-- +goose Up

-- Changes of messages that cannot be made yet: of messages that are not stored,
-- of placeholders whose message may still come, and deletions in groups whose
-- members are not known. chat is the JID of a group, or "person" and the id of
-- the other side. kind: 1 deletion, 2 edit, 3 reaction, 4 vote, 5 a change that
-- is encrypted with the secret of its message. stanza tells several of these
-- apart. size is what the row counts for the limits.
CREATE TABLE parked (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    chat   TEXT NOT NULL,
    target TEXT NOT NULL,
    kind   INTEGER NOT NULL,
    sender TEXT NOT NULL,
    stanza TEXT NOT NULL,
    at     INTEGER NOT NULL,
    size   INTEGER NOT NULL,
    fact   TEXT NOT NULL,
    raw    BLOB,
    UNIQUE (chat, target, kind, sender, stanza)
) STRICT;
CREATE INDEX parked_by_sender ON parked (sender, size);
CREATE INDEX parked_by_age ON parked (at);

INSERT INTO parked (chat, target, kind, sender, stanza, at, size, fact, raw)
SELECT iif(c.is_group, c.jid, 'person ' || c.person), m.id, 2, p.editor, '', unixepoch() * 1000,
    length(p.content) + ifnull(length(p.details), 0) + ifnull(length(p.raw), 0),
    json_object('t', p.timestamp, 'y', p.type, 'c', p.content, 'd', json(p.details), 'r', json(p.media_ref),
        'o', json(iif(p.view_once, 'true', 'false'))),
    p.raw
FROM parked_edits p JOIN messages m ON m.arrival = p.message JOIN chats c ON c.id = m.chat;

DROP TABLE parked_edits;

-- Further ids of a message: an HD upload and the picture that it replaces are
-- one message with two.
CREATE TABLE aliases (
    id      TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (arrival) ON DELETE CASCADE,
    PRIMARY KEY (id, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_message ON aliases (message);
