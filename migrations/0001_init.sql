-- +goose Up

-- "brdg": how a store is told from any other SQLite file.
PRAGMA application_id = 1651663975;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each person. A phone number names a person for good; a LID
-- belongs to one person at a time and may move.
CREATE TABLE people (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    pn            TEXT UNIQUE,
    lid           TEXT UNIQUE,
    name          TEXT NOT NULL DEFAULT '',
    push_name     TEXT NOT NULL DEFAULT '',
    business_name TEXT NOT NULL DEFAULT '',
    CHECK (pn IS NOT NULL OR lid IS NOT NULL)
) STRICT;

-- Every LID ever learned, the former ones of a person included.
CREATE TABLE identities (
    lid    TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_person ON identities (person);

-- Chats carry what the list of chats shows, so that it costs its page.
CREATE TABLE chats (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    jid             TEXT NOT NULL UNIQUE,
    person          INTEGER UNIQUE REFERENCES people (id),
    is_group        INTEGER NOT NULL,
    name            TEXT NOT NULL,
    folded_name     TEXT NOT NULL,
    participants    INTEGER NOT NULL,
    message_count   INTEGER NOT NULL DEFAULT 0,
    last_message_at INTEGER,
    timer           INTEGER NOT NULL DEFAULT 0,
    recency         INTEGER NOT NULL
                    GENERATED ALWAYS AS (ifnull(-last_message_at, 9223372036854775807)) VIRTUAL
) STRICT;
-- Every message moves its chat in this index, so there is only this one; what
-- the list filters by is in it, too.
CREATE INDEX chats_by_recency ON chats (recency, jid, is_group, folded_name);

-- known says whether the network has told of the group; until then only its
-- JID is sure.
CREATE TABLE groups (
    chat        INTEGER PRIMARY KEY REFERENCES chats (id),
    known       INTEGER NOT NULL DEFAULT 0,
    topic       TEXT NOT NULL DEFAULT '',
    owner       INTEGER,
    created_at  INTEGER,
    is_announce INTEGER NOT NULL DEFAULT 0,
    is_locked   INTEGER NOT NULL DEFAULT 0,
    updated_at  INTEGER
) STRICT;
CREATE INDEX groups_unknown ON groups (chat) WHERE known = 0;

CREATE TABLE members (
    chat           INTEGER NOT NULL REFERENCES groups (chat),
    person         INTEGER NOT NULL REFERENCES people (id),
    display_name   TEXT NOT NULL DEFAULT '',
    is_admin       INTEGER NOT NULL DEFAULT 0,
    is_super_admin INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (chat, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_person ON members (person);

-- Messages are as narrow as the lists that show them. arrival only ever grows,
-- also past messages that were removed: the program sees to that, because
-- AUTOINCREMENT would write one more page with every message. sender is a
-- person, without a foreign key: a check on removing a person would read all
-- messages. folded is null where it equals content. details is the JSON of what
-- few messages have: quote, mentions, media, poll.
CREATE TABLE messages (
    arrival    INTEGER PRIMARY KEY,
    chat       INTEGER NOT NULL REFERENCES chats (id),
    id         TEXT NOT NULL,
    sender     INTEGER NOT NULL,
    from_me    INTEGER NOT NULL,
    timestamp  INTEGER NOT NULL,
    type       TEXT NOT NULL,
    push_name  TEXT NOT NULL,
    content    TEXT NOT NULL,
    folded     TEXT,
    details    TEXT,
    reactions  INTEGER NOT NULL DEFAULT 0,
    edited_at  INTEGER,
    deleted_at INTEGER,
    status     INTEGER
) STRICT;
CREATE UNIQUE INDEX messages_by_id ON messages (chat, id);
CREATE INDEX messages_by_time ON messages (chat, timestamp);
CREATE INDEX messages_by_sender ON messages (chat, sender, timestamp);
CREATE INDEX messages_pending ON messages (status) WHERE status = 0;

-- What no list shows: the protobuf as it came, and where its file lies.
CREATE TABLE message_raw (
    arrival    INTEGER PRIMARY KEY REFERENCES messages (arrival) ON DELETE CASCADE,
    raw        BLOB,
    media_ref  TEXT,
    view_once  INTEGER NOT NULL DEFAULT 0,
    expiration INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A removed reaction stays as a row with an empty emoji, so that an older one
-- that is told again does not bring it back.
CREATE TABLE reactions (
    message   INTEGER NOT NULL REFERENCES messages (arrival) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    emoji     TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX reactions_by_person ON reactions (person);

-- hashes are the SHA-256 of the chosen options' names, one after the other.
CREATE TABLE votes (
    message   INTEGER NOT NULL REFERENCES messages (arrival) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    hashes    BLOB NOT NULL,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX votes_by_person ON votes (person);

-- How many messages a chat has on each day (UTC): what makes deep offsets
-- cheap.
CREATE TABLE days (
    chat     INTEGER NOT NULL REFERENCES chats (id),
    day      INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (chat, day)
) STRICT, WITHOUT ROWID;

-- The log of events. Rows refer to what changed; what it looks like is joined
-- when they are read. data is set for the status of the account alone. The
-- program sees to it that no number is ever given twice.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    type    INTEGER NOT NULL,
    message INTEGER,
    chat    INTEGER,
    data    TEXT,
    at      INTEGER NOT NULL
) STRICT;

CREATE TABLE send_keys (
    key       TEXT PRIMARY KEY,
    route     TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    chat      TEXT NOT NULL,
    msg_id    TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX send_keys_by_message ON send_keys (msg_id);
CREATE INDEX send_keys_by_age ON send_keys (at);
