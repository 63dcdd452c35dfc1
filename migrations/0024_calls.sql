-- +goose Up

-- What was called calls are requests under an Idempotency-Key: calls are those
-- of telephones from now on.
ALTER TABLE calls RENAME TO keyed_requests;
DROP INDEX calls_by_age;
CREATE INDEX keyed_requests_by_age ON keyed_requests (at);

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
