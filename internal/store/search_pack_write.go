package store

import (
	"context"
	"database/sql"
	"encoding/json"
)

// madePack is a pack with what the index is to know of it.
type madePack struct {
	pack
	oldest, newest int64
	grams          string
}

// readPack reads the messages that a pack is to have, and takes their grams.
func readPack(ctx context.Context, q *conn, plan packPlan) (madePack, error) {
	p, grams := madePack{pack: pack{id: plan.id}}, newGramSet()
	list, err := json.Marshal(plan.seqs)
	if err != nil {
		return p, err
	}
	err = q.each(ctx, `
		SELECT m.seq, m.chat, m.timestamp, ifnull(m.folded, m.content)
		FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value`,
		[]any{string(list)}, func(rows *resultSet) error {
			var m packed
			var text sql.RawBytes
			if err := rows.Scan(&m.seq, &m.chat, &m.timestamp, &text); err != nil {
				return err
			}
			if len(p.messages) == 0 {
				p.oldest, p.newest = m.timestamp, m.timestamp
			}
			p.oldest, p.newest = min(p.oldest, m.timestamp), max(p.newest, m.timestamp)
			p.enter(m, text)
			grams.add(text)
			grams.enter([]byte(chatWord(m.chat)))
			return nil
		})
	p.grams = grams.text.String()
	return p, err
}

// emptyPack returns the pack of a plan as one that is stale from the beginning.
func emptyPack(plan packPlan) (p madePack) {
	p.id = plan.id
	for _, seq := range plan.seqs {
		p.enter(packed{seq: seq}, nil)
	}
	p.texts = nil
	return p
}

// savePack enters a pack into the index.
func (t *writeTx) savePack(ctx context.Context, p madePack) error {
	var texts any
	if p.texts != nil {
		texts = p.texts
		if err := t.run(ctx, "INSERT INTO grams (rowid, words) VALUES (?, ?)", p.id, p.grams); err != nil {
			return err
		}
	}
	return t.run(ctx, "INSERT INTO packs (id, messages, texts) VALUES (?, ?, ?)", p.id, p.messages, texts)
}

// dropPack removes a pack from the index.
func (t *writeTx) dropPack(ctx context.Context, id int64) error {
	if err := t.run(ctx, "DELETE FROM grams WHERE rowid = ?", id); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM packs WHERE id = ?", id)
}
