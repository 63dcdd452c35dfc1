PRAGMA application_id = 1651663975;
PRAGMA user_version = 1;
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE identities (
    lid    TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE pending_settings (
    jid         TEXT PRIMARY KEY,
    archived    INTEGER NOT NULL DEFAULT 0,
    pinned      INTEGER NOT NULL DEFAULT 0,
    muted_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE new_chats (
    chat INTEGER PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    at   INTEGER NOT NULL
) STRICT;
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
CREATE TABLE join_requests (
    chat   INTEGER NOT NULL REFERENCES groups (chat),
    person INTEGER NOT NULL REFERENCES people (id),
    at     INTEGER NOT NULL,
    PRIMARY KEY (chat, person)
) STRICT, WITHOUT ROWID;
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
    media      TEXT GENERATED ALWAYS AS (iif(json_valid(details), details ->> '$.m.t', NULL)) VIRTUAL
) STRICT;
CREATE TABLE message_raw (
    seq        INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    raw        BLOB,
    media_ref  TEXT,
    view_once  INTEGER NOT NULL DEFAULT 0,
    expiration INTEGER NOT NULL DEFAULT 0,
    wire_id    BLOB
) STRICT;
CREATE TABLE kept_files (
    message INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    sha256  BLOB NOT NULL
) STRICT;
CREATE TABLE import_bytes (
    message INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    family  INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT;
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
CREATE TABLE import_rows (
    message  INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    import   INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    name     INTEGER NOT NULL,
    has_file INTEGER NOT NULL,
    before   TEXT,
    PRIMARY KEY (message, import)
) STRICT, WITHOUT ROWID;
CREATE TABLE import_people (
    person INTEGER NOT NULL,
    import INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    PRIMARY KEY (person, import)
) STRICT, WITHOUT ROWID;
CREATE TABLE import_names (
    name   TEXT NOT NULL,
    import INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    person TEXT NOT NULL,
    PRIMARY KEY (name, import)
) STRICT, WITHOUT ROWID;
CREATE TABLE aliases (
    id      TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (id, message)
) STRICT, WITHOUT ROWID;
CREATE TABLE album_parts (
    album   TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (album, message)
) STRICT, WITHOUT ROWID;
CREATE TABLE quotes (
    target  TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (target, message)
) STRICT, WITHOUT ROWID;
CREATE TABLE reactions (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    emoji     TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE TABLE transcriptions (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL UNIQUE REFERENCES messages (seq) ON DELETE CASCADE,
    asked   INTEGER NOT NULL,
    whole   INTEGER NOT NULL DEFAULT 0,
    tries   INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE votes (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    hashes    BLOB NOT NULL,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_responses (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    answer    INTEGER NOT NULL,
    guests    INTEGER NOT NULL DEFAULT 0,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE erased_files (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    ref  TEXT NOT NULL
) STRICT;
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
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    type    INTEGER NOT NULL,
    message INTEGER,
    chat    INTEGER,
    data    TEXT,
    at      INTEGER NOT NULL
) STRICT;
CREATE TABLE blocks (
    id     INTEGER PRIMARY KEY,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL
) STRICT;
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
CREATE TABLE keyed_requests (
    id      TEXT PRIMARY KEY,
    plan    TEXT NOT NULL,
    chat    TEXT NOT NULL DEFAULT '',
    answer  TEXT,
    refused INTEGER NOT NULL DEFAULT 0,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE number_checks (
    phone       TEXT PRIMARY KEY,
    jid         TEXT,
    is_business INTEGER NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE number_look_ups (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    family INTEGER NOT NULL
) STRICT;
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
CREATE INDEX people_by_name ON people (nameless, sort_key, id, folded_names, pn);
CREATE INDEX people_by_username ON people (username) WHERE username != '';
CREATE INDEX people_blocked ON people (id) WHERE blocked;
CREATE INDEX identities_by_person ON identities (person);
CREATE INDEX chats_by_recency ON chats (recency, jid, is_group, folded_name);
CREATE INDEX new_chats_by_time ON new_chats (at);
CREATE INDEX groups_unknown ON groups (chat) WHERE known = 0;
CREATE INDEX members_by_person ON members (person);
CREATE INDEX join_requests_by_person ON join_requests (person);
CREATE UNIQUE INDEX messages_by_id ON messages (chat, id);
CREATE INDEX messages_by_time ON messages (chat, timestamp);
CREATE INDEX messages_by_sender ON messages (chat, sender, timestamp);
CREATE INDEX messages_by_media ON messages (chat, media, timestamp) WHERE media IS NOT NULL;
CREATE INDEX messages_by_type ON messages (chat, type, timestamp) WHERE type NOT IN ('conversation', 'extendedTextMessage');
CREATE INDEX messages_with_link ON messages (chat, timestamp) WHERE has_link = 1;
CREATE INDEX messages_own ON messages (chat, timestamp) WHERE from_me = 1;
CREATE INDEX messages_pending ON messages (status) WHERE status = 0;
CREATE INDEX kept_files_by_hash ON kept_files (sha256);
CREATE INDEX import_bytes_by_family ON import_bytes (family, bytes);
CREATE INDEX import_rows_by_import ON import_rows (import, message);
CREATE INDEX import_people_by_import ON import_people (import);
CREATE INDEX import_names_by_import ON import_names (import);
CREATE INDEX aliases_by_message ON aliases (message);
CREATE INDEX album_parts_by_message ON album_parts (message);
CREATE INDEX quotes_by_message ON quotes (message);
CREATE INDEX reactions_by_person ON reactions (person);
CREATE INDEX votes_by_person ON votes (person);
CREATE INDEX event_responses_by_person ON event_responses (person);
CREATE INDEX pending_changes_by_sender ON pending_changes (sender, size);
CREATE INDEX pending_changes_by_age ON pending_changes (at);
CREATE INDEX calls_by_time ON calls (started_at);
CREATE INDEX calls_by_chat ON calls (chat, started_at);
CREATE INDEX calls_by_caller ON calls (caller);
CREATE INDEX calls_ringing ON calls (noted_at) WHERE state = 'ringing';
CREATE INDEX history_parts_due ON history_parts (next_at, seq) WHERE state < 2;
CREATE INDEX send_keys_by_message ON send_keys (msg_id);
CREATE INDEX send_keys_by_age ON send_keys (at);
CREATE INDEX keyed_requests_by_age ON keyed_requests (at);
CREATE INDEX number_checks_by_age ON number_checks (at);
CREATE INDEX tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL;
CREATE INDEX webhooks_by_token ON webhooks (token) WHERE token IS NOT NULL;
CREATE INDEX deliveries_by_status ON deliveries (webhook, status, id);
CREATE INDEX deliveries_by_id ON deliveries (webhook, id);
CREATE INDEX deliveries_pending ON deliveries (webhook, chat_id, event) WHERE status = 0;
CREATE INDEX hooks_by_token ON hooks (token) WHERE token IS NOT NULL;
INSERT INTO settings (name, value) VALUES ('store.owner.lid', '10000000000001@lid');
INSERT INTO settings (name, value) VALUES ('store.owner.pn', '491700000001@s.whatsapp.net');
INSERT INTO people (id, pn, lid, name, push_name, business_name, username, timer, timer_set_at, blocked, sort_name, folded_names) VALUES (1, '491700000001@s.whatsapp.net', '10000000000001@lid', '', '', '', '', 0, 0, 0, '', '');
INSERT INTO people (id, pn, lid, name, push_name, business_name, username, timer, timer_set_at, blocked, sort_name, folded_names) VALUES (2, '491700000002@s.whatsapp.net', '10000000000002@lid', 'Alice', '', '', 'alice', 0, 0, 0, 'alice', 'alice


@alice');
INSERT INTO people (id, pn, lid, name, push_name, business_name, username, timer, timer_set_at, blocked, sort_name, folded_names) VALUES (3, '491700000003@s.whatsapp.net', NULL, '', '', '', '', 0, 0, 0, '', '');
INSERT INTO identities (lid, person) VALUES ('10000000000001@lid', 1);
INSERT INTO identities (lid, person) VALUES ('10000000000002@lid', 2);
INSERT INTO chats (id, jid, person, is_group, name, folded_name, participants, message_count, last_message_at, timer, used, unread, unread_since, read_seq, receipt_seq, marked_unread, archived, pinned, muted_until, history_end, transcribed) VALUES (1, '491700000002@s.whatsapp.net', 2, 0, 'Alice', 'alice
10000000000002@lid
@alice', 2, 3, 1795248003000, 0, 0, 2, 1795248001000, 0, 0, 0, 0, 0, NULL, 0, '');
INSERT INTO chats (id, jid, person, is_group, name, folded_name, participants, message_count, last_message_at, timer, used, unread, unread_since, read_seq, receipt_seq, marked_unread, archived, pinned, muted_until, history_end, transcribed) VALUES (2, '120363000000000001@g.us', NULL, 1, 'Club', 'club', 2, 1, 1795248005000, 0, 0, 1, 1795248005000, 0, 0, 0, 0, 0, NULL, 0, '');
INSERT INTO chats (id, jid, person, is_group, name, folded_name, participants, message_count, last_message_at, timer, used, unread, unread_since, read_seq, receipt_seq, marked_unread, archived, pinned, muted_until, history_end, transcribed) VALUES (3, '491700000003@s.whatsapp.net', 3, 0, '491700000003', '491700000003', 2, 2, 1795248010000, 0, 0, 2, 1795248009000, 0, 0, 0, 0, 0, NULL, 0, '');
INSERT INTO groups (chat, known, withheld, subject, topic, owner, created_at, is_announce, is_locked, join_approval, is_community, picture, updated_at) VALUES (2, 1, 0, 'Club', '', NULL, NULL, 0, 0, 0, 0, NULL, 1795912885884);
INSERT INTO members (chat, person, display_name, is_admin, is_super_admin, label, label_at) VALUES (2, 1, '', 0, 0, '', 0);
INSERT INTO members (chat, person, display_name, is_admin, is_super_admin, label, label_at) VALUES (2, 3, '', 1, 0, '', 0);
INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, bare, details, reactions, edited_at, deleted_at, status, imported, has_link) VALUES (1, 1, 'A1', 2, 0, 1795248001000, 'conversation', '', 'a text from an earlier release', NULL, NULL, NULL, 1, NULL, NULL, NULL, 0, 0);
INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, bare, details, reactions, edited_at, deleted_at, status, imported, has_link) VALUES (2, 1, 'A2', 2, 0, 1795248002000, 'conversation', '', 'a picture', NULL, NULL, '{"m":{"t":"image","y":"image/jpeg","z":7,"c":"a picture"}}', 0, NULL, NULL, NULL, 0, 0);
INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, bare, details, reactions, edited_at, deleted_at, status, imported, has_link) VALUES (3, 1, 'A3', 1, 1, 1795248003000, 'conversation', '', 'an answer', NULL, NULL, NULL, 0, NULL, NULL, 0, 0, 0);
INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, bare, details, reactions, edited_at, deleted_at, status, imported, has_link) VALUES (4, 2, 'B1', 3, 0, 1795248005000, 'conversation', '', 'in the club', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0);
INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, bare, details, reactions, edited_at, deleted_at, status, imported, has_link) VALUES (5, 3, 'V1', 3, 0, 1795248009000, 'audioMessage', '', '', NULL, NULL, '{"m":{"t":"audio","y":"application/octet-stream","s":3,"v":true}}', 0, NULL, NULL, NULL, 0, 0);
INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content, folded, bare, details, reactions, edited_at, deleted_at, status, imported, has_link) VALUES (6, 3, 'V2', 3, 0, 1795248010000, 'audioMessage', '', '', '〈words of a note', NULL, '{"m":{"t":"audio","y":"application/octet-stream","s":3,"v":true},"w":{"t":"words of a note","l":"en","a":"2026-11-21T08:00:11.000Z"}}', 0, NULL, NULL, NULL, 0, 0);
INSERT INTO message_raw (seq, raw, media_ref, view_once, expiration, wire_id) VALUES (1, X'726177206F66204131', NULL, 0, 0, NULL);
INSERT INTO message_raw (seq, raw, media_ref, view_once, expiration, wire_id) VALUES (2, X'726177206F66204132', '{"directPath":"","mediaKey":null,"fileSha256":null,"fileEncSha256":null}', 0, 0, NULL);
INSERT INTO message_raw (seq, raw, media_ref, view_once, expiration, wire_id) VALUES (3, X'726177206F66204133', NULL, 0, 0, NULL);
INSERT INTO message_raw (seq, raw, media_ref, view_once, expiration, wire_id) VALUES (4, X'726177206F66204231', NULL, 0, 0, NULL);
INSERT INTO message_raw (seq, raw, media_ref, view_once, expiration, wire_id) VALUES (5, X'726177206F66205631', '{"directPath":"/V1","mediaKey":"a2V5IG9mIFYx","fileSha256":null,"fileEncSha256":null}', 0, 0, NULL);
INSERT INTO message_raw (seq, raw, media_ref, view_once, expiration, wire_id) VALUES (6, X'726177206F66205632', '{"directPath":"/V2","mediaKey":"a2V5IG9mIFYy","fileSha256":null,"fileEncSha256":null}', 0, 0, NULL);
INSERT INTO reactions (message, person, emoji, timestamp) VALUES (1, 1, '👍', 1795248004000);
INSERT INTO transcriptions (id, message, asked, whole, tries, next_at) VALUES (2, 5, 1, 0, 0, 0);
INSERT INTO pending_changes (id, chat, target, kind, sender, stanza, at, size, fact, raw) VALUES (1, '120363000000000001@g.us', 'B2', 2, '491700000003@s.whatsapp.net', '', 1795912885884, 201, '{"Timestamp":"2026-11-21T08:00:07.000Z","Type":"conversation","Content":"edited","ViewOnce":false,"Details":{},"Ref":{"directPath":"","mediaKey":null,"fileSha256":null,"fileEncSha256":null}}', X'726177206F66204232');
INSERT INTO calls (seq, id, wire_id, caller, chat, is_group, is_video, state, started_at, noted_at, ended_at) VALUES (1, 'call', 'call', 2, 1, 0, 0, 'ringing', 1795248008000, 1795912885884, NULL);
INSERT INTO events (id, type, message, chat, data, at) VALUES (1, 4, NULL, 1, NULL, 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (2, 1, 1, NULL, NULL, 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (3, 1, 2, NULL, NULL, 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (4, 1, 3, NULL, NULL, 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (5, 2, 1, NULL, '{"changes":["reactions"],"reactions":[{"sender":1,"emoji":"👍","timestamp":1795248004000}]}', 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (6, 4, NULL, 2, NULL, 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (7, 5, NULL, 2, NULL, 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (8, 1, 4, NULL, NULL, 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (9, 7, NULL, 1, '1', 1795912885884);
INSERT INTO events (id, type, message, chat, data, at) VALUES (10, 4, NULL, 3, NULL, 1795912885910);
INSERT INTO events (id, type, message, chat, data, at) VALUES (11, 1, 5, NULL, NULL, 1795912885910);
INSERT INTO events (id, type, message, chat, data, at) VALUES (12, 1, 6, NULL, NULL, 1795912885910);
INSERT INTO events (id, type, message, chat, data, at) VALUES (13, 2, 6, NULL, '{"changes":["transcript"]}', 1795912885925);
INSERT INTO tokens (id, name, hash, scopes, chats, expires_at, created_at, last_used_at, parent) VALUES (1, 'script', X'68617368', '["read"]', NULL, NULL, 1795912885937, NULL, NULL);
INSERT INTO webhooks (id, url, secret, types, chats, exclude_chats, chat_type, from_me, format, format_options, allow_private, enabled, source, cursor, created_at, updated_at, last_delivered_at, last_failed_at, last_error, token) VALUES (1, 'https://example.com', '', '[]', '[]', '[]', 'all', NULL, 'bridged', '{}', 0, 1, 'api', 0, 1795912885941, 1795912885941, NULL, NULL, NULL, NULL);
