-- +goose Up

-- Where events are posted to. cursor is the last event that was looked at:
-- what came before it was delivered or has a row in deliveries. types is a
-- JSON list, empty for all; chat is empty for all.
CREATE TABLE webhooks (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    url               TEXT NOT NULL,
    secret            TEXT NOT NULL,
    types             TEXT NOT NULL,
    chat              TEXT NOT NULL,
    allow_private     INTEGER NOT NULL,
    enabled           INTEGER NOT NULL,
    source            TEXT NOT NULL,
    cursor            INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    last_delivered_at INTEGER,
    last_failed_at    INTEGER,
    last_error        TEXT
) STRICT;

-- What is still to be delivered or was given up, and the last of what was
-- delivered. Rows name the event; what is posted is joined when it is posted.
-- status: 0 pending, 1 delivered, 2 dead.
CREATE TABLE deliveries (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook  INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event    INTEGER NOT NULL,
    event_at INTEGER NOT NULL,
    type     TEXT NOT NULL,
    chat     TEXT NOT NULL,
    status   INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    first_at INTEGER,
    last_at  INTEGER,
    next_at  INTEGER,
    response INTEGER,
    error    TEXT,
    UNIQUE (webhook, event)
) STRICT;
CREATE INDEX deliveries_by_status ON deliveries (webhook, status, id);
CREATE INDEX deliveries_by_id ON deliveries (webhook, id);
CREATE INDEX deliveries_pending ON deliveries (webhook, chat, event) WHERE status = 0;
