-- +goose Up

-- A reaction has no row of its own: its key keeps the time that the network
-- gave it, with which a repeated call is answered. What expires goes by "at",
-- which is the store's own clock.
ALTER TABLE send_keys ADD COLUMN reacted_at INTEGER;
