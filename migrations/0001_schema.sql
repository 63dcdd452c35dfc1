-- "brdg": identifies stores among SQLite files.
PRAGMA application_id = 1651663975;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each person. A phone number belongs to a person until the network
-- reports that they have another one. A LID belongs to one person at a time and may
-- move to another; so does a username, which is '' if it is unknown.
--
-- timer is the disappearing-messages timer of the private chat, which may be known
-- before the chat has a message. The timers of groups are in chats.
--
-- sort_name is the beginning of the name that the list of contacts shows,
-- case-folded and without accents. It is '' for people without a name, who come
-- last, by their JID. folded_names are all names, normalised in the same way.
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
-- It also has the columns that the list filters by.
CREATE INDEX people_by_name ON people (nameless, sort_key, id, folded_names, pn);
CREATE INDEX people_by_username ON people (username) WHERE username != '';
CREATE INDEX people_blocked ON people (id) WHERE blocked;

-- All LIDs of people, also former ones, and former numbers until another person has
-- them.
CREATE TABLE identities (
    lid    TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_person ON identities (person);

-- Chats have all columns that the list of chats shows, so that a page reads only its
-- rows.
--
-- The account has read the chat up to read_seq. unread is the number of later messages
-- by others; they are not older than unread_since. Read receipts were sent up to
-- receipt_seq. read_seq may be higher: an answer marks a chat as read without a receipt.
--
-- A chat that was imported under its own name has a JID of the server import and no
-- person, even if it was a group.
--
-- muted_until is null if the chat is not muted. used is 1 if the chat is not a new one,
-- although its messages were removed. history_end is 1 if the phone has no older
-- messages, and 2 if it has older ones that it does not send to linked devices. hidden is 1
-- if the account has deleted the chat: no list has it until something new comes.
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
    hidden          INTEGER NOT NULL DEFAULT 0,
    transcribed     TEXT NOT NULL DEFAULT '',
    recency         INTEGER NOT NULL
                    GENERATED ALWAYS AS (ifnull(-last_message_at, 9223372036854775807)) VIRTUAL
) STRICT;
-- Each message moves its chat in this index, so there is only one such index. It also
-- has the columns that the list filters by.
CREATE INDEX chats_by_recency ON chats (recency, jid, is_group, folded_name);

-- Settings of chats that are not stored yet, by the JID in the notification. When the
-- chat is added, it gets them.
CREATE TABLE pending_settings (
    jid         TEXT PRIMARY KEY,
    archived    INTEGER NOT NULL DEFAULT 0,
    pinned      INTEGER NOT NULL DEFAULT 0,
    muted_until INTEGER
) STRICT, WITHOUT ROWID;

