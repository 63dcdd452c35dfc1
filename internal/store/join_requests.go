package store

import (
	"context"
	"encoding/json"

	"bridged/internal/bridge"
)

// askingData is the data of an event of a group, about those who ask to be let in.
// They are named as the network named them: reading finds who that is today.
type askingData struct {
	Created []bridge.JID `json:"created,omitempty"`
	Revoked []bridge.JID `json:"revoked,omitempty"`
}

// changeRequests notes who asks to be let into a group since a moment, and who does
// so no more, and returns the data of an event that tells what of it is new; empty
// for nothing. Whoever is in asks no more.
func (t *writeTx) changeRequests(ctx context.Context, chat int64, f bridge.GroupChange, at int64) (string, error) {
	var data askingData
	for _, step := range []struct {
		people []bridge.Participant
		told   *[]bridge.JID
		query  string
	}{
		{f.Asked, &data.Created, `
			INSERT INTO join_requests (chat, person, at) VALUES (?1, ?2, ?3)
			ON CONFLICT (chat, person) DO UPDATE SET at = ?3 WHERE at < ?3`},
		{f.AskNoMore, &data.Revoked, "DELETE FROM join_requests WHERE chat = ?1 AND person = ?2 AND at <= ?3"},
		{f.Joined, nil, "DELETE FROM join_requests WHERE chat = ?1 AND person = ?2 AND at <= ?3"},
	} {
		for _, asking := range step.people {
			p, known, err := t.ensureParticipant(ctx, asking)
			if err != nil {
				return "", err
			}
			if !known {
				continue
			}
			changed, err := t.change(ctx, step.query, chat, p.id, at)
			if err != nil {
				return "", err
			}
			if changed > 0 && step.told != nil {
				*step.told = append(*step.told, asking.JID)
			}
		}
	}
	if data.Created == nil && data.Revoked == nil {
		return "", nil
	}
	encoded, err := json.Marshal(data)
	return string(encoded), err
}

// joinRequests returns who an event's data names, as far as the reader may know
// them.
func (r *readTx) joinRequests(ctx context.Context, data string, at bridge.Time) (*bridge.JoinRequestChange, error) {
	var named askingData
	if err := json.Unmarshal([]byte(data), &named); err != nil {
		return nil, err
	}
	created, err := r.asking(ctx, named.Created, &at)
	if err != nil {
		return nil, err
	}
	revoked, err := r.asking(ctx, named.Revoked, nil)
	return &bridge.JoinRequestChange{Created: created, Revoked: revoked}, err
}

// asking returns [Store.Asking] of some people, as far as the reader may know them.
func (r *readTx) asking(ctx context.Context, people []bridge.JID, at *bridge.Time) ([]bridge.JoinRequest, error) {
	requests := make([]bridge.JoinRequest, len(people))
	for i, jid := range people {
		requests[i] = r.s.Asking(jid, at)
		p, known := r.s.people.find(jid)
		if !known {
			continue
		}
		inside, err := r.knows(ctx, p)
		if err != nil {
			return nil, err
		}
		if !inside {
			requests[i] = requests[i].AsNamed()
		}
	}
	return requests, nil
}

// Asking returns the request of a person to be let into a group, with all that is
// known of them.
func (s *Store) Asking(jid bridge.JID, at *bridge.Time) bridge.JoinRequest {
	request := bridge.JoinRequest{JID: s.Canonical(jid), LID: s.LIDOf(jid), Username: s.UsernameOf(jid), RequestedAt: at, Named: jid}
	if p, known := s.people.find(jid); known {
		request.DisplayName = p.displayName()
	}
	return request
}

// mergeRequests makes what one person asked for another's.
func (t *writeTx) mergeRequests(ctx context.Context, from, into int64) error {
	if err := t.run(ctx, "UPDATE OR IGNORE join_requests SET person = ? WHERE person = ?", into, from); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM join_requests WHERE person = ?", from)
}
