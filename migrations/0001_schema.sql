-- "brdg": tells stores from other SQLite files.
PRAGMA application_id = 1651663975;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each person. A phone number names a person until the network says
-- that they have another one; a LID belongs to one person at a time and may move.
-- So does a username, by which people without a number are found at the network;
-- empty where none is known.
--
-- The timer of a chat between two belongs to the person: it is known before the
-- chat has a message. Groups have theirs in chats.
--
-- sort_name is the beginning of the name that the list of contacts shows, folded;
-- empty where there is none, and those come last, by their JID. folded_names are
-- all names, folded, as those of chats are: without accents, too.
CREATE TABLE people (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    pn            TEXT UNIQUE,
    lid           TEXT UNIQUE,
    name          TEXT NOT NULL DEFAULT '',
    push_name     TEXT NOT NULL DEFAULT '',
    business_name TEXT NOT NULL DEFAULT '',
    username      TEXT NOT NULL DEFAULT '',
    timer         INTEGER NOT NULL DEFAULT 0,
    timer_set_at  INTEGER NOT NULL DEFAULT 0,
    blocked       INTEGER NOT NULL DEFAULT 0,
    sort_name     TEXT NOT NULL DEFAULT '',
    folded_names  TEXT NOT NULL DEFAULT '',
    nameless      INTEGER NOT NULL GENERATED ALWAYS AS (sort_name = '') VIRTUAL,
    sort_key      TEXT NOT NULL GENERATED ALWAYS AS (iif(sort_name = '', ifnull(pn, lid), sort_name)) VIRTUAL,
    CHECK (pn IS NOT NULL OR lid IS NOT NULL)
) STRICT;
-- What the list filters by is in it, too.
CREATE INDEX people_by_name ON people (nameless, sort_key, id, folded_names, pn);
CREATE INDEX people_by_username ON people (username) WHERE username != '';
CREATE INDEX people_blocked ON people (id) WHERE blocked;

-- Every LID ever learned, the former ones of a person included. Former numbers are
-- in it, too, until somebody else has them.
CREATE TABLE identities (
    lid    TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_person ON identities (person);

-- Chats carry what the list of chats shows, so that it costs its page.
--
-- unread is the number of messages by others that came after read_seq, up to
-- which the account has read; none of them is older than unread_since. Up to
-- receipt_seq those who wrote got a read receipt. read_seq is often further on:
-- who answers has read, which by itself sends no receipt.
--
-- A chat that was imported under a name of its own has a JID of the server import
-- and no person, also where it was a group.
--
-- muted_until is null where the chat is not muted. A used chat is not new, also
-- when its messages were removed for their age. history_end is 1 if the phone has
-- no older messages, 2 if it has older ones that it sends to no linked device.
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
    used            INTEGER NOT NULL DEFAULT 0,
    unread          INTEGER NOT NULL DEFAULT 0,
    unread_since    INTEGER NOT NULL DEFAULT 0,
    read_seq        INTEGER NOT NULL DEFAULT 0,
    receipt_seq     INTEGER NOT NULL DEFAULT 0,
    marked_unread   INTEGER NOT NULL DEFAULT 0,
    archived        INTEGER NOT NULL DEFAULT 0,
    pinned          INTEGER NOT NULL DEFAULT 0,
    muted_until     INTEGER,
    history_end     INTEGER NOT NULL DEFAULT 0,
    transcribed     TEXT NOT NULL DEFAULT '',
    recency         INTEGER NOT NULL
                    GENERATED ALWAYS AS (ifnull(-last_message_at, 9223372036854775807)) VIRTUAL
) STRICT;
-- Every message moves its chat in this index, so there is only this one; what
-- the list filters by is in it, too.
CREATE INDEX chats_by_recency ON chats (recency, jid, is_group, folded_name);

-- Settings of chats that are not stored yet, by the JID that they came with: a
-- chat takes its own over when it is added.
CREATE TABLE pending_settings (
    jid         TEXT PRIMARY KEY,
    archived    INTEGER NOT NULL DEFAULT 0,
    pinned      INTEGER NOT NULL DEFAULT 0,
    muted_until INTEGER
) STRICT, WITHOUT ROWID;