-- The labels of a business account, also deleted ones. predefined is the number of a
-- label that the apps have from the beginning, or 0. at is the time of the last change,
-- negative if it deleted the label.
CREATE TABLE labels (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    color      INTEGER NOT NULL,
    predefined INTEGER NOT NULL,
    at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The labels of chats, by the JID of the chat, which may be stored later. at is the time of
-- the last change, negative if it removed the label. The labels of messages are in their
-- details.
CREATE TABLE chat_labels (
    chat  TEXT NOT NULL,
    label TEXT NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (chat, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_labels_by_label ON chat_labels (label, chat);

-- The chats that the account began within the last day, if their number is limited.
CREATE TABLE new_chats (
    chat INTEGER PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    at   INTEGER NOT NULL
) STRICT;
CREATE INDEX new_chats_by_time ON new_chats (at);

-- known is 1 if the network has described the group; otherwise only its JID is certain.
-- subject is the group's name; if it is '', the chat is named by its members. withheld
-- is 1 if the network refuses to describe the group, because it was deleted or the
-- account is not a member: then it is not requested again at every login. picture is the
-- id of the picture after its last change, '' after a removal. add_mode says who may add
-- members: 'admins' or 'everyone'.
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
    add_mode      TEXT NOT NULL DEFAULT 'admins',
    is_community  INTEGER NOT NULL DEFAULT 0,
    picture       TEXT,
    updated_at    INTEGER
) STRICT;
CREATE INDEX groups_unknown ON groups (chat) WHERE known = 0;

-- label is a member's description of themselves, set at label_at.
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

-- The join requests of groups, so that each request is logged once.
CREATE TABLE join_requests (
    chat   INTEGER NOT NULL REFERENCES groups (chat),
    person INTEGER NOT NULL REFERENCES people (id),
    at     INTEGER NOT NULL,
    PRIMARY KEY (chat, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX join_requests_by_person ON join_requests (person);

-- Messages have only the columns that lists show. seq is the order in which they came.
-- It always grows, also if messages were removed: the program ensures that, because
-- AUTOINCREMENT would write another page with every message. sender is a person,
-- without a foreign key, because its check would read all messages when a person is
-- removed. folded is the searchable text: content and transcript, case-folded; null if
-- it equals content. bare is folded without accents; null if it equals folded. details
-- is the JSON of what few messages have: quote, mentions, media, transcript, poll.
-- imported is 1 for messages from the phone's history or from an exported chat: they
-- were not received over the connection and have no events.
--
-- media is the type of the message's file. pinned is until when the message is pinned in
-- its chat; null if it was not pinned, or was unpinned. has_link is 1 if the text contains
-- an http(s) address or the message has the preview of a page. starred is when the account
-- starred the message, negative when it removed the star, and 0 if it never did either.
-- labelled is 1 if details may have labels. sent_by is the caller that has sent an own
-- message, or null; it has no foreign key either.
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
    starred    INTEGER NOT NULL DEFAULT 0,
    labelled   INTEGER NOT NULL DEFAULT 0,
    sent_by    INTEGER,
    media      TEXT GENERATED ALWAYS AS (iif(json_valid(details), details ->> '$.m.type', NULL)) VIRTUAL,
    pinned     INTEGER GENERATED ALWAYS AS (iif(json_valid(details), details ->> '$.n.u', NULL)) VIRTUAL
) STRICT;
CREATE UNIQUE INDEX messages_by_id ON messages (chat, id);
CREATE INDEX messages_by_time ON messages (chat, timestamp);
CREATE INDEX messages_by_sender ON messages (chat, sender, timestamp);
-- For the filters of messages. An ordinary text by another person is not in these
-- indexes, so receiving it does not write their pages.
CREATE INDEX messages_by_media ON messages (chat, media, timestamp) WHERE media IS NOT NULL;
CREATE INDEX messages_by_type ON messages (chat, type, timestamp) WHERE type NOT IN ('conversation', 'extendedTextMessage');
CREATE INDEX messages_with_link ON messages (chat, timestamp) WHERE has_link = 1;
CREATE INDEX messages_pinned ON messages (chat, timestamp) WHERE pinned IS NOT NULL;
CREATE INDEX messages_starred ON messages (chat, timestamp) WHERE starred > 0;
CREATE INDEX messages_labelled ON messages (seq) WHERE labelled = 1;
CREATE INDEX messages_own ON messages (chat, timestamp) WHERE from_me = 1;
CREATE INDEX messages_pending ON messages (status) WHERE status = 0;

-- The columns that lists do not show: the protobuf, and the location of the file.
-- wire_id is the network's id of a message if that cannot be part of a path; then the
-- message is stored under another id.
CREATE TABLE message_raw (
    seq        INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    raw        BLOB,
    media_ref  TEXT,
    view_once  INTEGER NOT NULL DEFAULT 0,
    expiration INTEGER NOT NULL DEFAULT 0,
    wire_id    BLOB
) STRICT;

-- The files of messages from exported chats. They are stored on this machine, under their hash, as
-- long as a message has them, because the network does not have them.
CREATE TABLE kept_files (
    message INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    sha256  BLOB NOT NULL
) STRICT;
CREATE INDEX kept_files_by_hash ON kept_files (sha256);

-- The disk space of messages that tokens have imported, in bytes, by the token tree. family is the id of
-- the token at its root. Imports with BRIDGE_TOKEN are not counted.
CREATE TABLE import_bytes (
    message INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    family  INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT;
CREATE INDEX import_bytes_by_family ON import_bytes (family, bytes);

-- Who has sent messages and imported chats. token is the id of the token, 0 for BRIDGE_TOKEN,
-- and negative for the address of a hook. entrance is the part of the program that was
-- called. above is the JSON list of the tokens from which the token descends. The rows stay
-- when a token or a hook is removed.
CREATE TABLE callers (
    id       INTEGER PRIMARY KEY,
    token    INTEGER NOT NULL,
    entrance TEXT NOT NULL,
    name     TEXT NOT NULL,
    above    TEXT NOT NULL,
    UNIQUE (token, entrance)
) STRICT;

-- The imports of exported chats. chat is a JID. made_chat is 1 if the
-- chat was not stored before, or is only because of other imports. state is 'running',
-- 'done', 'failed', 'cancelled', 'undoing' or 'undone'. about is the JSON of what the
-- program only shows.
CREATE TABLE imports (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    chat       TEXT NOT NULL,
    made_chat  INTEGER NOT NULL,
    caller     INTEGER NOT NULL REFERENCES callers (id),
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

-- The people that only imports have added, with each import that contains them.
CREATE TABLE import_people (
    person INTEGER NOT NULL,
    import INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    PRIMARY KEY (person, import)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_people_by_import ON import_people (import);

-- The people to whom each import has assigned the names in exports. name is the JID of the name.
CREATE TABLE import_names (
    name   TEXT NOT NULL,
    import INTEGER NOT NULL REFERENCES imports (seq) ON DELETE CASCADE,
    person TEXT NOT NULL,
    PRIMARY KEY (name, import)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_names_by_import ON import_names (import);

-- Additional ids of messages: an HD upload and the picture that it replaces are one
-- message with two ids.
CREATE TABLE aliases (
    id      TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (id, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_message ON aliases (message);

-- The parts of albums. album is the id of the message that announced it, in the same
-- chat; that message need not be stored. Whether the part is by the author of the album
-- is checked when it is read, because any message can claim to be a part.
CREATE TABLE album_parts (
    album   TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (album, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX album_parts_by_message ON album_parts (message);

-- Which messages quote a message. target is its id, in any chat; it need not be stored.
-- A deletion uses this table to erase the copies in quotes.
CREATE TABLE quotes (
    target  TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    PRIMARY KEY (target, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX quotes_by_message ON quotes (message);

-- A removed reaction remains as a row with an empty emoji, so that an older one that
-- comes again does not restore it.
CREATE TABLE reactions (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    emoji     TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX reactions_by_person ON reactions (person);

-- The messages that wait for a transcript. asked is 1 if a caller has requested it; these
-- come first. whole is 1 if the limit of the chat does not apply. tries is the number of
-- attempts, and next_at is the time of the next one, by the store's clock.
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

-- The latest answers of people to events: 1 going, 2 not going, 3 maybe, other numbers
-- for an answer that was withdrawn. guests is the number of people they bring along.
CREATE TABLE event_responses (
    message   INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    answer    INTEGER NOT NULL,
    guests    INTEGER NOT NULL DEFAULT 0,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_responses_by_person ON event_responses (person);

-- Changes of messages that cannot be applied yet: of messages that are not stored, of
-- placeholders whose message may still come, and deletions in groups whose members are
-- not known. chat is the JID of a group, or "person" and the id of the contact. kind:
-- 1 deletion, 2 edit, 3 reaction, 4 vote, 5 a change that is encrypted with the secret of
-- its message, 6 answer to an event, 7 option of a poll, 8 pin, 9 keep. stanza
-- distinguishes several changes of a kind. size is the size of the row for the limits.
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

-- The files of deleted messages that are not removed yet. The row is written in the
-- transaction of the deletion, so that the file is also removed if the program is killed
-- in between. ref is the message's media_ref.
CREATE TABLE erased_files (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    ref  TEXT NOT NULL
) STRICT;

-- The calls to the account. wire_id is the id as the caller wrote it. chat is null if the
-- group of the call is unknown. noted_at is the time by the clock of the machine. Events
-- of calls have seq as their data.
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

-- The parts of the history that the phone has announced. They are stored before they are
-- acknowledged. notification is removed when the part is done. position is the number of
-- imported messages. state: 0 waiting, 1 started, 2 done, 3 failed, 4 replaced.
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

-- The log of events. Rows refer to the message or chat that changed; its content is read
-- with the event. data has what is in neither of them. The program ensures that no number
-- is used twice.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    type    INTEGER NOT NULL,
    message INTEGER,
    chat    INTEGER,
    data    TEXT,
    at      INTEGER NOT NULL
) STRICT;

-- The search index consists of blocks of consecutive seqs. The n-grams and the texts of a
-- block are in the tables grams and packs, which the program creates and can rebuild from
-- the messages: see package search.
--
-- The messages of a block are not older than oldest, and not newer than newest.
CREATE TABLE blocks (
    id     INTEGER PRIMARY KEY,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL
) STRICT;

-- The Idempotency-Keys of sends, each with its message. taken_at is the time when the
-- network accepted a reaction, an edit or a deletion, which have no row in messages.
-- changed_at is the time in an edit, also when it is repeated. Keys expire by at, by the
-- store's clock.
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

-- The messages that are sent later, each under its final id. They are in messages once their sending has
-- begun, and no longer here once the network has answered. status: 'scheduled', 'sending', 'missed', 'held'
-- or 'failed'. begun is 1 if the message may have been sent. error is the JSON of why it was not sent. draft
-- is the JSON of the content. bytes is the size of draft and file, for the quota. token is the id of the
-- token that decided last what is sent, and tree the id of the token at the root of its tree; both are 0 for BRIDGE_TOKEN. There
-- is no foreign key: the messages of a token that was revoked stay, as failed.
CREATE TABLE scheduled (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    chat       TEXT NOT NULL,
    status     TEXT NOT NULL,
    send_at    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    begun      INTEGER NOT NULL DEFAULT 0,
    error      TEXT,
    draft      TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    token      INTEGER NOT NULL,
    tree       INTEGER NOT NULL
) STRICT;
CREATE INDEX scheduled_by_time ON scheduled (send_at, seq);
CREATE INDEX scheduled_due ON scheduled (send_at, seq) WHERE status IN ('scheduled', 'sending');

-- Changes on the network other than messages, each under an Idempotency-Key: the state
-- before the change, the group that it created, and the answer or the refusal.
CREATE TABLE keyed_requests (
    id      TEXT PRIMARY KEY,
    plan    TEXT NOT NULL,
    chat    TEXT NOT NULL DEFAULT '',
    answer  TEXT,
    refused INTEGER NOT NULL DEFAULT 0,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX keyed_requests_by_age ON keyed_requests (at);

-- The network's answers about numbers, for a day. jid is null if the number has no
-- account.
CREATE TABLE number_checks (
    phone       TEXT PRIMARY KEY,
    jid         TEXT,
    is_business INTEGER NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX number_checks_by_age ON number_checks (at);

-- The times of requests about numbers, one row for each number. family is the token tree of the
-- caller, 0 for BRIDGE_TOKEN.
CREATE TABLE number_look_ups (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    family INTEGER NOT NULL
) STRICT;

-- Tokens with fewer rights than BRIDGE_TOKEN. hash is the SHA-256 of the secret. scopes is
-- a JSON list. chats is a JSON list of JIDs as the caller gave them, null for all chats.
-- What a token has created is removed with it. secret_ends is when the secret ends that an OAuth client
-- has; it renews it.
CREATE TABLE tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    scopes       TEXT NOT NULL,
    chats        TEXT,
    expires_at   INTEGER,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    secret_ends  INTEGER,
    parent       INTEGER REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL;

-- The sessions of the console. hash is the SHA-256 of the secret in the browser's cookie. token is the id of the
-- token that the session was opened with, null for BRIDGE_TOKEN; a session is removed with its token. browser and
-- zone are the names of the browser and of its time zone. used_at is the last use, to some minutes.
CREATE TABLE console_sessions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    hash       BLOB NOT NULL UNIQUE,
    token      INTEGER REFERENCES tokens (id) ON DELETE CASCADE,
    browser    TEXT NOT NULL,
    zone       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX console_sessions_by_token ON console_sessions (token) WHERE token IS NOT NULL;

-- The OAuth clients that have registered themselves. redirects is a JSON list. used_at is when one was
-- last granted something.
CREATE TABLE oauth_clients (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    redirects  TEXT NOT NULL,
    refreshes  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;

-- The tokens that OAuth clients were granted. client is the id of a registered one, or the address of
-- the document that describes it. Codes and refresh tokens are stored as their SHA-256. A code that was
-- exchanged and the part of a refresh token that stays are stored until the token ends, so that their
-- second use is recognised.
CREATE TABLE oauth_grants (
    token        INTEGER PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    client       TEXT NOT NULL,
    host         TEXT NOT NULL,
    redirect     TEXT NOT NULL,
    resource     TEXT NOT NULL,
    challenge    TEXT NOT NULL,
    refreshes    INTEGER NOT NULL,
    code_hash    BLOB NOT NULL UNIQUE,
    code_ends    INTEGER NOT NULL,
    redeemed_at  INTEGER,
    refresh_id   BLOB UNIQUE,
    refresh_hash BLOB
) STRICT;
CREATE INDEX oauth_grants_by_client ON oauth_grants (client);

-- The outgoing webhooks. cursor is the last event that was read; earlier ones were
-- delivered or have a row in deliveries. The filter: types and chats (JSON lists, empty
-- for all), exclude_chats (a JSON list), chat_type (all, group, individual), and from_me
-- (null for all messages). format is the format of the posts, format_options (JSON) its
-- settings.
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

-- The pending and failed deliveries of webhooks, and the last successful ones. A row
-- refers to its event, whose content is read for each attempt. status: 0 pending,
-- 1 delivered, 2 dead. Each chat has a queue, chat_id: the id of its row, 0 for events
-- without a chat, -1 for a reset, which comes first. tried_ms is how long a delivery has
-- been tried, independent of jumps of the clock.
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

-- The incoming webhooks: other services post to them, and the posts become messages to a
-- chat. key_hash is the SHA-256 of the key in the address. secret checks signatures; null
-- means that there are none. template is the name of a shipped template or the source of
-- another one. What a token has created is removed with it.
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
