package storetest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"bridged/internal/store/storefile"
)

// NewFile returns the path of an empty store in a new directory.
func NewFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridged.db")
	Ensure(t, path)
	return path
}

// Ensure writes an empty store to path, unless there is a file.
func Ensure(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	data, err := empty()
	if err := errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// empty returns the content of an empty store. Creating the schema takes longer than most tests,
// so it is created once per process.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "storetest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bridged.db")
	if err := storefile.Prepare(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