-- The chats that the account began within the last day, where their number is
-- limited.
CREATE TABLE new_chats (
    chat INTEGER PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    at   INTEGER NOT NULL
) STRICT;
CREATE INDEX new_chats_by_time ON new_chats (at);

-- known says whether the network has described the group; until then only its
-- JID is sure. subject is the name that somebody gave the group, empty for none:
-- then the chat is named by the members. withheld says that the network says nothing of it, because it is
-- gone or the account is not in it: it is not asked again at every login. A
-- community holds groups together. picture is the id of the picture since its
-- last change that was seen, empty after a removal.
CREATE TABLE groups (
    chat          INTEGER PRIMARY KEY REFERENCES chats (id),
    known         INTEGER NOT NULL DEFAULT 0,
    withheld      INTEGER NOT NULL DEFAULT 0,
    subject       TEXT NOT NULL DEFAULT '',
    topic         TEXT NOT NULL DEFAULT '',
    owner         INTEGER,
    created_at    INTEGER,
    is_announce   INTEGER NOT NULL DEFAULT 0,
    is_locked     INTEGER NOT NULL DEFAULT 0,
    join_approval INTEGER NOT NULL DEFAULT 0,
    is_community  INTEGER NOT NULL DEFAULT 0,
    picture       TEXT,
    updated_at    INTEGER
) STRICT;
CREATE INDEX groups_unknown ON groups (chat) WHERE known = 0;

