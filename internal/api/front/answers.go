package front

import (
	"context"
	"net/http"
	"time"

	"bridged/internal/intake"
)

const (
	// ListsBytes limits the memory of all lists that are being answered.
	ListsBytes = 36 << 20
	// answerTimeout limits how long a caller takes to read a chunk of an answer while others wait
	// for its memory.
	answerTimeout = 2 * time.Second
	// ChunkBytes is the size of a chunk.
	ChunkBytes = 32 << 10
)

// Answers limits the memory of answers that their callers read slowly: of all answers together, and
// of the answers to each token tree. Memory is reserved before an answer is made.
type Answers struct{ quota *intake.Quota }

// NewAnswers returns a limit of some number of bytes.
func NewAnswers(bytes int64) Answers {
	return Answers{intake.NewQuota(intake.Divide(bytes), answerTimeout, 1)}
}

// Answer returns the memory of an answer to a token tree, without a reservation. The caller must
// read each chunk within the given time.
func (a Answers) Answer(w http.ResponseWriter, tree int64, within time.Duration) *Memory {
	return &Memory{answers: a, w: w, tree: tree, within: within}
}

// Memory is the memory of one answer. One goroutine uses it at a time. A nil Memory has no
// reservation.
type Memory struct {
	answers  Answers
	w        http.ResponseWriter
	tree     int64
	within   time.Duration
	reserved *intake.Reservation
}

// Reserve releases the reservation, if there is one, and waits for another one of size bytes. It
// returns an error of ctx, or [intake.ErrTooLarge].
func (m *Memory) Reserve(ctx context.Context, size int64) (err error) {
	m.Release()
	if m.reserved, err = m.answers.quota.Take(ctx, m.tree, size, func() { StopAnswer(m.w) }); err == nil {
		m.reserved.Complete() // until something is written
	}
	return err
}

// Shrink reduces the reservation to size bytes.
func (m *Memory) Shrink(size int64) {
	if m != nil {
		m.reserved.Shrink(size)
	}
}

// Release releases the reservation. It may be called more than once.
func (m *Memory) Release() {
	if m != nil {
		m.reserved.Release()
		m.reserved = nil
	}
}

// Write writes a part of the answer in chunks. It fails if the caller does not read a chunk in time,
// which is shorter while others wait for the memory. The error is [intake.ErrTooSlow], or the
// connection's.
func (m *Memory) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		var written int
		written, err = m.writeChunk(p[:min(len(p), ChunkBytes)])
		n, p = n+written, p[written:]
	}
	return n, err
}

func (m *Memory) writeChunk(chunk []byte) (int, error) {
	SetDeadline(http.NewResponseController(m.w).SetWriteDeadline, m.within)
	m.reserved.Expect() // after the deadline is set, which StopAnswer moves
	if m.reserved.WasCancelled() {
		return 0, intake.ErrTooSlow
	}
	n, err := m.w.Write(chunk)
	if err == nil {
		m.reserved.Complete()
	}
	return n, err
}
