package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

// pendingTx stores changes of messages that are not stored yet.
type pendingTx struct{ *writeTx }

// A change may come before its message, because long queues are not delivered in order. Then it is
// pending. It is applied when the message comes, by the same rules as if it had come later. A deletion
// in a group whose members are not known waits for them. The edit of a placeholder waits for its message.

// The kinds of change in the table pending_changes that its queries know.
const (
	pendingDeletion = 1
	pendingEdit     = 2
)

// changeKinds lists the kinds of change by their numbers. The numbers are stored: they never
// change their meaning.
var changeKinds = [...]changeKind{
	pendingDeletion: kindOf[bridge.Deletion](func(f *bridge.Deletion) changeFields { return changeFields{&f.Chat, &f.By, f.Target, ""} }),
	pendingEdit:     kindOf[bridge.Edit](func(f *bridge.Edit) changeFields { return changeFields{&f.Chat, &f.Editor, f.Target, ""} }),
	3:               kindOf[bridge.ReactionChange](func(f *bridge.ReactionChange) changeFields { return changeFields{&f.Chat, &f.Sender, f.Target, ""} }),
	4:               kindOf[bridge.PollVote](func(f *bridge.PollVote) changeFields { return changeFields{&f.Chat, &f.Voter, f.Target, ""} }),
	5:               kindOf[bridge.Encrypted](func(f *bridge.Encrypted) changeFields { return changeFields{&f.Chat, &f.Sender, f.Target, f.ID} }),
	6:               kindOf[bridge.EventResponse](func(f *bridge.EventResponse) changeFields { return changeFields{&f.Chat, &f.Sender, f.Target, ""} }),
	7:               kindOf[bridge.PollOptionAdded](func(f *bridge.PollOptionAdded) changeFields { return changeFields{&f.Chat, &f.By, f.Target, f.Name} }),
	8:               kindOf[bridge.Pin](func(f *bridge.Pin) changeFields { return changeFields{&f.Chat, &f.By, f.Target, ""} }),
	9:               kindOf[bridge.Keep](func(f *bridge.Keep) changeFields { return changeFields{&f.Chat, &f.By, f.Target, ""} }),
	10:              kindOf[bridge.Star](func(f *bridge.Star) changeFields { return changeFields{&f.Chat, &f.By, f.Target, ""} }),
	11:              kindOf[bridge.MessageLabel](func(f *bridge.MessageLabel) changeFields { return changeFields{&f.Chat, &f.By, f.Target, f.Label} }),
}

// changeFields has the fields of a change that the table has columns for. stanza distinguishes
// several changes of one kind by one sender.
type changeFields struct {
	chat, sender   *bridge.JID
	target, stanza string
}

type changeKind interface {
	// fields returns the fields of a change; it reports false for a change of another kind.
	fields(fact bridge.Fact) (changeFields, bool)
	// decode returns the change of a row, of the chat and by the sender that the row has now.
	decode(t *writeTx, row pendingChange) bridge.Fact
}

type kindOf[T bridge.Fact] func(f *T) changeFields

func (of kindOf[T]) fields(fact bridge.Fact) (changeFields, bool) {
	if f, ok := fact.(T); ok {
		return of(new(f)), true
	}
	return changeFields{}, false
}

func (of kindOf[T]) decode(t *writeTx, row pendingChange) bridge.Fact {
	var f T
	t.Decode([]byte(row.fact), &f)
	fields := of(&f)
	*fields.chat, *fields.sender = row.chat, row.sender
	return f
}

// pendingChange is a row of pending_changes.
type pendingChange struct {
	kind   int
	chat   bridge.JID
	target string
	sender bridge.JID
	stanza string
	fact   string
	raw    []byte
}

// postpone stores a change until its message comes. A deletion removes its sender's other pending
// changes of the message, and prevents new ones.
func (t pendingTx) postpone(fact bridge.Fact) {
	row := t.packPending(fact)
	if !isChat(row.chat) || row.target == "" || !row.sender.IsPerson() || row.size() > maxPendingSize {
		return
	}
	t.EnsurePerson(row.sender)
	if !row.chat.IsGroup() {
		t.EnsurePerson(row.chat)
	}
	chat, sender := t.pendingChat(row.chat), string(t.People.Canonical(row.sender))
	if row.kind == pendingDeletion {
		t.dropPending("chat = ? AND target = ? AND sender = ? AND kind != ?", chat, row.target, sender, pendingDeletion)
	}
	id, added := t.insertPending(row, chat, sender)
	if added {
		t.trimPending("sender = ?", sender, maxPendingOfSender, maxPendingSizeOfSender)
	}
	if added && id%pendingCheck == 0 {
		t.trimPending("? != ''", sender, maxPending, maxPendingSizeInAll)
	}
}

