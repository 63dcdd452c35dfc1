package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"bridged/internal/folding"
	"bridged/internal/sqlite"
)

const (
	// packBits is the size of a pack's number within its block: one bit for groups and a counter.
	// The block's number comes before it.
	packBits = 12
	groupBit = 1 << (packBits - 1)
	// packSize is the most messages of a pack. Smaller packs make a larger index; larger ones
	// make searches compare longer texts for every pack that matches.
	packSize = 64
	// packBytes is the length of texts at which a pack is full.
	packBytes = 4096
	// textEnd ends each text, so that no match spans two texts. The byte does not occur in UTF-8.
	textEnd = 0xFF
)

// firstPack returns the lowest pack number of a block.
func firstPack(block int64) int64 { return block << packBits }

// packed is a message in a pack.
type packed struct{ seq, chat, timestamp int64 }

func (m packed) position() Position { return Position{m.timestamp, m.seq} }

// pack is a pack as it is stored. A stale pack has no texts.
type pack struct {
	id       int64
	messages []byte // varints of the fields of packed, each as the difference to the message before
	texts    []byte
	accents  []byte // accents of the texts ([folding.AppendAccents])
	last     packed // only used while the pack is built
}

// enter appends a message.
func (p *pack) enter(m packed, text []byte) {
	for _, n := range []int64{m.seq - p.last.seq, m.chat - p.last.chat, m.timestamp - p.last.timestamp} {
		p.messages = binary.AppendVarint(p.messages, n)
	}
	p.texts = append(append(p.texts, text...), textEnd)
	p.last = m
}

var errPack = errors.New("a pack of the search index is damaged")

// all returns the messages of a pack in order.
func (p pack) all() iter.Seq2[packed, error] {
	return func(yield func(packed, error) bool) {
		var m packed
		for rest := p.messages; len(rest) > 0; {
			var fields [3]int64
			for i := range fields {
				var size int
				if fields[i], size = binary.Varint(rest); size <= 0 {
					yield(m, errPack)
					return
				}
				rest = rest[size:]
			}
			m = packed{m.seq + fields[0], m.chat + fields[1], m.timestamp + fields[2]}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// stripped returns the texts without accents. If there are accents to strip, the result is in buffer,
// which is reused.
func (p pack) stripped(c *sqlite.Conn, buffer *[]byte) []byte {
	if len(p.accents) == 0 {
		return p.texts
	}
	var ok bool
	if *buffer, ok = folding.AppendStripped((*buffer)[:0], p.texts, p.accents); !ok {
		c.Fail(errPack)
	}
	return *buffer
}

// matching returns the messages whose text contains the needle. texts are the pack's texts or
// their accent-stripped form.
func (p pack) matching(texts, needle []byte) iter.Seq2[packed, error] {
	return func(yield func(packed, error) bool) {
		at, end := bytes.Index(texts, needle), 0
		if at < 0 {
			return
		}
		for m, err := range p.all() {
			length := bytes.IndexByte(texts[end:], textEnd)
			if err == nil && length < 0 {
				err = errPack
			}
			if err != nil {
				yield(m, err)
				return
			}
			if end += length + 1; at >= end {
				continue
			}
			if !yield(m, nil) {
				return
			}
			next := bytes.Index(texts[end:], needle)
			if next < 0 {
				return
			}
			at = end + next
		}
		yield(packed{}, errPack)
	}
}

// packPlan lists the messages of a pack.
type packPlan struct {
	id   int64
	seqs []int64
}

func (p packPlan) hasAny(seqs map[int64]bool) bool {
	return slices.ContainsFunc(p.seqs, func(seq int64) bool { return seqs[seq] })
}

// builtPack is a pack with its grams and the time range of its messages.
type builtPack struct {
	pack
	oldest, newest int64
	grams          string
}

// readPacks builds packs from the current messages. It leaves out packs without messages.
func readPacks(c *sqlite.Conn, plans []packPlan) (built []builtPack) {
	for _, plan := range plans {
		if p := readPack(c, plan); len(p.messages) > 0 {
			built = append(built, p)
		}
	}
	return built
}

// readPack builds a pack from the current messages.
func readPack(c *sqlite.Conn, plan packPlan) builtPack {
	p, grams := builtPack{pack: pack{id: plan.id}}, newGramSet()
	var stripped []byte // the accent-stripped texts
	for row := range c.Rows(`
		SELECT m.seq, m.chat, m.timestamp, `+textOf(false)+`, ifnull(m.bare, '')
		FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value`, c.Encode(plan.seqs)) {
		var m packed
		var text, without sqlite.Raw
		row.Scan(&m.seq, &m.chat, &m.timestamp, &text, &without)
		if len(p.messages) == 0 {
			p.oldest, p.newest = m.timestamp, m.timestamp
		}
		p.oldest, p.newest = min(p.oldest, m.timestamp), max(p.newest, m.timestamp)
		p.enter(m, text)
		for gram := range grams.grams(text) {
			grams.enter(gram)
		}
		grams.enter([]byte(chatWord(m.chat)))
		stripped = append(append(stripped, without...), textEnd)
	}
	grams.enterStripped(stripped)
	p.accents, p.grams = folding.AppendAccents(nil, p.texts), grams.text.String()
	return p
}

func savePack(c *sqlite.Conn, p builtPack) {
	c.Run("INSERT INTO grams (rowid, words) VALUES (?, ?)", p.id, p.grams)
	c.Run("INSERT INTO packs (id, messages, texts, accents) VALUES (?, ?, ?, ?)", p.id, p.messages, p.texts, p.accents)
}

func dropPack(c *sqlite.Conn, id int64) {
	c.Run("DELETE FROM grams WHERE rowid = ?", id)
	c.Run("DELETE FROM packs WHERE id = ?", id)
}

// dropPacks removes the packs from one pack number up to, but not including, another.
func dropPacks(c *sqlite.Conn, from, to int64) {
	for _, id := range sqlite.List[int64](c, "SELECT id FROM packs WHERE id >= ? AND id < ?", from, to) {
		dropPack(c, id)
	}
}
