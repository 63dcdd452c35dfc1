package front

import (
	"context"
	"net/http"
	"time"

	"bridged/internal/intake"
)

const (
	// listsBytes bounds the memory that all lists hold together while they are answered.
	listsBytes = 36 << 20
	// listTimeout limits how long a caller takes to read a piece of a list while others wait
	// for its reservation.
	listTimeout = 2 * time.Second
	// ListPiece is the size of a piece, in bytes.
	ListPiece = 32 << 10
)

// Lists bounds the memory of lists whose callers do not read them: of all together, and of each
// token tree. What memory holds of a list is reserved before it is read from the store.
type Lists struct{ quota *intake.Quota }

// NewLists returns a bound of 36 MiB.
func NewLists() Lists {
	return Lists{intake.NewQuota(intake.Divide(listsBytes), listTimeout, 1)}
}

// Answer returns the memory of an answer to a token tree, of which nothing is reserved yet. The
// caller of the answer must read each piece within a time.
func (l Lists) Answer(w http.ResponseWriter, tree int64, within time.Duration) *Memory {
	return &Memory{lists: l, w: w, tree: tree, within: within}
}

// Memory is the memory that one answer holds. One goroutine uses it at a time. Nil is that of an
// answer that reserves nothing.
type Memory struct {
	lists    Lists
	w        http.ResponseWriter
	tree     int64
	within   time.Duration
	reserved *intake.Grant
}

// Reserve waits until there is room for so many bytes, in place of those that were reserved
// before. The errors are those of ctx, and [intake.ErrTooLarge].
func (m *Memory) Reserve(ctx context.Context, size int64) (err error) {
	m.Release()
	if m.reserved, err = m.lists.quota.Take(ctx, m.tree, size, func() { StopAnswer(m.w) }); err == nil {
		m.reserved.Whole() // until something is written
	}
	return err
}

// Shrink returns what is reserved beyond so many bytes.
func (m *Memory) Shrink(size int64) {
	if m != nil {
		m.reserved.Shrink(size)
	}
}

// Release returns what is reserved. It may be called more than once.
func (m *Memory) Release() {
	if m != nil {
		m.reserved.Release()
		m.reserved = nil
	}
}

// Write writes a part of the answer, piece by piece. A caller that does not read a piece in
// time, which is less while others wait for the memory, gets no more: the error is
// [intake.ErrCut], or that of the connection.
func (m *Memory) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		var written int
		written, err = m.writePiece(p[:min(len(p), ListPiece)])
		n, p = n+written, p[written:]
	}
	return n, err
}

func (m *Memory) writePiece(piece []byte) (int, error) {
	SetDeadline(http.NewResponseController(m.w).SetWriteDeadline, m.within)
	m.reserved.Await() // after the deadline is set, which StopAnswer moves
	if m.reserved.WasCut() {
		return 0, intake.ErrCut
	}
	n, err := m.w.Write(piece)
	if err == nil {
		m.reserved.Whole()
	}
	return n, err
}
