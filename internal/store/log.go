package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// logChange logs a change of a message. All changes in one transaction are one event.
func (t *writeTx) logChange(seq int64, change columns.MessageChange) {
	if t.silent {
		return
	}
	logged := t.changed[seq]
	if logged == nil {
		t.appendEntry(read.EntryKey{Event: bridge.EventMessageUpdated, Message: seq, Data: t.Encode(change)})
		if t.changed == nil {
			t.changed = make(map[int64]*loggedChange)
		}
		t.changed[seq] = &loggedChange{t.numbers.event, change}
		return
	}
	logged.Add(change)
	t.Run("UPDATE events SET data = ? WHERE id = ?", t.Encode(logged.MessageChange), logged.event)
}

// loggedChange is a change that a transaction has logged.
type loggedChange struct {
	event int64
	columns.MessageChange
}

// messageChanged logs which fields of a message have changed.
func (t *writeTx) messageChanged(seq int64, fields ...bridge.MessageField) {
	t.logChange(seq, columns.MessageChange{Changes: fields})
}

// appendEvent appends an event of a message (chat is 0) or of a chat (message is 0).
func (t *writeTx) appendEvent(event bridge.EventType, message, chat int64) {
	t.appendEntry(read.EntryKey{Event: event, Message: message, Chat: chat})
}

// appendEntry appends an event, unless the transaction has appended it already, or is
// silent. There is only one writer, so events are committed in the order of their numbers.
func (t *writeTx) appendEntry(key read.EntryKey) {
	if t.silent || t.appended[key] {
		return
	}
	t.numbers.event++
	t.Run("INSERT INTO events (id, type, message, chat, data, at) VALUES (?, ?, nullif(?, 0), nullif(?, 0), nullif(?, ''), ?)",
		t.numbers.event, columns.EventNumber(key.Event), key.Message, key.Chat, key.Data, t.at)
	if t.appended == nil {
		t.appended = make(map[read.EntryKey]bool)
	}
	t.appended[key] = true
}

// saveStatus logs the account's status if it has changed, without its secrets for pairing:
// more people read the log than may pair the account.
func (t *writeTx) saveStatus(f bridge.Status) {
	f.PairingCode, f.PairingCodeExpiresAt, f.QR, f.Passkey = nil, nil, nil, nil
	data := t.Encode(f)
	if settings.Get(t.Conn, settingStatus) == data {
		return
	}
	settings.Set(t.Conn, settingStatus, data)
	t.appendEntry(read.EntryKey{Event: bridge.EventAccountStatus, Data: data})
}

// LogBackupFailure logs that the backup of a night failed, once for each night, also over restarts.
func (s *Store) LogBackupFailure(ctx context.Context, night string, f bridge.BackupFailure) error {
	return s.writeAs(ctx, "log the failure of a backup", func(t *writeTx) {
		if settings.Get(t.Conn, settingBackup) == night {
			return
		}
		settings.Set(t.Conn, settingBackup, night)
		t.appendEntry(read.EntryKey{Event: bridge.EventBackupFailed, Data: t.Encode(f)})
	})
}

// saveNoMessage removes a placeholder whose stanza turned out to have no message, and logs it as deleted.
func (t *writeTx) saveNoMessage(f bridge.NoMessage) {
	m, found := t.findMessage(f.Chat, f.ID)
	if !found || !m.isPlaceholder() || m.isAlias || m.fromMe != f.FromMe {
		return
	}
	sender := t.EnsurePerson(f.Sender)
	if !t.couldBeOne(m.sender, sender) {
		return
	}
	t.removeMessage(m.seq)
	data := t.Encode(columns.NoMessage{MessageChange: columns.MessageChange{Changes: []bridge.MessageField{bridge.ChangedDeleted}}, ID: f.ID, Sender: m.sender, FromMe: m.fromMe, Timestamp: m.timestamp, RemovedAt: t.at})
	t.appendEntry(read.EntryKey{Event: bridge.EventMessageUpdated, Chat: m.chat, Data: data})
}
