package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/storefile"
)

// NewFile returns the path of an empty store in a new directory.
func NewFile(t testing.TB) string {
	t.Helper()
	return empty.NewFile(t)
}

// Ensure writes an empty store to path, unless there is a file.
func Ensure(t testing.TB, path string) {
	t.Helper()
	empty.Ensure(t, path)
}

// empty is a store with an empty search index.
var empty = NewTemplate(func(path string) error {
	c, err := storefile.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(search.New(transactions{c}, search.Options{}).Prepare(context.Background()), c.Close())
})

// transactions runs the transactions of a search index on a connection.
type transactions struct{ *sqlite.Conn }

func (t transactions) View(ctx context.Context, f func(*sqlite.Conn)) error {
	return t.Conn.View(ctx, func() { f(t.Conn) })
}

func (t transactions) Update(_ context.Context, f func(*sqlite.Conn)) error {
	return t.Conn.Update(func() { f(t.Conn) })
}

// Template is a store that is copied into tests. Creating the schema takes longer than most tests, so it
// is created once per process.
type Template struct{ content func() ([]byte, error) }

// NewTemplate returns the template of the store that create writes to a path.
func NewTemplate(create func(path string) error) Template {
	return Template{content: sync.OnceValues(func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "storetest-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "bridged.db")
		if err := create(path); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	})}
}

// NewFile returns the path of a copy in a new directory.
func (s Template) NewFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridged.db")
	s.Ensure(t, path)
	return path
}

// Ensure writes a copy to path, unless there is a file.
func (s Template) Ensure(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	data, err := s.content()
	if err := errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}
