package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// saveImported stores a message of the phone's history and its changes, or changes of one
// that was imported. Messages that came over the connection stay as they are, but
// placeholders are replaced, and that is logged.
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

// saveShared stores a message that a member of a group shares, and its changes, unless there is
// a message with its id.
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
			if of := t.packPending(change); of.target == f.Message.ID {
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

// silently runs f without events of what it changes.
func (t *writeTx) silently(f func()) {
	before := t.silent
	defer func() { t.silent = before }()
	t.silent = true
	f()
}

// saveImportedChange applies a change of the phone's history to an imported message.
func (t *writeTx) saveImportedChange(change bridge.Fact) {
	of := t.packPending(change)
	stored, found := t.findMessage(of.chat, of.target)
	if edit, is := change.(bridge.Edit); !found && is && edit.Upload != nil {
		t.saveImportedMessage(*edit.Upload)
		return
	}
	if found && stored.imported {
		t.save(change)
	}
}

// saveChatName gives a person or a group without a name the one that the phone shows.
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
		if p := t.ensurePerson(f.JID); p.name == "" {
			p.name = f.Name
			t.saveNames(p)
		}
	}
}

// saveHistoryPart keeps a part of the phone's history, which replaces one of the same kind
// and number that could not be downloaded.
func (t *writeTx) saveHistoryPart(f bridge.HistoryPart) {
	added := t.Change(`
		INSERT INTO history_parts (id, kind, chunk, notification) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		f.ID, f.Kind, f.Chunk, f.Notification)
	if added == 0 || f.Kind == bridge.HistoryOnDemand || f.Kind == bridge.HistoryShared {
		return
	}
	t.Run(`
		UPDATE history_parts SET state = ?, notification = NULL
		WHERE kind = ? AND chunk = ? AND state = ? AND tries > 0 AND id != ?`,
		bridge.HistoryReplaced, f.Kind, f.Chunk, bridge.HistoryWaiting, f.ID)
}

// saveHistoryStep keeps the progress of a part, and removes its notification once it is done.
func (t *writeTx) saveHistoryStep(f bridge.HistoryStep) {
	over := f.State >= bridge.HistoryDone
	if over {
		t.markErased()
	}
	t.Run(`
		UPDATE history_parts SET state = ?, position = ?, tries = ?, next_at = ?, notification = iif(?, NULL, notification)
		WHERE id = ? AND state < ?`,
		f.State, f.Position, f.Tries, f.NextAt.UnixMilli(), over, f.ID, bridge.HistoryDone)
}

func (t *writeTx) forgetHistory() {
	if t.Change("DELETE FROM history_parts") > 0 {
		t.markErased()
	}
	t.Run("UPDATE chats SET history_end = 0 WHERE history_end != 0") // the next phone may have more
}

// saveHistoryEnd stores what the phone has of a chat from before the stored messages.
func (t *writeTx) saveHistoryEnd(f bridge.ChatHistoryEnd) {
	if c, found := t.findChat(f.Chat); found {
		t.Run("UPDATE chats SET history_end = ?1 WHERE id = ?2 AND history_end != ?1", int(f.End), c.id)
	}
}

// HistoryEnd returns what the phone has of a chat from before the stored messages.
func (s *Store) HistoryEnd(ctx context.Context, chat bridge.JID) (bridge.HistoryEnd, error) {
	return readAs(ctx, s, "read the end of a history", func(r *readTx) (end bridge.HistoryEnd) {
		r.Find("SELECT history_end FROM chats WHERE id = ?", []any{r.findChat(chat)}, &end)
		return end
	})
}

// NextHistoryPart returns the part of the phone's history to take over next, due or not, and
// reports whether there is one.
func (s *Store) NextHistoryPart(ctx context.Context) (part bridge.HistoryPart, found bool, err error) {
	part, err = readAs(ctx, s, "read the history that waits", func(r *readTx) (p bridge.HistoryPart) {
		found = r.Find(`
			SELECT id, kind, chunk, notification, state, position, tries, next_at
			FROM history_parts WHERE state < 2 ORDER BY next_at, seq LIMIT 1`, nil,
			&p.ID, &p.Kind, &p.Chunk, &p.Notification, &p.State, &p.Position, &p.Tries, &p.NextAt)
		return p
	})
	return part, found, err
}

// HistoryKinds returns the kinds of parts that the phone has announced in this session.
func (s *Store) HistoryKinds(ctx context.Context) (map[string]bool, error) {
	return readAs(ctx, s, "read which history was announced", func(r *readTx) map[string]bool {
		kinds := make(map[string]bool)
		for _, kind := range sqlite.List[string](r.Conn, "SELECT DISTINCT kind FROM history_parts") {
			kinds[kind] = true
		}
		return kinds
	})
}

// HistoryCount counts the parts of the phone's history by their state.
func (s *Store) HistoryCount(ctx context.Context) (bridge.HistoryCount, error) {
	return readAs(ctx, s, "count the parts of the history", func(r *readTx) (count bridge.HistoryCount) {
		r.Find(`
			SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state IN (1, 2)), count(*) FILTER (WHERE state = 3)
			FROM history_parts`, nil, &count.Waiting, &count.Done, &count.GivenUp)
		return count
	})
}
