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
	eventCallCreated    = 7
	eventCallUpdated    = 8
)

// eventTypes are the names of the event types by number.
var eventTypes = [...]bridge.EventType{
	eventMessageCreated: bridge.EventMessageCreated,
	eventMessageUpdated: bridge.EventMessageUpdated,
	eventMessageStatus:  bridge.EventMessageStatus,
	eventChatUpdated:    bridge.EventChatUpdated,
	eventGroupUpdated:   bridge.EventGroupUpdated,
	eventAccountStatus:  bridge.EventAccountStatus,
	eventCallCreated:    bridge.EventCallCreated,
	eventCallUpdated:    bridge.EventCallUpdated,
}

// appendEvent appends an event of a message or of a chat; the other one is 0.
func (t *writeTx) appendEvent(ctx context.Context, event int, message, chat int64) error {
	return t.appendEntry(ctx, entryKey{event: event, message: message, chat: chat})
}

// appendEntry appends an event, unless the transaction has appended it already,
// or is silent. Numbers have no gaps that a reader could mistake, because there
// is one writer: nothing with a lower number is ever committed later.
func (t *writeTx) appendEntry(ctx context.Context, what entryKey) error {
	if t.silent || t.appended[what] {
		return nil
	}
	t.numbers.event++
	err := t.run(ctx, "INSERT INTO events (id, type, message, chat, data, at) VALUES (?, ?, nullif(?, 0), nullif(?, 0), nullif(?, ''), ?)",
		t.numbers.event, what.event, what.message, what.chat, what.data, t.at)
	if err != nil {
		return err
	}
	if t.appended == nil {
		t.appended = make(map[entryKey]bool)
	}
	t.appended[what] = true
	return nil
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
	return t.appendEntry(ctx, entryKey{event: eventAccountStatus, data: string(data)})
}
