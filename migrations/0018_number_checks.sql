-- +goose Up

-- What the network said about numbers, for a day. jid is null where nobody on
-- the network has the number.
CREATE TABLE number_checks (
    phone       TEXT PRIMARY KEY,
    jid         TEXT,
    is_business INTEGER NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX number_checks_by_age ON number_checks (at);

-- How many numbers the network was asked about, and when.
CREATE TABLE number_look_ups (
    id    INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    count INTEGER NOT NULL
) STRICT;
