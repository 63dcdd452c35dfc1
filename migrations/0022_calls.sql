-- +goose Up

-- Changes at the network that are no messages, each under an Idempotency-Key:
-- how things were before, the group that was made, the answer, or that it was
-- refused.
CREATE TABLE calls (
    id      TEXT PRIMARY KEY,
    plan    TEXT NOT NULL,
    chat    TEXT NOT NULL DEFAULT '',
    answer  TEXT,
    refused INTEGER NOT NULL DEFAULT 0,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_by_age ON calls (at);
