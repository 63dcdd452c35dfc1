package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"bridged/internal/bridge"
)

// TestReleaseMemory_GivesPagesBack: what a connection keeps of the database it
// need not read again, so that damage to the file shows whether it kept it.
func TestReleaseMemory_GivesPagesBack(t *testing.T) {
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	if err := s.writer.once("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	byAll := func(fails bool, when string) {
		for range s.nreaders {
			_, err := s.Message(t.Context(), alice, "A1")
			if unavailable := bridge.CodeOf(err) == bridge.CodeStorageUnavailable; unavailable != fails || (err != nil) != fails {
				t.Errorf("%s: error %v", when, err)
			}
		}
	}
	byAll(false, "before")
	overwrite(t, s.path)
	byAll(false, "with what is kept")
	if err := s.ReleaseMemory(t.Context()); err != nil {
		t.Fatal(err)
	}
	byAll(true, "when it is given back")
}

// TestConnections_KeepFewPages in KiB, as SQLite counts them with a minus.
func TestConnections_KeepFewPages(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "bridged.db"))
	var reader, writer int
	err := errors.Join(
		s.read(t.Context(), func(r *readTx) error { return r.scan(t.Context(), "PRAGMA cache_size", nil, &reader) }),
		s.write(t.Context(), func(ctx context.Context, w *writeTx) error {
			return w.scan(ctx, "PRAGMA cache_size", nil, &writer)
		}),
	)
	if err != nil || reader != -1024 || writer != -4096 {
		t.Errorf("readers keep %d, the writer %d, %v", reader, writer, err)
	}
}
