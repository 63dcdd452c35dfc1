package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// saveImported stores a message of the phone's history with its changes, or changes of a stored message from the history.
// Received messages stay as they are, except placeholders: they are replaced, with an event.
func (t *writeTx) saveImported(f bridge.Imported) {
	if f.Shared {
		t.saveShared(f)
		return
	}
	if f.Message != nil {
		t.saveImportedMessage(*f.Message)
	}
	t.silently(func() {
		for _, change := range f.Changes {
			t.saveImportedChange(bridge.Bounded(change))
		}
	})
}

// saveShared stores a message that a member of a group shares, with its changes, unless its id is stored.
func (t *writeTx) saveShared(f bridge.Imported) {
	if f.Message == nil {
		return
	}
	if _, found := t.findMessage(f.Message.Chat, f.Message.ID); found {
		return
	}
	t.saveImportedMessage(*f.Message)
	t.silently(func() {
		for _, change := range f.Changes {
			change = bridge.Bounded(change)
			if _, isTheirs := change.(bridge.Star); isTheirs {
				continue
			}
			if of := (pendingTx{t}).packPending(change); of.target == f.Message.ID {
				t.saveImportedChange(change)
			}
		}
	})
}

func (t *writeTx) saveImportedMessage(m bridge.Message) {
	stored, found := t.findMessage(m.Chat, m.ID)
	switch {
	case !found:
		m.Imported = true
		t.silently(func() { t.saveMessage(m) })
	case stored.isPlaceholder() && !stored.imported:
		t.saveMessage(m)
	}
}

// silently runs f without logging events.
func (t *writeTx) silently(f func()) {
	before := t.silent
	defer func() { t.silent = before }()
	t.silent = true
	f()
}

// saveImportedChange applies a change of the phone's history to an imported message.
func (t *writeTx) saveImportedChange(change bridge.Fact) {
	of := pendingTx{t}.packPending(change)
	stored, found := t.findMessage(of.chat, of.target)
	if edit, ok := change.(bridge.Edit); !found && ok && edit.Upload != nil {
		t.saveImportedMessage(*edit.Upload)
		return
	}
	if found && stored.imported {
		t.save(change)
	}
}

// saveChatName sets the name that the phone shows for a person or a group without a name.
func (t *writeTx) saveChatName(f bridge.ChatName) {
	switch {
	case f.Name == "":
	case f.JID.IsGroup():
		c, _ := t.findChat(f.JID)
		unknown := false
		t.Find("SELECT known = 0 FROM groups WHERE chat = ?", []any{c.id}, &unknown)
		if unknown {
			t.renameChat(c.id, f.Name)
		}
	case f.JID.IsPerson():
		if p := t.EnsurePerson(f.JID); p.Name == "" {
			p.Name = f.Name
			t.SaveNames(p)
		}
	}
}

// saveHistoryStep stores the progress of a part of the phone's history.
func (t *writeTx) saveHistoryStep(f bridge.HistoryStep) {
	if settings.SaveHistoryStep(t.Conn, f) {
		t.markErased()
	}
}

func (t *writeTx) forgetHistory() {
	if settings.ForgetHistory(t.Conn) {
		t.markErased()
	}
	t.Run("UPDATE chats SET history_end = 0 WHERE history_end != 0") // the next phone may have more
}

// saveHistoryEnd stores whether the phone has older messages of a chat.
func (t *writeTx) saveHistoryEnd(f bridge.ChatHistoryEnd) {
	if c, found := t.findChat(f.Chat); found {
		t.Run("UPDATE chats SET history_end = ?1 WHERE id = ?2 AND history_end != ?1", int(f.End), c.id)
	}
}

// HistoryEnd returns whether the phone has older messages of a chat.
func (s *Store) HistoryEnd(ctx context.Context, chat bridge.JID) (bridge.HistoryEnd, error) {
	return read.As(ctx, s.Reader, "read the end of a history", func(r *read.Snapshot) (end bridge.HistoryEnd) {
		r.Find("SELECT history_end FROM chats WHERE id = ?", []any{r.FindChat(chat)}, &end)
		return end
	})
}
