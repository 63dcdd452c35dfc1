-- +goose Up

-- The parts of albums: album is the id of the message that announced it, in the
-- same chat, whether or not that is stored. Whose album it is shows when it is
-- read: anybody can name one.
CREATE TABLE album_parts (
    album   TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES messages (arrival) ON DELETE CASCADE,
    PRIMARY KEY (album, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX album_parts_by_message ON album_parts (message);
