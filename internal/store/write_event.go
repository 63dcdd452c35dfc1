package store

import (
	"context"
	"encoding/json"

	"bridged/internal/bridge"
)

// The types of events as they are numbered in the table events. The numbers
// are stored: they never change their meaning.
const (
	eventMessageCreated = 1
	eventMessageUpdated = 2
	eventMessageStatus  = 3
	eventChatUpdated    = 4
	eventGroupUpdated   = 5
	eventAccountStatus  = 6
)

// eventTypes are the names of the event types by number.
var eventTypes = [...]bridge.EventType{
	eventMessageCreated: bridge.EventMessageCreated,
	eventMessageUpdated: bridge.EventMessageUpdated,
	eventMessageStatus:  bridge.EventMessageStatus,
	eventChatUpdated:    bridge.EventChatUpdated,
	eventGroupUpdated:   bridge.EventGroupUpdated,
	eventAccountStatus:  bridge.EventAccountStatus,
}

// appendEvent appends an event of a message or of a chat; the other one is 0.
// While the transaction is silent it appends none. Numbers
// have no gaps that a reader could mistake, because there is one writer:
// nothing with a lower number is ever committed later.
func (t *writeTx) appendEvent(ctx context.Context, event int, message, chat int64) error {
	what := eventKey{event: event, message: message, chat: chat}
	if t.silent || t.appended[what] {
		return nil
	}
	t.numbers.event++
	err := t.run(ctx, "INSERT INTO events (id, type, message, chat, at) VALUES (?, ?, nullif(?, 0), nullif(?, 0), ?)",
		t.numbers.event, event, message, chat, t.at)
	if err != nil {
		return err
	}
	t.noteAppended(what)
	return nil
}

func (t *writeTx) noteAppended(what eventKey) {
	if t.appended == nil {
		t.appended = make(map[eventKey]bool)
	}
	t.appended[what] = true
}

// saveStatus logs the account's status where it is another than the last one. The
// log is read by more people than may pair the account: what pairing needs is
// left out.
func (t *writeTx) saveStatus(ctx context.Context, f bridge.Status) error {
	f.PairingCode, f.PairingCodeExpiresAt, f.QR, f.Passkey = nil, nil, nil, nil
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	last, err := t.setting(ctx, settingStatus)
	if err != nil || last == string(data) {
		return err
	}
	if err := t.setSetting(ctx, settingStatus, string(data)); err != nil {
		return err
	}
	t.numbers.event++
	err = t.run(ctx, "INSERT INTO events (id, type, data, at) VALUES (?, ?, ?, ?)",
		t.numbers.event, eventAccountStatus, string(data), t.at)
	if err != nil {
		return err
	}
	t.noteAppended(eventKey{event: eventAccountStatus})
	return nil
}
