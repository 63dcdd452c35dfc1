package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"bridged/internal/fleet"
)

// placeOf returns the place of a directory.
func placeOf(t *testing.T, path string) fleet.Place {
	t.Helper()
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
	return place
}

// A directory has one place, whoever opens it; a copy of it has another, for good.
func TestPlace_OfACopyIsAnother(t *testing.T) {
	path, other := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "data")
	place := placeOf(t, path)
	if again := placeOf(t, path); again != place || place.Mark == "" {
		t.Errorf("opened again: %+v, before %+v", again, place)
	}
	if err := os.CopyFS(other, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	copied := placeOf(t, other)
	if copied.Mark == place.Mark || place.Lock != "" && copied.Lock == place.Lock {
		t.Errorf("a copy: %+v, the original %+v", copied, place)
	}
	if again := placeOf(t, other); again != copied {
		t.Errorf("the copy opened again: %+v, before %+v", again, copied)
	}
}

// Two new file systems give the same inode to the lock files of a directory and of its
// copy, which were made at different times.
func TestPlace_OfACopyWithTheSameInode(t *testing.T) {
	path, id := filepath.Join(t.TempDir(), "data"), ""
	place := placeOf(t, path)
	file := filepath.Join(path, "fleet.id")
	rewrite := func(change func(*origin)) {
		var o origin
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		id = o.ID
		change(&o)
		if data, err = json.Marshal(o); err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	isKnown := false
	rewrite(func(o *origin) { isKnown, o.Born = o.Born != 0, 0 })
	if again := placeOf(t, path); again != place || id != place.Mark {
		t.Errorf("where the time was not known: %+v, before %+v", again, place)
	}
	if !isKnown {
		t.Skip("this file system does not tell when files were made")
	}
	rewrite(func(o *origin) { o.Born = 1 })
	if copied := placeOf(t, path); copied.Mark == place.Mark {
		t.Error("it goes for the original")
	}
}
