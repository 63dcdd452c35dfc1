-- +goose Up

-- The search index is over blocks of 32 consecutive arrivals; a block's number
-- is arrival / 32. What the texts of a block contain is in the full-text table
-- grams, which the program makes: its form is the program's, and it can be made
-- anew from the messages.
--
-- oldest and newest are the block's timestamps. No message of this block or of
-- an earlier one is newer than upto; no message of this block or of a later one
-- is older than downto. Both only ever widen.
CREATE TABLE blocks (
    id     INTEGER PRIMARY KEY,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    upto   INTEGER NOT NULL,
    downto INTEGER NOT NULL
) STRICT;
CREATE INDEX blocks_by_upto ON blocks (upto);
CREATE INDEX blocks_by_downto ON blocks (downto);

-- Blocks whose messages have changed since they were indexed: until that is
-- done again they are scanned.
CREATE TABLE stale_blocks (
    block INTEGER PRIMARY KEY
) STRICT;
