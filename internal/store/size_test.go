package store

import (
	"fmt"
	"os"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func TestSize_GrowsWithWhatIsStored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	size := func() read.Size {
		size, err := s.Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	empty := size()
	if empty.Log <= 0 || empty.Bytes < empty.Log {
		t.Errorf("empty: %+v", empty)
	}
	facts := make([]bridge.Fact, 2000)
	for i := range facts {
		facts[i] = says(alice, alice, fmt.Sprint("A", i), i, "hello")
	}
	save(t, s, facts...)
	if full := size(); full.Log <= empty.Log || full.Bytes-empty.Bytes <= full.Log-empty.Log {
		t.Errorf("empty %+v, with 2000 messages %+v", empty, full)
	}
}

// The write-ahead log is not what is stored: after it is written into the database, the
// size is as before, and that of the file.
func TestSize_IsThatOfTheFileWithoutItsLog(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	facts := make([]bridge.Fact, 500)
	for i := range facts {
		facts[i] = says(alice, alice, fmt.Sprint("A", i), i, "hello")
	}
	save(t, s, facts...)
	log, err := os.Stat(s.o.Path + "-wal")
	if err != nil || log.Size() == 0 {
		t.Fatalf("there is no log to leave out: %v", err)
	}
	before, err := s.FileSize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	onWriter(t, s, "PRAGMA wal_checkpoint(TRUNCATE)")
	after, err := s.FileSize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(s.o.Path)
	if err != nil {
		t.Fatal(err)
	}
	if before != after || after != file.Size() {
		t.Errorf("%d bytes with a log, %d without, %d in the file", before, after, file.Size())
	}
}
