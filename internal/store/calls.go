package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// saveCall notes a call, or what became of it. It is forgotten with its key.
func (t *writeTx) saveCall(ctx context.Context, f bridge.Call) error {
	if err := t.run(ctx, "DELETE FROM calls WHERE at <= ?", t.at-keyLife.Milliseconds()); err != nil {
		return err
	}
	return t.run(ctx, `
		INSERT INTO calls (id, plan, chat, answer, refused, at) VALUES (?, ?, ?, nullif(?, ''), ?, ?)
		ON CONFLICT (id) DO UPDATE SET plan = excluded.plan, refused = excluded.refused, answer = ifnull(excluded.answer, answer),
			chat = iif(excluded.chat = '', chat, excluded.chat)`,
		f.ID, string(f.Plan), string(f.Chat), string(f.Answer), f.Refused, t.at)
}

// saveGroupMade notes the group that a call made.
func (t *writeTx) saveGroupMade(ctx context.Context, f bridge.GroupMade) error {
	return t.run(ctx, "UPDATE calls SET chat = ? WHERE id = ?", string(f.JID), f.Key)
}

// Call returns what is known of a call: [bridge.CodeNotFound] when there is none.
func (s *Store) Call(ctx context.Context, id string) (bridge.Call, error) {
	call := bridge.Call{ID: id}
	err := s.read(ctx, func(r *readTx) error {
		var plan string
		var answer sql.NullString
		err := r.scan(ctx, "SELECT plan, chat, answer, refused FROM calls WHERE id = ?", []any{id}, &plan, &call.Chat, &answer, &call.Refused)
		if errors.Is(err, sql.ErrNoRows) {
			return bridge.NotFound("there is no call %s", id)
		}
		call.Plan = []byte(plan)
		if answer.Valid {
			call.Answer = []byte(answer.String)
		}
		return err
	})
	if err != nil {
		return call, fmt.Errorf("look up a call: %w", err)
	}
	return call, nil
}

// GroupsNamed returns the groups with a name.
func (s *Store) GroupsNamed(ctx context.Context, name string) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT jid FROM chats WHERE is_group AND name = ?", name)
}

// GroupsMadeElse returns the groups that other calls than one made.
func (s *Store) GroupsMadeElse(ctx context.Context, call string) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT chat FROM calls WHERE chat != '' AND id != ?", call)
}

func (s *Store) jids(ctx context.Context, query string, args ...any) ([]bridge.JID, error) {
	groups := []bridge.JID{}
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, query, args, func(rows *resultSet) error {
			var jid bridge.JID
			err := rows.Scan(&jid)
			groups = append(groups, jid)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look up groups: %w", err)
	}
	return groups, nil
}
