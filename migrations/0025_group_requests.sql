-- +goose Up

ALTER TABLE groups ADD COLUMN join_approval INTEGER NOT NULL DEFAULT 0;

-- How a member describes themselves in the group, and when they said so.
ALTER TABLE members ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN label_at INTEGER NOT NULL DEFAULT 0;

-- Who asks to be let into a group, as far as it was told: one request is logged
-- once. Events of a group have as their data who asked, and who no longer does.
CREATE TABLE join_requests (
    chat   INTEGER NOT NULL REFERENCES groups (chat),
    person INTEGER NOT NULL REFERENCES people (id),
    at     INTEGER NOT NULL,
    PRIMARY KEY (chat, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX join_requests_by_person ON join_requests (person);
