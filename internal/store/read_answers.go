package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
)

// addEventResponses reads the answers to events, in the order in which they were
// given.
func (r *readTx) addEventResponses(ctx context.Context, seqs []int64, messages map[int64]*bridge.Message) error {
	for _, seq := range seqs {
		messages[seq].Event.Responses = &bridge.EventResponses{Going: []bridge.JID{}, Maybe: []bridge.JID{}, NotGoing: []bridge.JID{}}
	}
	return r.eachOf(ctx, `
		SELECT e.message, e.person, e.answer, e.guests
		FROM json_each(?) wanted CROSS JOIN event_responses e ON e.message = wanted.value
		CROSS JOIN people p ON p.id = e.person
		ORDER BY e.timestamp, ifnull(p.pn, p.lid)`, seqs, func(rows *resultSet) error {
		var seq, person int64
		var answer, guests int
		if err := rows.Scan(&seq, &person, &answer, &guests); err != nil {
			return err
		}
		jid, responses := r.s.people.get(person).jid(), messages[seq].Event.Responses
		switch bridge.EventAnswer(answer) {
		case bridge.EventGoing:
			responses.Going = append(responses.Going, jid)
			responses.Guests += guests
		case bridge.EventMaybe:
			responses.Maybe = append(responses.Maybe, jid)
		case bridge.EventNotGoing:
			responses.NotGoing = append(responses.NotGoing, jid)
		}
		return nil
	})
}

// mostParts bounds how many parts of an album are counted: anybody can name one.
const mostParts = 2000

// arrivedQuery counts the parts of albums that are stored: those by its author.
var arrivedQuery = fmt.Sprintf(`
	SELECT parent.seq, (
		SELECT count(*) FROM (SELECT message FROM album_parts WHERE album = parent.id LIMIT %d) p
		CROSS JOIN messages m ON m.seq = p.message WHERE m.chat = parent.chat AND m.sender = parent.sender)
	FROM json_each(?) wanted CROSS JOIN messages parent ON parent.seq = wanted.value`, mostParts)

func (r *readTx) countArrived(ctx context.Context, seqs []int64, messages map[int64]*bridge.Message) error {
	return r.eachOf(ctx, arrivedQuery, seqs, func(rows *resultSet) error {
		var seq int64
		var arrived int
		err := rows.Scan(&seq, &arrived)
		messages[seq].Album.Arrived = arrived
		return err
	})
}
