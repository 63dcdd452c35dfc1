package store

import (
	"bridged/internal/bridge"
)

// saveEventResponse replaces a person's answer to an event. An older one that is
// told again does not replace a newer one.
func (t *writeTx) saveEventResponse(f bridge.EventResponse) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found {
		t.postpone(f)
		return
	}
	if m.deleted != 0 || !f.Sender.IsPerson() {
		return
	}
	p := t.ensurePerson(f.Sender)
	changed := t.Change(`
		INSERT INTO event_responses (message, person, answer, guests, timestamp) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (message, person) DO UPDATE SET answer = excluded.answer, guests = excluded.guests, timestamp = excluded.timestamp
		WHERE excluded.timestamp > timestamp
			OR excluded.timestamp = timestamp AND (excluded.answer, excluded.guests) != (answer, guests)`,
		m.seq, p.id, int64(f.Answer), f.Guests, f.Timestamp.UnixMilli())
	if changed == 0 {
		return
	}
	t.appendEvent(eventMessageUpdated, m.seq, 0)
}
