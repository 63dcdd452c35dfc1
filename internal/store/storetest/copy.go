package storetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// template holds the file of an empty store, made once for the process.
var template struct {
	once sync.Once
	file []byte
	err  error
}

// New returns the path of a new, empty store in a directory of the test's own.
// See [Place].
func New(t testing.TB, create func(path string) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridged.db")
	Place(t, path, create)
	return path
}

// Place puts a new, empty store at path, unless something is there. It is a copy
// of one that create makes and closes: the migrations take longer than most
// tests.
func Place(t testing.TB, path string, create func(path string) error) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	template.once.Do(func() { template.file, template.err = read(create) })
	if template.err != nil {
		t.Fatalf("make an empty store: %v", template.err)
	}
	if err := os.WriteFile(path, template.file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// read returns what create writes.
func read(create func(path string) error) ([]byte, error) {
	dir, err := os.MkdirTemp("", "bridged-store-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bridged.db")
	if err := create(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