// insertPending reports whether it has stored the change. It does not store it if a deletion by the same
// sender is pending, or a later change of its kind.
func (t pendingTx) insertPending(row pendingChange, chat, sender string) (id int64, added bool) {
	if row.kind != pendingDeletion {
		t.dropPending("chat = ? AND target = ? AND kind = ? AND sender = ? AND stanza = ? AND fact ->> '$.Timestamp' <= ? ->> '$.Timestamp'",
			chat, row.target, row.kind, sender, row.stanza, row.fact)
	}
	added = t.Find(`
		INSERT INTO pending_changes (chat, target, kind, sender, stanza, at, size, fact, raw)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
		WHERE NOT EXISTS (SELECT 1 FROM pending_changes WHERE chat = ?1 AND target = ?2 AND kind = ?10 AND sender = ?4)
		ON CONFLICT DO NOTHING RETURNING id`,
		[]any{chat, row.target, row.kind, sender, row.stanza, t.at, row.size(), row.fact, row.raw, pendingDeletion}, &id)
	return id, added
}

// pendingChat returns the name of a chat in pending_changes, which does not change when the number of a
// LID becomes known. It returns "" for an unknown person.
func (t pendingTx) pendingChat(chat bridge.JID) string {
	if chat.IsGroup() {
		return string(chat)
	}
	if p, known := t.People.Find(chat); known {
		return pendingPerson(p.ID)
	}
	return ""
}

func pendingPerson(id int64) string { return "person " + strconv.FormatInt(id, 10) }

