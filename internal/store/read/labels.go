package read

import (
	"context"
	"encoding/json"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// Labels returns labels by their names.
func (s *Reader) Labels(ctx context.Context, q bridge.LabelQuery) ([]bridge.StoredLabel, error) {
	return As(ctx, s, "read labels", func(r *Snapshot) []bridge.StoredLabel {
		var f sqlite.Filter
		f.Add("k.at > 0")
		if q.ID != "" {
			f.Add("k.id = ?", q.ID)
		}
		visible := "NOT c.hidden"
		var args []any
		if q.Only != nil {
			visible += " AND c.id IN (SELECT value FROM json_each(?))"
			chats := r.chatIDs(q.Only)
			args = append(args, chats)
			f.Add(`(EXISTS (SELECT 1 FROM chat_labels l CROSS JOIN chats c ON c.jid = l.chat WHERE l.label = k.id AND l.at > 0 AND `+visible+`)
				OR EXISTS (SELECT 1 FROM messages m WHERE m.labelled = 1 AND m.chat IN (SELECT value FROM json_each(?)) AND m.details ->> ('$.l.' || json_quote(k.id)) > 0))`, chats, chats)
		}
		scan := func(row *sqlite.Row) (label bridge.StoredLabel) {
			row.Scan(&label.ID, &label.Name, &label.Color, &label.Chats)
			return label
		}
		return sqlite.Collect(r.Conn, scan, `
			SELECT k.id, k.name, k.color,
				(SELECT count(*) FROM chat_labels l CROSS JOIN chats c ON c.jid = l.chat WHERE l.label = k.id AND l.at > 0 AND `+visible+`)
			FROM labels k WHERE `+f.Where()+" ORDER BY k.name, k.id", append(args, f.Args...)...)
	})
}

// Predefined returns the number of a label that the apps have from the beginning, or 0.
func (s *Reader) Predefined(ctx context.Context, id string) (int, error) {
	return As(ctx, s, "read a label", func(r *Snapshot) (number int) {
		r.Find("SELECT predefined FROM labels WHERE id = ?", []any{id}, &number)
		return number
	})
}

// NextLabel returns an id that no label has or had: ids are numbers.
func (s *Reader) NextLabel(ctx context.Context) (next int64, err error) {
	return As(ctx, s, "read the labels", func(r *Snapshot) (next int64) {
		r.Find("SELECT ifnull(max(CAST(id AS INTEGER)), 0) + 1 FROM labels", nil, &next)
		return next
	})
}

// HasLabel reports whether a label exists.
func HasLabel(c *sqlite.Conn, id string) bool {
	var found int
	return c.Find("SELECT 1 FROM labels WHERE id = ? AND at > 0", []any{id}, &found)
}

// chatLabels is the expression for the ids of a chat's labels.
const chatLabels = `(SELECT json_group_array(l.label) FROM chat_labels l CROSS JOIN labels k ON k.id = l.label AND k.at > 0 WHERE l.chat = c.jid AND l.at > 0)`

// labelIDs decodes the value of chatLabels.
func labelIDs(list string) (ids []string, err error) {
	if list == "[]" {
		return []string{}, nil
	}
	err = json.Unmarshal([]byte(list), &ids)
	return ids, err
}
