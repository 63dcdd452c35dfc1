package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// scheduledTx changes scheduled messages.
type scheduledTx struct{ *writeTx }

// AddScheduled stores a message that is sent later, and the Idempotency-Key of its call, if any. fileSize is
// the size of its file. It refuses messages beyond the quota.
func (s *Store) AddScheduled(ctx context.Context, m bridge.Scheduled, fileSize int64, key *bridge.SendKey) error {
	return s.writeAs(ctx, "schedule a message", func(t *writeTx) {
		draft := t.Encode(m.Draft)
		bytes := fileSize + int64(len(draft))
		t.Fail(bridge.Scheduling.Admits(scheduledUse(t.Conn, m.Tree, ""), m.Token, bytes))
		if key != nil {
			settings.SaveSendKey(t.Conn, t.at, *key)
		}
		t.Run(`
			INSERT INTO scheduled (id, chat, status, send_at, created_at, draft, bytes, token, tree) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			m.ID, t.People.Canonical(m.Chat), string(m.Status), m.SendAt, m.CreatedAt, draft, bytes, m.Token, m.Tree)
		scheduledTx{t}.log(m)
	})
}

// scheduledUse returns how much of the quota all scheduled messages except one use.
func scheduledUse(c *sqlite.Conn, tree int64, except string) (use bridge.ScheduledUse) {
	c.Find(`
		SELECT count(*), ifnull(sum(bytes), 0), ifnull(sum(token != 0), 0), ifnull(sum(iif(token != 0, bytes, 0)), 0),
			ifnull(sum(token != 0 AND tree = ?1), 0), ifnull(sum(iif(token != 0 AND tree = ?1, bytes, 0)), 0)
		FROM scheduled WHERE id != ?2`, []any{tree, except},
		&use.Count, &use.Bytes, &use.CreatedCount, &use.CreatedBytes, &use.TreeCount, &use.TreeBytes)
	return use
}

// ScheduledUse returns how much of the quota the scheduled messages use, for a token tree.
func (s *Store) ScheduledUse(ctx context.Context, tree int64) (use bridge.ScheduledUse, err error) {
	err = s.view(ctx, func(c *sqlite.Conn) { use = scheduledUse(c, tree, "") })
	return use, err
}

// ChangeScheduled changes a scheduled message in one transaction, unless change returns an error, and returns
// it. It fails with [bridge.CodeNotFound] if there is no such message, and refuses a change beyond the quota.
func (s *Store) ChangeScheduled(ctx context.Context, id string, change func(*bridge.Scheduled) error) (m bridge.Scheduled, err error) {
	err = s.writeAs(ctx, "change a scheduled message", func(t *writeTx) {
		before, found := t.s.Over(t.Conn).FindScheduled(id)
		if !found {
			t.Fail(bridge.NoScheduled(id))
			return
		}
		m = before
		if err := change(&m); err != nil {
			t.Fail(err)
			return
		}
		draft, former := t.Encode(m.Draft), t.Encode(before.Draft)
		bytes := int64(0)
		t.Find("SELECT bytes FROM scheduled WHERE id = ?", []any{id}, &bytes)
		bytes += int64(len(draft) - len(former))
		if draft != former || m.Token != before.Token {
			t.Fail(bridge.Scheduling.Admits(scheduledUse(t.Conn, m.Tree, id), m.Token, bytes))
			t.markErased()
		}
		t.Run("UPDATE scheduled SET status = ?, send_at = ?, begun = ?, error = ?, draft = ?, bytes = ?, token = ?, tree = ? WHERE id = ?",
			string(m.Status), m.SendAt, m.Begun, errorColumn(t.Conn, m.Error), draft, bytes, m.Token, m.Tree, id)
		isTried := before.Status == bridge.ScheduledSending && m.Error == nil && m.SendAt == before.SendAt
		if m.Status != bridge.ScheduledSending && !isTried {
			scheduledTx{t}.log(m)
		}
	})
	return m, err
}

func errorColumn(c *sqlite.Conn, problem *bridge.ScheduledError) any {
	if problem == nil {
		return nil
	}
	return c.Encode(problem)
}

// CancelScheduled erases a scheduled message and returns it. It fails with [bridge.CodeNotFound] if there is
// no such message.
func (s *Store) CancelScheduled(ctx context.Context, id string) (m bridge.Scheduled, err error) {
	err = s.writeAs(ctx, "cancel a scheduled message", func(t *writeTx) {
		var found bool
		if m, found = t.s.Over(t.Conn).FindScheduled(id); !found {
			t.Fail(bridge.NoScheduled(id))
			return
		}
		scheduledTx{t}.remove(id)
		m.Status = bridge.ScheduledCancelled
		scheduledTx{t}.log(m)
	})
	return m, err
}

// EndScheduled erases a scheduled message that was sent.
func (s *Store) EndScheduled(ctx context.Context, id string) error {
	return s.writeAs(ctx, "end a scheduled message", func(t *writeTx) { scheduledTx{t}.remove(id) })
}

func (t scheduledTx) remove(id string) {
	t.markErased()
	t.Run("DELETE FROM scheduled WHERE id = ?", id)
}

// FailScheduled marks the waiting messages of a token as failed, and returns how many.
func (s *Store) FailScheduled(ctx context.Context, token int64, why bridge.ScheduledError) (count int, err error) {
	err = s.writeAs(ctx, "fail scheduled messages", func(t *writeTx) {
		ids := sqlite.List[string](t.Conn, "SELECT id FROM scheduled WHERE token = ? AND status = 'scheduled' LIMIT 1000", token)
		count = len(ids)
		for _, id := range ids {
			t.Run("UPDATE scheduled SET status = ?, error = ? WHERE id = ?", string(bridge.ScheduledFailed), t.Encode(why), id)
			if m, found := t.s.Over(t.Conn).FindScheduled(id); found {
				scheduledTx{t}.log(m)
			}
		}
	})
	return count, err
}

// ForgetScheduled erases the messages that were not sent and that no one has dealt with since a time. It
// returns their ids.
func (s *Store) ForgetScheduled(ctx context.Context, before bridge.Time) (ids []string, err error) {
	const old = " WHERE status IN ('missed', 'held', 'failed') AND max(send_at, created_at) < ?"
	err = s.view(ctx, func(c *sqlite.Conn) {
		ids = sqlite.List[string](c, "SELECT id FROM scheduled"+old+" LIMIT 100", before)
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	err = s.writeAs(ctx, "erase old scheduled messages", func(t *writeTx) {
		t.markErased()
		t.Run("DELETE FROM scheduled"+old+" AND id IN (SELECT value FROM json_each(?))", before, t.Encode(ids))
	})
	return ids, err
}

// log logs a scheduled message that was added or changed, with its chat if that is stored.
func (t scheduledTx) log(m bridge.Scheduled) {
	if t.Err() != nil {
		return
	}
	chat, _ := t.findChat(m.Chat)
	t.appendEntry(read.EntryKey{Event: bridge.EventScheduled, Chat: chat.id, Data: t.Encode(columns.ScheduledChange{ID: m.ID, Chat: m.Chat, Status: m.Status, Type: m.Draft.Type(), SendAt: m.SendAt, CreatedAt: m.CreatedAt})})
}