// applyPending applies the pending changes of a message that this transaction stores. Deletions come
// first, so that deleted content is never visible.
func (t pendingTx) applyPending(chat bridge.JID, id string) {
	name := t.pendingChat(chat)
	var rows []pendingChange
	for found := range t.Rows(`
		SELECT kind, sender, stanza, fact, raw FROM pending_changes WHERE chat = ? AND target = ?
		ORDER BY kind = ? DESC, fact ->> '$.Timestamp', id`, name, id, pendingDeletion) {
		row := pendingChange{chat: chat, target: id}
		found.Scan(&row.kind, &row.sender, &row.stanza, &row.fact, &row.raw)
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	t.dropPending("chat = ? AND target = ?", name, id)
	for _, row := range rows {
		t.save(t.unpackPending(row))
	}
}

// applyPendingIn applies the pending changes of a chat's stored messages, after the members of the chat
// became known or two chats became one.
func (t pendingTx) applyPendingIn(jid bridge.JID) {
	c, found := t.findChat(jid)
	if !found {
		return
	}
	targets := sqlite.List[string](t.Conn, `
		SELECT DISTINCT p.target FROM pending_changes p JOIN messages m ON m.chat = ? AND m.id = p.target WHERE p.chat = ?`, c.id, t.pendingChat(jid))
	for _, target := range targets {
		t.applyPending(jid, target)
	}
}

// dropPendingOf removes the pending changes of a message under any of its ids.
func (t pendingTx) dropPendingOf(chat bridge.JID, seq int64) {
	t.dropPending(`chat = ?1 AND target IN (
		SELECT id FROM messages WHERE seq = ?2 UNION SELECT id FROM aliases WHERE message = ?2)`, t.pendingChat(chat), seq)
}

// dropPending removes pending changes, also from the disk, and returns how many.
func (t pendingTx) dropPending(where string, args ...any) int64 {
	removed := t.Change("DELETE FROM pending_changes WHERE "+where, args...)
	if removed > 0 {
		t.markErased()
	}
	return removed
}

// The limits of pending changes in age, size and number, for each sender and in total. They prevent that
// a sender fills the disk or evicts the changes of others. Deletions are evicted last.
const (
	// pendingLife is how long the network stores stanzas for a device, and how long a phone may be
	// offline before its devices are unlinked.
	pendingLife = 14 * 24 * time.Hour

	maxPendingSize         = 1 << 20 // of one change, in bytes
	maxPendingOfSender     = 1000
	maxPendingSizeOfSender = 2 << 20
	maxPending             = 20_000
	maxPendingSizeInAll    = 64 << 20

	// pendingCheck is the number of added changes after which the whole table is checked.
	pendingCheck = 64
)

func (t pendingTx) trimPending(where, sender string, most, mostSize int64) {
	var count, size int64
	t.Find("SELECT count(*), ifnull(sum(size), 0) FROM pending_changes WHERE "+where, []any{sender}, &count, &size)
	if count <= most && size <= mostSize {
		return
	}
	t.dropPending(`id IN (
		SELECT id FROM (
			SELECT id, row_number() OVER last AS place, sum(size) OVER last AS size FROM pending_changes WHERE `+where+`
			WINDOW last AS (ORDER BY kind = ? DESC, id DESC)
		) WHERE place > ? OR size > ?)`, sender, pendingDeletion, most, mostSize)
}

// ForgetPending removes the changes that have been pending for too long, and returns how many.
func (s *Store) ForgetPending(ctx context.Context) (int, error) {
	return s.forgetPendingBefore(ctx, s.o.Clock.Now().Add(-pendingLife))
}

func (s *Store) forgetPendingBefore(ctx context.Context, before time.Time) (removed int, err error) {
	err = s.writeAs(ctx, "remove changes whose messages have not come", func(t *writeTx) {
		removed = int(pendingTx{t}.dropPending("at < ?", before.UnixMilli()))
	})
	return removed, err
}

// mergePending moves changes in the chat with one person, or by that person, to another.
func (t pendingTx) mergePending(from, into int64) {
	t.movePending("chat", pendingPerson(from), pendingPerson(into))
	one := t.People.Get(from)
	other := t.People.Get(into)
	t.movePending("sender", string(one.JID()), string(other.JID()))
}

// movePending renames the chat or the sender of pending changes. The rules of postpone and insertPending
// decide which of two changes of the same message stays.
func (t pendingTx) movePending(column, from, into string) {
	same := map[string]string{"chat": "sender", "sender": "chat"}[column]
	t.dropPending(`id IN (
		SELECT iif(a.fact ->> '$.Timestamp' > b.fact ->> '$.Timestamp', b.id, a.id)
		FROM pending_changes a JOIN pending_changes b USING (target, kind, stanza, `+same+`)
		WHERE a.`+column+` = ? AND b.`+column+` = ?)`, from, into)
	moved := t.Change("UPDATE pending_changes SET "+column+" = ? WHERE "+column+" = ?", into, from)
	if moved == 0 {
		return
	}
	t.dropPending(column+` = ?1 AND kind != ?2 AND EXISTS (
		SELECT 1 FROM pending_changes d
		WHERE d.chat = pending_changes.chat AND d.target = pending_changes.target AND d.sender = pending_changes.sender AND d.kind = ?2)`,
		into, pendingDeletion)
}

// editFact is the JSON of a pending [bridge.Edit], whose protobuf has a column. That of
// other changes is of the fact.
type editFact struct {
	Timestamp     bridge.Time
	Type, Content string
	ViewOnce      bool
	Details       columns.Details
	Ref           bridge.MediaRef
}

// size returns the bytes of a row that count for the limits.
func (r pendingChange) size() int { return len(r.target) + len(r.stanza) + len(r.fact) + len(r.raw) }

// packPending returns the row of a change; the row of any other fact has no target.
func (t pendingTx) packPending(fact bridge.Fact) (row pendingChange) {
	for number, kind := range changeKinds[1:] {
		if f, ok := kind.fields(fact); ok {
			row = pendingChange{kind: number + 1, chat: *f.chat, sender: *f.sender, target: f.target, stanza: f.stanza}
		}
	}
	f, isEdit := fact.(bridge.Edit)
	if !isEdit {
		row.fact = t.Encode(fact)
		return row
	}
	edit := editFact{Timestamp: f.Timestamp, Type: f.New.MessageType, Content: f.New.Content, ViewOnce: f.New.ViewOnce, Details: columns.DetailsOf(f.New)}
	if f.New.Media != nil {
		edit.Ref = f.New.Media.Ref
	}
	row.raw, row.fact = f.New.Raw, t.Encode(edit)
	return row
}

// unpackPending returns the change of a row.
func (t pendingTx) unpackPending(row pendingChange) bridge.Fact {
	switch {
	case row.kind == pendingEdit:
		return t.unpackEdit(row)
	case row.kind <= 0 || row.kind >= len(changeKinds):
		t.Fail(fmt.Errorf("a pending change of the unknown kind %d", row.kind))
		return nil
	}
	return changeKinds[row.kind].decode(t.writeTx, row)
}

func (t pendingTx) unpackEdit(row pendingChange) bridge.Fact {
	var f editFact
	t.Decode([]byte(row.fact), &f)
	edited := bridge.Message{MessageType: f.Type, Content: f.Content, ViewOnce: f.ViewOnce, Raw: row.raw}
	t.s.Fill(&edited, f.Details, t.People.Find)
	if edited.Media != nil {
		edited.Media.Ref = f.Ref
	}
	return bridge.Edit{Chat: row.chat, Target: row.target, Editor: row.sender, Timestamp: f.Timestamp, New: edited}
}
