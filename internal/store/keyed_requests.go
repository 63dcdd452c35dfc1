package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// saveKeyedRequest notes a request, or what became of it. It is forgotten with its key.
func (t *writeTx) saveKeyedRequest(ctx context.Context, f bridge.KeyedRequest) error {
	if err := t.run(ctx, "DELETE FROM keyed_requests WHERE at <= ?", t.at-keyLife.Milliseconds()); err != nil {
		return err
	}
	return t.run(ctx, `
		INSERT INTO keyed_requests (id, plan, chat, answer, refused, at) VALUES (?, ?, ?, nullif(?, ''), ?, ?)
		ON CONFLICT (id) DO UPDATE SET plan = excluded.plan, refused = excluded.refused, answer = ifnull(excluded.answer, answer),
			chat = iif(excluded.chat = '', chat, excluded.chat)`,
		f.ID, string(f.Plan), string(f.Chat), string(f.Answer), f.Refused, t.at)
}

// saveGroupMade notes the group that a request made.
func (t *writeTx) saveGroupMade(ctx context.Context, f bridge.GroupMade) error {
	return t.run(ctx, "UPDATE keyed_requests SET chat = ? WHERE id = ?", string(f.JID), f.Key)
}

// KeyedRequest returns what is known of a request: [bridge.CodeNotFound] when there is none.
func (s *Store) KeyedRequest(ctx context.Context, id string) (bridge.KeyedRequest, error) {
	request := bridge.KeyedRequest{ID: id}
	err := s.read(ctx, func(r *readTx) error {
		var plan string
		var answer sql.NullString
		err := r.scan(ctx, "SELECT plan, chat, answer, refused FROM keyed_requests WHERE id = ?", []any{id}, &plan, &request.Chat, &answer, &request.Refused)
		if errors.Is(err, sql.ErrNoRows) {
			return bridge.NotFound("there is no request %s", id)
		}
		request.Plan = []byte(plan)
		if answer.Valid {
			request.Answer = []byte(answer.String)
		}
		return err
	})
	if err != nil {
		return request, fmt.Errorf("look up a request: %w", err)
	}
	return request, nil
}

// GroupsNamed returns the groups with a name.
func (s *Store) GroupsNamed(ctx context.Context, name string) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT jid FROM chats WHERE is_group AND name = ?", name)
}

// GroupsMadeElse returns the groups that other requests than one made.
func (s *Store) GroupsMadeElse(ctx context.Context, request string) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT chat FROM keyed_requests WHERE chat != '' AND id != ?", request)
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
