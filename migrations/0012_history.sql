-- +goose Up

-- The parts of its history that the phone has told of, written down before
-- they are acknowledged. notification is the network's, and gone once the part
-- is over with; position is how many of its messages were taken over.
-- state: 0 waiting, 1 taken over, 2 done, 3 given up, 4 replaced.
CREATE TABLE history_parts (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    kind         TEXT NOT NULL,
    chunk        INTEGER NOT NULL,
    notification BLOB,
    state        INTEGER NOT NULL DEFAULT 0,
    position     INTEGER NOT NULL DEFAULT 0,
    tries        INTEGER NOT NULL DEFAULT 0,
    next_at      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX history_parts_due ON history_parts (next_at, seq) WHERE state < 2;

-- The timer of a chat between two belongs to the person: it is known before
-- the chat has a message. Groups go on having theirs in chats.
ALTER TABLE people ADD COLUMN timer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE people ADD COLUMN timer_set_at INTEGER NOT NULL DEFAULT 0;
UPDATE people SET timer = ifnull((SELECT timer FROM chats WHERE chats.person = people.id), 0);
