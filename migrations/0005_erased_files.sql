-- +goose Up

-- The files of messages that were deleted, until whoever keeps files has
-- removed them: a row is written in the transaction of the deletion, so that
-- none is forgotten when the program is killed in between. ref is the
-- message's media_ref.
CREATE TABLE erased_files (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    ref  TEXT NOT NULL
) STRICT;
