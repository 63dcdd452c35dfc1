package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/sqlite"
	"bridged/internal/store/read"
)

// TestReleaseMemory_GivesPagesBack: what a connection keeps of the database it
// need not read again, so that damage to the file shows whether it kept it.
func TestReleaseMemory_GivesPagesBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	onWriter(t, s, "PRAGMA wal_checkpoint(TRUNCATE)")
	<-s.checked
	// All readers are held meanwhile, so that the background reads with none.
	failures := func() (n int) {
		for _, r := range allReaders(t, s) {
			var text string
			if err := r.Use(t.Context(), func() { r.Find("SELECT content FROM messages", nil, &text) }); err != nil {
				n++
			}
			s.readers.idle <- r
		}
		return n
	}
	// Nothing is written meanwhile: after a write every reader reads anew.
	err := s.write(t.Context(), func(*writeTx) {
		if n := failures(); n != 0 {
			t.Errorf("%d readers cannot read", n)
		}
		overwrite(t, s.o.Path)
		if n := failures(); n != 0 {
			t.Errorf("%d readers have not kept what they read", n)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	// One that the background uses just then keeps its pages.
	n := 0
	for range 1000 {
		if err := s.ReleaseMemory(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n = failures(); n == cap(s.readers.idle) {
			return
		}
	}
	t.Errorf("%d of %d readers have given their pages back", n, cap(s.readers.idle))
}

// allReaders takes all connections that read, and opens those that are not open yet.
func allReaders(t *testing.T, s *Store) (held []*sqlite.Conn) {
	t.Helper()
	for range cap(s.readers.idle) {
		r, err := s.reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, r)
	}
	return held
}

// TestReaders_AreOpenedWhenNeeded: reads at the same time open as many connections as the limit permits.
func TestReaders_AreOpenedWhenNeeded(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	<-s.checked
	open := func() int { return cap(s.readers.idle) - len(s.readers.unopened) }
	if n := open(); n == cap(s.readers.idle) {
		t.Errorf("%d connections are open before any is needed", n)
	}
	var nested func(n int) error
	nested = func(n int) (err error) {
		return errors.Join(s.Read(t.Context(), func(*read.Snapshot) {
			if n > 1 {
				err = nested(n - 1)
			}
		}), err)
	}
	if err := nested(cap(s.readers.idle)); err != nil || open() != cap(s.readers.idle) {
		t.Errorf("%d connections are open for %d reads, %v", open(), cap(s.readers.idle), err)
	}
}

// TestReaders_AreOfOneFile: no connection is opened to a file that has replaced the store's. Reads wait for a
// connection that is open.
func TestReaders_AreOfOneFile(t *testing.T) {
	t.Parallel()
	log := make(chan string, 16)
	s := openWith(t, Options{Path: empty.NewFile(t), Log: zerolog.New(lineWriter(log)).Level(zerolog.WarnLevel)})
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	<-s.checked
	var held []*sqlite.Conn
	for range cap(s.readers.idle) { // the index reads, too
		select {
		case c := <-s.readers.idle:
			held = append(held, c)
		case <-s.readers.unopened:
		}
	}
	other, err := os.ReadFile(empty.NewFile(t))
	if err := errors.Join(err, os.Rename(s.o.Path, s.o.Path+".away"), os.WriteFile(s.o.Path, other, 0o600)); err != nil {
		t.Fatal(err)
	}
	if len(held) == cap(s.readers.idle) {
		if err := held[0].Close(); err != nil {
			t.Error(err)
		}
		held = held[1:]
	}
	for range cap(s.readers.idle) - len(held) {
		s.readers.put(nil)
	}
	found := make(chan error)
	go func() {
		_, err := s.Message(context.Background(), alice, "A1")
		found <- err
	}()
	if line := <-log; !strings.Contains(line, "removed or replaced") {
		t.Errorf("the log has %s", line)
	}
	for _, r := range held {
		s.readers.put(r)
	}
	if err := <-found; err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(s.o.Path); err != nil || !bytes.Equal(now, other) {
		t.Errorf("the other file has changed, %v", err)
	}
	if err := os.Rename(s.o.Path+".away", s.o.Path); err != nil {
		t.Error(err)
	}
}

// lineWriter sends each line of a log.
type lineWriter chan<- string

func (l lineWriter) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestConnections_KeepFewPages in KiB, as SQLite counts them with a minus.
func TestConnections_KeepFewPages(t *testing.T) {
	t.Parallel()
	s := openStore(t, empty.NewFile(t))
	var reader, writer int
	err := errors.Join(
		s.Read(t.Context(), func(r *read.Snapshot) { r.Find("PRAGMA cache_size", nil, &reader) }),
		s.write(t.Context(), func(w *writeTx) {
			w.Find("PRAGMA cache_size", nil, &writer)
		}),
	)
	if err != nil || reader != -1024 || writer != -4096 {
		t.Errorf("readers keep %d, the writer %d, %v", reader, writer, err)
	}
}
