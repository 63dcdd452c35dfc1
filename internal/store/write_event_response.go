package store

import (
	"context"

	"bridged/internal/bridge"
)

// saveEventResponse replaces a person's answer to an event. An older one that is
// told again does not replace a newer one.
func (t *writeTx) saveEventResponse(ctx context.Context, f bridge.EventResponse) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.Target)
	if err == nil && !found {
		return t.postpone(ctx, f)
	}
	if err != nil || m.deleted != 0 || !f.Sender.IsPerson() {
		return err
	}
	p, err := t.ensurePerson(ctx, f.Sender)
	if err != nil {
		return err
	}
	changed, err := t.change(ctx, `
		INSERT INTO event_responses (message, person, answer, guests, timestamp) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET answer = excluded.answer, guests = excluded.guests, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp
			OR excluded.timestamp = timestamp AND (excluded.answer, excluded.guests) != (answer, guests)`,
		m.seq, p.id, int64(f.Answer), f.Guests, f.Timestamp.UnixMilli())
	if err != nil || changed == 0 {
		return err
	}
	return t.appendEvent(ctx, eventMessageUpdated, m.seq, 0)
}
