-- +goose Up

-- What has no row of its own (a reaction, an edit, a deletion) is taken by the
-- network at taken_at, which is null until it is. An edit claims the time
-- changed_at, also when it is repeated.
ALTER TABLE send_keys RENAME COLUMN reacted_at TO taken_at;
ALTER TABLE send_keys ADD COLUMN changed_at INTEGER;
UPDATE send_keys SET taken_at = at WHERE taken_at IS NULL AND route = 'POST /api/messages/react';
