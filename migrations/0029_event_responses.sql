-- +goose Up

-- What people answered to events, each their latest: 1 going, 2 not going,
-- 3 maybe, anything else is an answer that was taken back. guests is how many
-- more people they bring along.
CREATE TABLE event_responses (
    message   INTEGER NOT NULL REFERENCES messages (arrival) ON DELETE CASCADE,
    person    INTEGER NOT NULL REFERENCES people (id),
    answer    INTEGER NOT NULL,
    guests    INTEGER NOT NULL DEFAULT 0,
    timestamp INTEGER NOT NULL,
    PRIMARY KEY (message, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_responses_by_person ON event_responses (person);
