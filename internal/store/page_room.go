package store

import (
	"context"
	"errors"

	"bridged/internal/bridge"
)

// pageRoom counts the bytes of JSON that the elements of a page take, so that a
// page of long messages ends before it fills the memory. A nil one has no end.
type pageRoom struct {
	most, used int
	full       bool // an element was left out
}

func newPageRoom(most int) *pageRoom { return &pageRoom{most: most} }

// errPageFull ends the reading of a page that has no more room.
var errPageFull = errors.New("the page is full")

// takes reports whether the page takes one more element of a size. The first one
// always finds room: a page must get on.
func (p *pageRoom) takes(size int) bool {
	if p == nil {
		return true
	}
	if p.used > 0 && p.used+size > p.most {
		p.full = true
		return false
	}
	p.used += size
	return true
}

// What a reaction, a vote and an answer to an event add to a message that has been
// read without them.
const (
	reactionSize = 200
	voteSize     = 48
	// responsesSize is what an event's answers take where there are none.
	responsesSize = 80
)

// fits reports whether the page takes a message, whose reactions and answers have
// not been read yet.
func (r *readTx) fits(ctx context.Context, room *pageRoom, m *bridge.Message, row messageRow) (bool, error) {
	if room == nil {
		return true, nil
	}
	size := m.Size() + row.reactions*reactionSize
	if m.Poll != nil {
		var choices int
		err := r.scan(ctx, "SELECT ifnull(sum(length(hashes)), 0) / 32 FROM votes WHERE message = ?", []any{row.at.seq}, &choices)
		if err != nil {
			return false, err
		}
		size += choices * voteSize
	}
	if m.Event != nil {
		var answers int
		err := r.scan(ctx, "SELECT count(*) FROM event_responses WHERE message = ?", []any{row.at.seq}, &answers)
		if err != nil {
			return false, err
		}
		size += responsesSize + answers*voteSize
	}
	return room.takes(size), nil
}