-- label is how a member describes themselves in the group, label_at when they
-- did.
CREATE TABLE members (
    chat           INTEGER NOT NULL REFERENCES groups (chat),
    person         INTEGER NOT NULL REFERENCES people (id),
    display_name   TEXT NOT NULL DEFAULT '',
    is_admin       INTEGER NOT NULL DEFAULT 0,
    is_super_admin INTEGER NOT NULL DEFAULT 0,
    label          TEXT NOT NULL DEFAULT '',
    label_at       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (chat, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_person ON members (person);

-- Who asks to be let into a group, as far as the network said: one request is
-- logged once. Events of a group have as their data who asked, and who no longer
-- does.
CREATE TABLE join_requests (
    chat   INTEGER NOT NULL REFERENCES groups (chat),
    person INTEGER NOT NULL REFERENCES people (id),
    at     INTEGER NOT NULL,
    PRIMARY KEY (chat, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX join_requests_by_person ON join_requests (person);

-- Messages are as narrow as the lists that show them. seq is the order in which
-- they came. It only ever grows, also past messages that were removed: the
-- program sees to that, because AUTOINCREMENT would write one more page with
-- every message. sender is a person, without a foreign key: a check on removing
-- a person would read all messages. folded is what searches look at, content and
-- transcript; null where it equals content. bare is folded without accents; null
-- where it equals folded. details is the JSON of what few messages have: quote,
-- mentions, media, transcript, poll.
-- imported are those taken over from the phone's history, or from a chat that the
-- app has exported: they were never received over the connection, and have no
-- events.
--
-- media is the kind of the message's file. has_link is 1 where the text has an
-- http(s) address, or the message the preview of a page.
CREATE TABLE messages (
    seq        INTEGER PRIMARY KEY,
    chat       INTEGER NOT NULL REFERENCES chats (id),
    id         TEXT NOT NULL,
    sender     INTEGER NOT NULL,
    from_me    INTEGER NOT NULL,
    timestamp  INTEGER NOT NULL,
    type       TEXT NOT NULL,
    push_name  TEXT NOT NULL,
    content    TEXT NOT NULL,
    folded     TEXT,
    bare       TEXT,
    details    TEXT,
    reactions  INTEGER NOT NULL DEFAULT 0,
    edited_at  INTEGER,
    deleted_at INTEGER,
    status     INTEGER,
    imported   INTEGER NOT NULL DEFAULT 0,
    has_link   INTEGER NOT NULL DEFAULT 0,
    media      TEXT GENERATED ALWAYS AS (iif(json_valid(details), details ->> '$.m.type', NULL)) VIRTUAL
) STRICT;
CREATE UNIQUE INDEX messages_by_id ON messages (chat, id);
CREATE INDEX messages_by_time ON messages (chat, timestamp);
CREATE INDEX messages_by_sender ON messages (chat, sender, timestamp);
-- What the lists of messages filter by. An ordinary text of somebody else is in
-- none of these, so that receiving it writes no further page.
CREATE INDEX messages_by_media ON messages (chat, media, timestamp) WHERE media IS NOT NULL;
CREATE INDEX messages_by_type ON messages (chat, type, timestamp) WHERE type NOT IN ('conversation', 'extendedTextMessage');
CREATE INDEX messages_with_link ON messages (chat, timestamp) WHERE has_link = 1;
CREATE INDEX messages_own ON messages (chat, timestamp) WHERE from_me = 1;
CREATE INDEX messages_pending ON messages (status) WHERE status = 0;

-- What no list shows: the protobuf as it came, and where its file lies. wire_id
-- is the id by which the network knows a message whose id cannot stand in a path,
-- and which is stored and shown under another one; null for all others.
CREATE TABLE message_raw (
    seq        INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    raw        BLOB,
    media_ref  TEXT,
    view_once  INTEGER NOT NULL DEFAULT 0,
    expiration INTEGER NOT NULL DEFAULT 0,
    wire_id    BLOB
) STRICT;

-- The files of messages from exported chats, which are kept on this machine as long as a message
-- has them: the network does not. They have the name of their hash.
CREATE TABLE kept_files (
    message INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    sha256  BLOB NOT NULL
) STRICT;
CREATE INDEX kept_files_by_hash ON kept_files (sha256);

-- What messages that tokens have imported take of the disk, in bytes, by the token tree: the id of the
-- token at its root. BRIDGE_TOKEN's are not counted.
CREATE TABLE import_bytes (
    message INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    family  INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT;
CREATE INDEX import_bytes_by_family ON import_bytes (family, bytes);

-- The imports of exported chats, which stay listed. chat is a JID. made_chat is 1 if the
-- chat was not stored before, or is only because of other imports. state is 'running',
-- 'done', 'failed', 'cancelled', 'undoing' or 'undone'. about is the JSON of what the
-- program only shows.
CREATE TABLE imports (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    chat       TEXT NOT NULL,
    made_chat  INTEGER NOT NULL,
    token      INTEGER NOT NULL,
    family     INTEGER NOT NULL,
    state      TEXT NOT NULL,
    error      TEXT,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    imported   INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,
    media      INTEGER NOT NULL DEFAULT 0,
    removed    INTEGER NOT NULL DEFAULT 0,
    about      TEXT NOT NULL
) STRICT;

-- The messages that imports account for: a message from an export stays as long as one
-- import has it. name is the person that the sender's name in the export has. has_file is 1
-- if the message's stored file is in the export, too. before is the JSON of the message without
-- that file: from before the import added it, or as the export has it.
CREATE TABLE import_rows (
    message  INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    import   INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    name     INTEGER NOT NULL,
    has_file INTEGER NOT NULL,
    before   TEXT,
    PRIMARY KEY (message, import)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_rows_by_import ON import_rows (import, message);

-- The people whom only imports have added, by each import that has them.
CREATE TABLE import_people (
    person INTEGER NOT NULL,
    import INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    PRIMARY KEY (person, import)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_people_by_import ON import_people (import);

-- Whose the names in exports were for each import. name is the JID of the name.
CREATE TABLE import_names (
    name   TEXT NOT NULL,
    import INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    person TEXT NOT NULL,
    PRIMARY KEY (name, import)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_names_by_import ON import_names (import);

-- Further ids of a message: an HD upload and the picture that it replaces are
-- one message with two.
CREATE TABLE aliases (
    id      TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (id, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_message ON aliases (message);

-- The parts of albums: album is the id of the message that announced it, in the
-- same chat, whether or not that is stored. Whose album it is shows when it is
-- read: anybody can name one.
CREATE TABLE album_parts (
    album   TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (album, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX album_parts_by_message ON album_parts (message);

-- Which messages quote a message: target is its id, in any chat, whether or not it
-- is stored. A deletion erases by it the copies that the quotes carry.
CREATE TABLE quotes (
    target  TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (target, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX quotes_by_message ON quotes (message);

-- A removed reaction stays as a row with an empty emoji, so that an older one
-- that comes again does not bring it back.
CREATE TABLE reactions (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    emoji     TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX reactions_by_person ON reactions (person);

-- The messages whose transcript is not made yet: asked are those that a caller
-- asked for, which come first, and whole are those that may use more than their
-- chat's part of the month's minutes. tries are how often it was tried, and
-- next_at is when it is tried again, by the store's own clock.
CREATE TABLE transcriptions (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL UNIQUE REFERENCES messages (seq) ON DELETE CASCADE,
    asked   INTEGER NOT NULL,
    whole   INTEGER NOT NULL DEFAULT 0,
    tries   INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL DEFAULT 0
) STRICT;

-- hashes are the SHA-256 of the chosen options' names, one after the other.
CREATE TABLE votes (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    hashes    BLOB NOT NULL,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX votes_by_person ON votes (person);

-- What people answered to events, each their latest: 1 going, 2 not going,
-- 3 maybe, anything else is an answer that was taken back. guests is how many
-- more people they bring along.
CREATE TABLE event_responses (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    answer    INTEGER NOT NULL,
    guests    INTEGER NOT NULL DEFAULT 0,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_responses_by_person ON event_responses (person);

-- Changes of messages that cannot be made yet: of messages that are not stored,
-- of placeholders whose message may still come, and deletions in groups whose
-- members are not known. chat is the JID of a group, or "person" and the id of
-- the other side. kind: 1 deletion, 2 edit, 3 reaction, 4 vote, 5 a change that
-- is encrypted with the secret of its message, 6 answer to an event, 7 option of
-- a poll, 8 pin, 9 keep. stanza tells several of a kind apart. size is what the
-- row counts for the limits.
CREATE TABLE pending_changes (
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
CREATE INDEX pending_changes_by_sender ON pending_changes (sender, size);
CREATE INDEX pending_changes_by_age ON pending_changes (at);

-- The files of messages that were deleted, until they are removed: a row is
-- written in the transaction of the deletion, so that none is forgotten when the
-- program is killed in between. ref is the message's media_ref.
CREATE TABLE erased_files (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    ref  TEXT NOT NULL
) STRICT;

-- The calls to the account. wire_id is the id as the caller wrote it. chat is
-- null where the network did not say in which group the call is. noted_at is by
-- the clock of the machine. Events of calls have seq as their data.
CREATE TABLE calls (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    wire_id    TEXT NOT NULL,
    caller     INTEGER NOT NULL REFERENCES people (id),
    chat       INTEGER REFERENCES chats (id),
    is_group   INTEGER NOT NULL,
    is_video   INTEGER NOT NULL,
    state      TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    noted_at   INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;
CREATE INDEX calls_by_time ON calls (started_at);
CREATE INDEX calls_by_chat ON calls (chat, started_at);
CREATE INDEX calls_by_caller ON calls (caller);
CREATE INDEX calls_ringing ON calls (noted_at) WHERE state = 'ringing';

-- The parts of its history that the phone has announced, written down before
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

-- The log of events. Rows refer to what changed; what it looks like is joined
-- when they are read. data is set where an event refers to neither a message nor
-- a chat, or says more than these. The program sees to it that no number is ever
-- given twice.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    type    INTEGER NOT NULL,
    message INTEGER,
    chat    INTEGER,
    data    TEXT,
    at      INTEGER NOT NULL
) STRICT;

-- The search index is over blocks of consecutive seqs; how many a block has is
-- the program's to know. What the texts of a block contain, and the texts
-- themselves, are in the tables grams and packs, which the program makes: their
-- form is the program's, and they can be made anew from the messages.
--
-- No message of the block is older than oldest, or newer than newest.
CREATE TABLE blocks (
    id     INTEGER PRIMARY KEY,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL
) STRICT;

-- Idempotency keys of sends, each with the message that it is bound to. What has
-- no row of its own (a reaction, an edit, a deletion) is taken by the network at
-- taken_at, which is null until it is. An edit claims the time changed_at, also
-- when it is repeated. What expires goes by at, which is the store's own clock.
CREATE TABLE send_keys (
    key        TEXT PRIMARY KEY,
    route      TEXT NOT NULL,
    body_hash  BLOB NOT NULL,
    chat       TEXT NOT NULL,
    msg_id     TEXT NOT NULL,
    at         INTEGER NOT NULL,
    taken_at   INTEGER,
    changed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX send_keys_by_message ON send_keys (msg_id);
CREATE INDEX send_keys_by_age ON send_keys (at);

-- Changes at the network that are no messages, each under an Idempotency-Key:
-- how things were before, the group that was made, the answer, or that it was
-- refused.
CREATE TABLE keyed_requests (
    id      TEXT PRIMARY KEY,
    plan    TEXT NOT NULL,
    chat    TEXT NOT NULL DEFAULT '',
    answer  TEXT,
    refused INTEGER NOT NULL DEFAULT 0,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX keyed_requests_by_age ON keyed_requests (at);

-- Answers of the network about numbers, for a day. jid is null where no account on
-- the network has the number.
CREATE TABLE number_checks (
    phone       TEXT PRIMARY KEY,
    jid         TEXT,
    is_business INTEGER NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX number_checks_by_age ON number_checks (at);

-- When the network was asked about numbers, one row for each. family is that of the token
-- that asked, 0 for BRIDGE_TOKEN.
CREATE TABLE number_look_ups (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    family INTEGER NOT NULL
) STRICT;

-- Bearers with less power than BRIDGE_TOKEN. hash is the SHA-256 of the secret.
-- scopes is a JSON list; chats is one of JIDs as they were given, null for all.
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

-- Where events are posted to. cursor is the last event that was looked at: what
-- came before it was delivered or has a row in deliveries. What a webhook wants:
-- these types, only these chats and never those (JSON lists, empty for all, all
-- and none), one kind of chat (all, group, individual), and own messages or those
-- of others (null for both). format is the form of its posts, format_options are settings
-- of that form (JSON).
CREATE TABLE webhooks (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    url               TEXT NOT NULL,
    secret            TEXT NOT NULL,
    types             TEXT NOT NULL,
    chats             TEXT NOT NULL,
    exclude_chats     TEXT NOT NULL,
    chat_type         TEXT NOT NULL,
    from_me           INTEGER,
    format            TEXT NOT NULL,
    format_options    TEXT NOT NULL,
    allow_private     INTEGER NOT NULL,
    enabled           INTEGER NOT NULL,
    source            TEXT NOT NULL,
    cursor            INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    last_delivered_at INTEGER,
    last_failed_at    INTEGER,
    last_error        TEXT,
    token             INTEGER REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX webhooks_by_token ON webhooks (token) WHERE token IS NOT NULL;

-- What is still to be delivered or was given up, and the last of what was
-- delivered. Rows name the event; what is posted is joined when it is posted.
-- status: 0 pending, 1 delivered, 2 dead. Deliveries are queued by the chat's
-- row, chat_id, which outlives its JID: 0 is events of no chat, -1 a reset, which
-- goes before all. tried_ms is how long a delivery has been tried, which no jump
-- of the clock changes.
CREATE TABLE deliveries (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook  INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event    INTEGER NOT NULL,
    event_at INTEGER NOT NULL,
    type     TEXT NOT NULL,
    chat     TEXT NOT NULL,
    chat_id  INTEGER NOT NULL,
    status   INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    tried_ms INTEGER NOT NULL,
    first_at INTEGER,
    last_at  INTEGER,
    next_at  INTEGER,
    response INTEGER,
    error    TEXT,
    UNIQUE (webhook, event)
) STRICT;
CREATE INDEX deliveries_by_status ON deliveries (webhook, status, id);
CREATE INDEX deliveries_by_id ON deliveries (webhook, id);
CREATE INDEX deliveries_pending ON deliveries (webhook, chat_id, event) WHERE status = 0;

-- Where other services post what becomes messages to a chat. key_hash is the
-- SHA-256 of the key in the address; secret checks signatures, null for none.
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
