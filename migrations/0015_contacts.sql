-- +goose Up

-- The list of contacts, and what it is searched by. sort_name is the beginning
-- of the name that is shown, folded; empty where there is none, and those come
-- last, by their JID. folded_names are all names, folded; null until the program
-- has folded what an earlier version stored.
ALTER TABLE people ADD COLUMN sort_name TEXT NOT NULL DEFAULT '';
ALTER TABLE people ADD COLUMN folded_names TEXT;
ALTER TABLE people ADD COLUMN nameless INTEGER NOT NULL GENERATED ALWAYS AS (sort_name = '') VIRTUAL;
ALTER TABLE people ADD COLUMN sort_key TEXT NOT NULL GENERATED ALWAYS AS (iif(sort_name = '', ifnull(pn, lid), sort_name)) VIRTUAL;

-- What the list filters by is in it, too.
CREATE INDEX people_by_name ON people (nameless, sort_key, id, folded_names, pn);
CREATE INDEX people_unfolded ON people (id) WHERE folded_names IS NULL;
