package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"bridged/internal/folding"
	"bridged/internal/store/db"
)

const (
	// packBits bounds how many packs a block has: a pack's number is its block's,
	// one bit for groups and its place among those.
	packBits = 12
	groupBit = 1 << (packBits - 1)
	// packSize limits the messages of a pack. Fewer make a larger index,
	// and more a larger text to compare for every pack that the index names.
	packSize = 64
	// packBytes is the length of texts from which on a pack takes no more messages.
	packBytes = 4096
	// textEnd ends each text, so that nothing is found across two of them: UTF-8 has no
	// such byte.
	textEnd = 0xFF
)

// firstPack returns the lowest number that a pack of a block may have.
func firstPack(block int64) int64 { return block << packBits }

// packed is a message in a pack.
type packed struct{ seq, chat, timestamp int64 }

func (m packed) position() Position { return Position{m.timestamp, m.seq} }

// pack holds a pack as it is stored; a stale one has no texts.
type pack struct {
	id       int64
	messages []byte // what differs from the one before, in the order of packed's fields
	texts    []byte
	accents  []byte // of the texts ([folding.AppendAccents])
	last     packed // only while it is made
}

// enter adds a message behind the others.
func (p *pack) enter(m packed, text []byte) {
	for _, n := range []int64{m.seq - p.last.seq, m.chat - p.last.chat, m.timestamp - p.last.timestamp} {
		p.messages = binary.AppendVarint(p.messages, n)
	}
	p.texts = append(append(p.texts, text...), textEnd)
	p.last = m
}

var errPack = errors.New("a pack of the search index is not as it was written")

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

// bare returns the texts without accents; those that have some, in a buffer that is used again.
func (p pack) bare(c *db.Conn, buffer *[]byte) []byte {
	if len(p.accents) == 0 {
		return p.texts
	}
	var ok bool
	if *buffer, ok = folding.AppendStripped((*buffer)[:0], p.texts, p.accents); !ok {
		c.Fail(errPack)
	}
	return *buffer
}

// matching returns the messages whose text contains the needle. The texts are the pack's, or
// those without accents.
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

// packPlan says which messages a pack is to have.
type packPlan struct {
	id   int64
	seqs []int64
}

func (p packPlan) hasAny(seqs map[int64]bool) bool {
	return slices.ContainsFunc(p.seqs, func(seq int64) bool { return seqs[seq] })
}

// madePack holds a pack with its grams and the time range of its messages.
type madePack struct {
	pack
	oldest, newest int64
	grams          string
}

// readPacks makes packs of their messages as they are now, but none without any.
func readPacks(c *db.Conn, plans []packPlan) (made []madePack) {
	for _, plan := range plans {
		if p := readPack(c, plan); len(p.messages) > 0 {
			made = append(made, p)
		}
	}
	return made
}

// readPack makes a pack of its messages as they are now.
func readPack(c *db.Conn, plan packPlan) madePack {
	p, grams := madePack{pack: pack{id: plan.id}}, newGramSet()
	var bare []byte // those texts that have accents, without them
	for row := range c.Rows(`
		SELECT m.seq, m.chat, m.timestamp, `+textOf(false)+`, ifnull(m.bare, '')
		FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value`, c.Encode(plan.seqs)) {
		var m packed
		var text, without db.Raw
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
		bare = append(append(bare, without...), textEnd)
	}
	grams.enterBare(bare)
	p.accents, p.grams = folding.AppendAccents(nil, p.texts), grams.text.String()
	return p
}

func savePack(c *db.Conn, p madePack) {
	c.Run("INSERT INTO grams (rowid, words) VALUES (?, ?)", p.id, p.grams)
	c.Run("INSERT INTO packs (id, messages, texts, accents) VALUES (?, ?, ?, ?)", p.id, p.messages, p.texts, p.accents)
}

func dropPack(c *db.Conn, id int64) {
	c.Run("DELETE FROM grams WHERE rowid = ?", id)
	c.Run("DELETE FROM packs WHERE id = ?", id)
}

// dropPacks removes the packs of a range of numbers.
func dropPacks(c *db.Conn, from, to int64) {
	for _, id := range db.List[int64](c, "SELECT id FROM packs WHERE id >= ? AND id < ?", from, to) {
		dropPack(c, id)
	}
}
