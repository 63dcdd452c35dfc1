package media

import (
	"sync"
	"sync/atomic"
)

const (
	chunkSize = 128 << 10 // bytes, a multiple of the block size
	// trailerSize is the most that can follow the whole blocks of a chunk: the padding
	// when encrypting, the last block and the MAC when decrypting.
	trailerSize = blockSize + macSize
	maxChunks   = 4 // of one stream in memory at a time
)

// chunk is a part of a stream, read by all workers at once.
type chunk struct {
	buf   [chunkSize + trailerSize]byte
	data  []byte // the part of buf that counts
	last  bool
	users atomic.Int32
}

// pipeline hands each chunk of a stream to several workers, which run in their own
// goroutines and see all chunks in order. Hashing a stream in several ways costs more
// than anything else here, and this spreads it over the processors: with two,
// BenchmarkDownload takes two thirds of the time that one goroutine takes.
type pipeline struct {
	free   chan *chunk
	queues []chan *chunk
	done   sync.WaitGroup
}

func newPipeline(workers ...func(*chunk)) *pipeline {
	p := &pipeline{free: make(chan *chunk, maxChunks)}
	for range maxChunks {
		p.free <- nil // allocated when first needed: most files are smaller
	}
	for _, work := range workers {
		queue := make(chan *chunk, maxChunks)
		p.queues = append(p.queues, queue)
		p.done.Go(func() {
			for c := range queue {
				work(c)
				p.release(c)
			}
		})
	}
	return p
}

// next waits for an unused chunk.
func (p *pipeline) next() *chunk {
	c := <-p.free
	if c == nil {
		c = new(chunk)
	}
	c.data, c.last = nil, false
	c.users.Store(int32(len(p.queues)))
	return c
}

// pass hands a filled chunk to the workers.
func (p *pipeline) pass(c *chunk) {
	for _, queue := range p.queues {
		queue <- c
	}
}

// release frees a chunk once every worker has seen it.
func (p *pipeline) release(c *chunk) {
	if c.users.Add(-1) == 0 {
		p.free <- c
	}
}

// close waits until the workers have seen everything.
func (p *pipeline) close() {
	for _, queue := range p.queues {
		close(queue)
	}
	p.done.Wait()
}

// hashing returns a worker that feeds a hash.
func hashing(h interface{ Write([]byte) (int, error) }) func(*chunk) {
	return func(c *chunk) { _, _ = h.Write(c.data) } // a hash never fails
}
