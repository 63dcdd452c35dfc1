package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
)

// A block is some 2,000 consecutive arrivals. Its messages are sorted by chat,
// those of individual chats first, and cut into packs of a few dozen, whose
// folded texts stand one behind the other: a search compares them without
// looking a message up, and most of what a pack holds is of one chat.

const (
	// packBits bounds how many packs a block has: a pack's number is its block's,
	// one bit for groups and its place among those.
	packBits = 12
	// groupBit tells packs of groups from those of individual chats.
	groupBit = 1 << (packBits - 1)
	// packSize is how many messages a pack has at most. Fewer make a larger index,
	// and more a larger text to compare for every pack that the index names.
	packSize = 64
	// packBytes is the length of texts from which on a pack takes no more messages.
	packBytes = 4096
	// textEnd stands behind each text. UTF-8 has no such byte, so that nothing is
	// found across two texts.
	textEnd = 0xFF
)

// firstPack returns the lowest number that a pack of a block may have.
func firstPack(block int64) int64 { return block << packBits }

// packed is a message in a pack.
type packed struct {
	seq, chat, timestamp int64
	length               int // of its text
}

func (m packed) position() position { return position{m.timestamp, m.seq} }

// pack is a pack as it is stored. Without texts it is stale: what its messages
// say has changed since.
type pack struct {
	id       int64
	messages []byte // what differs from the one before, in the order of packed's fields
	texts    []byte
	last     packed // only while it is made
}

// enter adds a message behind the others.
func (p *pack) enter(m packed, text []byte) {
	m.length = len(text)
	for _, n := range []int64{m.seq - p.last.seq, m.chat - p.last.chat, m.timestamp - p.last.timestamp, int64(m.length)} {
		p.messages = binary.AppendVarint(p.messages, n)
	}
	p.texts = append(append(p.texts, text...), textEnd)
	p.last = m
}

// errPack is about a pack that cannot be read: the index is damaged.
var errPack = errors.New("a pack of the search index is not as it was written")

// all returns the messages of a pack in order.
func (p pack) all() iter.Seq2[packed, error] {
	return func(yield func(packed, error) bool) {
		var m packed
		for rest := p.messages; len(rest) > 0; {
			var fields [4]int64
			for i := range fields {
				var size int
				if fields[i], size = binary.Varint(rest); size <= 0 {
					yield(m, errPack)
					return
				}
				rest = rest[size:]
			}
			m = packed{m.seq + fields[0], m.chat + fields[1], m.timestamp + fields[2], int(fields[3])}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// matching returns the messages whose text contains the needle.
func (p pack) matching(needle []byte) iter.Seq2[packed, error] {
	return func(yield func(packed, error) bool) {
		at := bytes.Index(p.texts, needle)
		if at < 0 {
			return
		}
		end := 0
		for m, err := range p.all() {
			end += m.length + 1
			if err == nil && (m.length < 0 || end > len(p.texts)) {
				err = errPack
			}
			if err != nil {
				yield(m, err)
				return
			}
			if at >= end {
				continue
			}
			if !yield(m, nil) {
				return
			}
			next := bytes.Index(p.texts[end:], needle)
			if next < 0 {
				return
			}
			at = end + next
		}
	}
}
