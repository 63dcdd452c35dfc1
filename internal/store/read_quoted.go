package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"

	"bridged/internal/bridge"
)

// addQuoted reads the messages that others answer, of the same chat, as far as lists
// show them. A message that is not stored leaves Quoted nil.
func (r *readTx) addQuoted(ctx context.Context, messages []bridge.Message, positions []position) error {
	type answer struct {
		Index int    `json:"i"`
		Seq   int64  `json:"s"`
		ID    string `json:"q"`
	}
	var answers []answer
	for i := range messages {
		if c := messages[i].ContextInfo; c != nil && c.QuotedMsgID != nil && messages[i].DeletedAt == nil {
			answers = append(answers, answer{i, positions[i].seq, *c.QuotedMsgID})
		}
	}
	if len(answers) == 0 {
		return nil
	}
	list, err := json.Marshal(answers)
	if err != nil {
		return err
	}
	return r.each(ctx, `
		SELECT wanted.value ->> 'i', q.from_me, q.sender, q.push_name, q.type, substr(q.content, 1, ?), q.timestamp, q.deleted_at
		FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value ->> 's'
		CROSS JOIN messages q ON q.chat = m.chat AND q.id = wanted.value ->> 'q'`,
		[]any{bridge.MaxPreview + 1, string(list)}, func(rows *resultSet) error {
			var i, sender, timestamp int64
			var deleted sql.NullInt64
			var quoted bridge.Quoted
			if err := rows.Scan(&i, &quoted.FromMe, &sender, &quoted.PushName, &quoted.MessageType, &quoted.Content, &timestamp, &deleted); err != nil {
				return err
			}
			p := r.s.people.get(sender)
			quoted.SenderJID, quoted.PushName = p.jid(), cmp.Or(quoted.PushName, p.pushName())
			quoted.Timestamp, quoted.DeletedAt = bridge.Millis(timestamp), timeOf(deleted)
			quoted.Bound()
			messages[i].Quoted = &quoted
			return nil
		})
}
