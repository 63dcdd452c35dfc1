package store

import (
	"errors"
	"testing"

	"bridged/internal/sqlite"
	"bridged/internal/store/read"
	"bridged/internal/store/storetest"
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
		var held []*sqlite.Conn
		for range cap(s.readers) {
			held = append(held, <-s.readers)
		}
		for _, r := range held {
			var text string
			if err := r.Use(t.Context(), func() { r.Find("SELECT content FROM messages", nil, &text) }); err != nil {
				n++
			}
			s.readers <- r
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
		if n = failures(); n == cap(s.readers) {
			return
		}
	}
	t.Errorf("%d of %d readers have given their pages back", n, cap(s.readers))
}

// TestConnections_KeepFewPages in KiB, as SQLite counts them with a minus.
func TestConnections_KeepFewPages(t *testing.T) {
	t.Parallel()
	s := openStore(t, storetest.NewFile(t))
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
