package store

import (
	"bridged/internal/bridge"
)

// The types of events in the table events. Their numbers are stored: they never change
// their meaning.
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
func (t *writeTx) appendEvent(event int, message, chat int64) {
	t.appendEntry(entryKey{event: event, message: message, chat: chat})
}

// appendEntry appends an event, unless the transaction has appended it already, or is
// silent. There is one writer: nothing with a lower number is ever committed later.
func (t *writeTx) appendEntry(key entryKey) {
	if t.silent || t.appended[key] {
		return
	}
	t.numbers.event++
	t.Run("INSERT INTO events (id, type, message, chat, data, at) VALUES (?, ?, nullif(?, 0), nullif(?, 0), nullif(?, ''), ?)",
		t.numbers.event, key.event, key.message, key.chat, key.data, t.at)
	if t.appended == nil {
		t.appended = make(map[entryKey]bool)
	}
	t.appended[key] = true
}

// saveStatus logs the account's status if it has changed, without its secrets for pairing:
// more people read the log than may pair the account.
func (t *writeTx) saveStatus(f bridge.Status) {
	f.PairingCode, f.PairingCodeExpiresAt, f.QR, f.Passkey = nil, nil, nil, nil
	data := t.Encode(f)
	if readSetting(t.Conn, settingStatus) == data {
		return
	}
	t.setSetting(settingStatus, data)
	t.appendEntry(entryKey{event: eventAccountStatus, data: data})
}

// noMessage is the data of the event of a placeholder whose row was removed.
type noMessage struct {
	ID        string `json:"id"`
	Sender    int64  `json:"sender"` // a person
	FromMe    bool   `json:"fromMe"`
	Timestamp int64  `json:"timestamp"` // in milliseconds, as below
	RemovedAt int64  `json:"removedAt"`
}

// saveNoMessage removes a placeholder that was for no message, and logs it as deleted.
func (t *writeTx) saveNoMessage(f bridge.NoMessage) {
	m, found := t.findMessage(f.Chat, f.ID)
	if !found || !m.isPlaceholder() || m.isAlias || m.fromMe != f.FromMe {
		return
	}
	sender := t.ensurePerson(f.Sender)
	if !t.couldBeOne(m.sender, sender) {
		return
	}
	t.removeMessage(m.seq)
	data := t.Encode(noMessage{ID: f.ID, Sender: m.sender, FromMe: m.fromMe, Timestamp: m.timestamp, RemovedAt: t.at})
	t.appendEntry(entryKey{event: eventMessageUpdated, chat: m.chat, data: data})
}

// removedMessage returns the message of an event that has no row any more; nil for none.
func (r *readTx) removedMessage(e entry) *bridge.Message {
	var kept noMessage
	var chat bridge.JID
	if e.data == "" || !r.Find("SELECT jid FROM chats WHERE id = ?", []any{e.chat}, &chat) {
		return nil
	}
	r.Decode([]byte(e.data), &kept)
	p, removed := r.s.people.get(kept.Sender), bridge.Millis(kept.RemovedAt)
	return &bridge.Message{
		Chat: r.s.Canonical(chat), ID: kept.ID, FromMe: kept.FromMe, MessageType: bridge.TypeUndecryptable, Timestamp: bridge.Millis(kept.Timestamp),
		SenderJID: p.jid(), SenderLID: p.lid, SenderUsername: p.usernameOrNil(), PushName: p.pushName(),
		Reactions: []bridge.MessageReaction{}, DeletedAt: &removed,
	}
}
