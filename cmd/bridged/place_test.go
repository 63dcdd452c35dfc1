package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A directory has one place, whoever opens it; a copy of it has another.
func TestPlace_OfACopyIsAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	open := func(path string) (mark, lock string) {
		dir, err := openDataDir(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := dir.close(); err != nil {
				t.Error(err)
			}
		}()
		place, err := dir.place()
		if err != nil {
			t.Fatal(err)
		}
		return place.Mark, place.Lock
	}
	mark, lock := open(path)
	if again, sameLock := open(path); again != mark || sameLock != lock || mark == "" {
		t.Errorf("opened again: %s %s, before %s %s", again, sameLock, mark, lock)
	}
	other := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(other, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	if copied, copiedLock := open(other); copied == mark || lock != "" && copiedLock == lock {
		t.Errorf("a copy: %s %s, the original %s %s", copied, copiedLock, mark, lock)
	}
}
