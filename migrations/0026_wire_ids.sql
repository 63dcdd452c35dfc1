-- +goose Up

-- The id by which the network knows a message whose id cannot stand in a path, and
-- which is stored and shown under another one; NULL for all others.
ALTER TABLE message_raw ADD COLUMN wire_id BLOB;
