package media

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

const (
	chunkSize = 128 << 10 // bytes of a piece, a multiple of the block size
	slack     = blockSize + macSize
	pieces    = 4 // of one stream at a time: the memory that it takes
)

// piece is a part of a stream, read by all lanes at once.
type piece struct {
	buf   [chunkSize + slack]byte
	data  []byte // the part of buf that counts
	last  bool
	users atomic.Int32
}

// lanes give each piece of a stream to several workers, each of which sees all
// pieces in order in a goroutine of its own. Hashing one stream in several ways
// costs more than anything else here, and this spreads it over the processors.
type lanes struct {
	free   chan *piece
	queues []chan *piece
	done   sync.WaitGroup
}

func newLanes(work ...func(*piece)) *lanes {
	l := &lanes{free: make(chan *piece, pieces)}
	for range pieces {
		l.free <- nil // made when first needed: most files are smaller
	}
	for _, do := range work {
		queue := make(chan *piece, pieces)
		l.queues = append(l.queues, queue)
		l.done.Go(func() {
			for p := range queue {
				do(p)
				l.release(p)
			}
		})
	}
	return l
}

// next waits for an unused piece.
func (l *lanes) next() *piece {
	p := <-l.free
	if p == nil {
		p = new(piece)
	}
	p.data, p.last = nil, false
	p.users.Store(int32(len(l.queues)))
	return p
}

// pass hands a filled piece to the workers.
func (l *lanes) pass(p *piece) {
	for _, queue := range l.queues {
		queue <- p
	}
}

func (l *lanes) release(p *piece) {
	if p.users.Add(-1) == 0 {
		l.free <- p
	}
}

// close waits until the workers have seen everything.
func (l *lanes) close() {
	for _, queue := range l.queues {
		close(queue)
	}
	l.done.Wait()
}

// hashing is the worker that hashes.
func hashing(h interface{ Write([]byte) (int, error) }) func(*piece) {
	return func(p *piece) { h.Write(p.data) } // a hash never fails
}

// fill reads until b is full or src has ended. It is not [io.ReadFull], which
// cannot tell an end from a connection that broke off: both are
// [io.ErrUnexpectedEOF] there.
func fill(b []byte, src io.Reader) (n int, ended bool, err error) {
	for n < len(b) {
		read, err := src.Read(b[n:])
		n += read
		if errors.Is(err, io.EOF) {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}
