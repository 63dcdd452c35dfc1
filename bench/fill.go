package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// filledStore is a filled data directory.
type filledStore struct {
	corpus *corpus
	dir    string
	filled Filling
}

// Filling is the cost of filling a store. The seconds are zero if it was filled
// already.
type Filling struct {
	Messages int     `json:"messages"`
	Chats    int     `json:"chats"`
	Seconds  float64 `json:"seconds"`      // for writing
	Indexing float64 `json:"indexSeconds"` // after writing, until all is indexed
	Bytes    int64   `json:"bytes"`        // of the file
}

func (s *filledStore) file() string { return filepath.Join(s.dir, "bridged.db") }

// filled fills a store with messages, or reuses the one that an earlier run has
// kept in --dir.
func (b *bench) filled(ctx context.Context, messages, chats int) (*filledStore, error) {
	return b.filledIn(ctx, b.dir, messages, chats)
}

func (b *bench) filledIn(ctx context.Context, dir string, messages, chats int) (*filledStore, error) {
	dir = filepath.Join(dir, fmt.Sprintf("messages-%d-chats-%d-seed-%d", messages, chats, b.options.seed))
	if known := b.stores[dir]; known != nil {
		return known, nil
	}
	s := &filledStore{corpus: newCorpus(b.options.seed, messages, chats), dir: dir}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, s); err != nil {
		return nil, fmt.Errorf("fill a store: %w", err)
	}
	info, err := os.Stat(s.file())
	if err != nil {
		return nil, err
	}
	s.filled.Bytes, s.filled.Messages, s.filled.Chats = info.Size(), messages, chats
	b.report.Filled = append(b.report.Filled, s.filled)
	b.stores[dir] = s
	return s, nil
}

// forget removes a store whose content has changed since it was filled.
func (b *bench) forget(s *filledStore) error {
	delete(b.stores, s.dir)
	return os.RemoveAll(s.dir)
}

// fillName is the setting that counts the filled messages, so that an interrupted
// filling can be completed.
const fillName = "bench-filled"

func (b *bench) fill(ctx context.Context, s *filledStore) (err error) {
	into, err := store.Open(ctx, store.Options{Path: s.file(), Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, into.Close()) }()
	first, err := filledAlready(ctx, into)
	if err != nil {
		return err
	}
	if first == 0 {
		if err := saveAll(ctx, into, s.corpus.people()); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := b.fillFrom(ctx, into, s.corpus, first); err != nil {
		return err
	}
	complete := time.Now()
	if err := b.awaitIndex(ctx, into); err != nil {
		return err
	}
	if first < s.corpus.messages {
		s.filled.Seconds, s.filled.Indexing = complete.Sub(began).Seconds(), time.Since(complete).Seconds()
	}
	return nil
}

// filledAlready returns the number of messages that an earlier run has written.
func filledAlready(ctx context.Context, s *store.Store) (count int, err error) {
	written, err := s.Setting(ctx, fillName)
	if err != nil || written == "" {
		return 0, err
	}
	_, err = fmt.Sscan(written, &count)
	return count, err
}

func saveAll(ctx context.Context, into *store.Store, facts []bridge.Fact) error {
	for len(facts) > 0 {
		some := facts[:min(len(facts), fillBatch)]
		if err := into.Save(ctx, some...); err != nil {
			return err
		}
		facts = facts[len(some):]
	}
	return nil
}

// fillBatch is the number of messages in one transaction while filling. With one
// each, as they come from the network, each would wait for the disk.
const fillBatch = 1000

// fillFrom writes the messages from first on, and generates them concurrently.
func (b *bench) fillFrom(ctx context.Context, into *store.Store, c *corpus, first int) error {
	ctx, stop := context.WithCancel(ctx)
	batches := make(chan []bridge.Fact, 2)
	done := make(chan struct{})
	defer func() { stop(); <-done }()
	go func() {
		defer close(done)
		defer close(batches)
		for from := first; from < c.messages; from += fillBatch {
			var facts []bridge.Fact
			for i := from; i < min(from+fillBatch, c.messages); i++ {
				facts = append(facts, c.facts(i)...)
			}
			select {
			case batches <- facts:
			case <-ctx.Done():
				return
			}
		}
	}()
	bar := newProgress(b.progress, "filling", c.messages)
	defer bar.end()
	for facts := range batches {
		if err := into.Save(ctx, facts...); err != nil {
			return err
		}
		first = min(first+fillBatch, c.messages)
		if err := into.SetSetting(ctx, fillName, fmt.Sprint(first)); err != nil {
			return err
		}
		bar.show(first)
	}
	return ctx.Err()
}

// awaitIndex waits until the store has completed the index.
func (b *bench) awaitIndex(ctx context.Context, of *store.Store) error {
	var bar *progress
	for {
		done, total, err := of.Indexed(ctx)
		if err != nil {
			return err
		}
		if bar == nil {
			bar = newProgress(b.progress, "indexing", total)
			defer bar.end()
		}
		bar.show(done)
		if done == total {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// progress draws a progress bar.
type progress struct {
	w     io.Writer
	what  string
	total int
	began time.Time
	shown time.Time
	drawn bool
}

func newProgress(w io.Writer, what string, total int) *progress {
	if w == nil {
		w = io.Discard
	}
	return &progress{w: w, what: what, total: total, began: time.Now()}
}

const progressWidth = 40

func (p *progress) show(done int) {
	now := time.Now()
	if now.Sub(p.shown) < 200*time.Millisecond || p.total == 0 {
		return
	}
	p.shown, p.drawn = now, true
	full := progressWidth * done / p.total
	fmt.Fprintf(p.w, "\r%9s [%s%s] %d of %d, %s\033[K", p.what, strings.Repeat("█", full), strings.Repeat("·", progressWidth-full),
		done, p.total, now.Sub(p.began).Round(time.Second))
}

func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
