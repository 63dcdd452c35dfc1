-- +goose Up

-- told_seq is up to which arrival those who wrote in a chat have been told that the
-- account has read it. read_seq is often further on: who answers has read, which
-- by itself tells nobody.
ALTER TABLE chats ADD COLUMN told_seq INTEGER NOT NULL DEFAULT 0;
UPDATE chats SET told_seq = read_seq;
