package store

import (
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
func (t *writeTx) changeRequests(chat int64, f bridge.GroupChange, at int64) string {
	var data askingData
	for _, step := range []struct {
		people []bridge.Participant
		news   *[]bridge.JID
		query  string
	}{
		{f.Asked, &data.Created, `
			INSERT INTO join_requests (chat, person, at) VALUES (?1, ?2, ?3)
			ON CONFLICT (chat, person) DO UPDATE SET at = ?3 WHERE at < ?3`},
		{f.AskNoMore, &data.Revoked, "DELETE FROM join_requests WHERE chat = ?1 AND person = ?2 AND at <= ?3"},
		{f.Joined, nil, "DELETE FROM join_requests WHERE chat = ?1 AND person = ?2 AND at <= ?3"},
	} {
		for _, asking := range step.people {
			p, known := t.ensureParticipant(asking)
			if !known {
				continue
			}
			if t.Change(step.query, chat, p.id, at) > 0 && step.news != nil {
				*step.news = append(*step.news, asking.JID)
			}
		}
	}
	if data.Created == nil && data.Revoked == nil {
		return ""
	}
	return t.Encode(data)
}

// joinRequests returns who an event's data names, as far as the reader may know
// them.
func (r *readTx) joinRequests(data string, at bridge.Time) *bridge.JoinRequestChange {
	var named askingData
	r.Decode([]byte(data), &named)
	return &bridge.JoinRequestChange{Created: r.asking(named.Created, &at), Revoked: r.asking(named.Revoked, nil)}
}

// asking returns [Store.Asking] of some people, as far as the reader may know them.
func (r *readTx) asking(people []bridge.JID, at *bridge.Time) []bridge.JoinRequest {
	requests := make([]bridge.JoinRequest, len(people))
	for i, jid := range people {
		requests[i] = r.s.Asking(jid, at)
		if p, known := r.s.people.find(jid); known && !r.knows(p) {
			requests[i] = requests[i].AsNamed()
		}
	}
	return requests
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
func (t *writeTx) mergeRequests(from, into int64) {
	t.Run("UPDATE OR IGNORE join_requests SET person = ? WHERE person = ?", into, from)
	t.Run("DELETE FROM join_requests WHERE person = ?", from)
}
