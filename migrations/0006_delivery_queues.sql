-- +goose Up

-- Deliveries are queued by the chat's row, which outlives its JID: 0 is events
-- of no chat, -1 a reset, which goes before all. tried_ms is how long a
-- delivery has been tried, which no jump of the clock changes.
ALTER TABLE deliveries ADD COLUMN chat_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN tried_ms INTEGER NOT NULL DEFAULT 0;

UPDATE deliveries SET chat_id = ifnull((
        SELECT ifnull(m.chat, e.chat) FROM events e LEFT JOIN messages m ON m.arrival = e.message
        WHERE e.id = deliveries.event), 0),
    tried_ms = max(ifnull(last_at - first_at, 0), 0)
WHERE status = 0;
UPDATE deliveries SET chat_id = -1 WHERE type = 'reset';

DROP INDEX deliveries_pending;
CREATE INDEX deliveries_pending ON deliveries (webhook, chat_id, event) WHERE status = 0;
