-- +goose Up

-- The names by which people without a number are found at the network; one is
-- one person's at a time. Empty where none is known.
ALTER TABLE people ADD COLUMN username TEXT NOT NULL DEFAULT '';
CREATE INDEX people_by_username ON people (username) WHERE username != '';

-- Chats are found by the LID, too, also those that are listed under the number.
UPDATE chats SET folded_name = folded_name || char(10) || (SELECT lid FROM people WHERE people.id = chats.person)
WHERE person IN (SELECT id FROM people WHERE pn IS NOT NULL AND lid IS NOT NULL);
