-- +goose Up

-- Blocks of the search index are larger now: how many arrivals one has is the
-- program's to know. What the texts of a block contain, and the texts themselves, are in
-- the tables grams and packs, which the program makes and fills anew. A pack
-- that has changed since it was indexed has no texts.
DROP TABLE stale_blocks;
