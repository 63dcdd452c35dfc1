package storefile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bridged/internal/sqlite"
	"bridged/migrations"
)

// later returns the migrations of a later version: those of this one and two more.
func later(t *testing.T, second, third string) (fs.FS, []string) {
	t.Helper()
	all := fstest.MapFS{"9001_second.sql": {Data: []byte(second)}, "9002_third.sql": {Data: []byte(third)}}
	for _, name := range migrations.Names() {
		script, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: script}
	}
	return all, append(slices.Clone(migrations.Names()), "9001_second.sql", "9002_third.sql")
}

// aStore returns a store of this version that has something in it.
func aStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridged.db")
	if err := prepare(path); err != nil {
		t.Fatal(err)
	}
	onStore(t, path, func(c *sqlite.Conn) error {
		return c.Script("INSERT INTO settings (name, value) VALUES ('a', 'stored by the former version')")
	})
	return path
}

// prepare opens a store and closes it.
func prepare(path string) error {
	c, err := Open(path)
	if err != nil {
		return err
	}
	return c.Close()
}

// onStore connects to a store as the program does.
func onStore(t *testing.T, path string, f func(*sqlite.Conn) error) {
	t.Helper()
	c, err := sqlite.Open(path, WriterPragmas)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f(c), c.Close()); err != nil {
		t.Fatal(err)
	}
}

// state is what can be seen of a store: its schema, its version and what aStore has stored.
type state struct {
	schema  string
	version int
	value   string
}

func stateOf(t *testing.T, path string) (s state) {
	t.Helper()
	onStore(t, path, func(c *sqlite.Conn) error {
		return c.Use(t.Context(), func() {
			s.schema = strings.Join(sqlite.List[string](c, "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name"), ";\n")
			c.Find(Database.SchemaQuery, nil, &s.version)
			c.Find("SELECT value FROM settings WHERE name = 'a'", nil, &s.value)
		})
	})
	return s
}

// A later version brings a store up to date, with everything in it. This version then refuses it and
// says what to do.
func TestMigrate_OnlyForward(t *testing.T) {
	path := aStore(t)
	scripts, steps := later(t, "ALTER TABLE settings ADD COLUMN note TEXT", "UPDATE settings SET note = 'new'; CREATE TABLE more (id INTEGER PRIMARY KEY) -- the end")
	onStore(t, path, func(c *sqlite.Conn) error {
		return migrate(c, path, scripts, steps, len(migrations.Names()))
	})
	got := stateOf(t, path)
	if got.version != len(steps) || got.value != "stored by the former version" || !strings.Contains(got.schema, "CREATE TABLE more") {
		t.Errorf("after the upgrade: %d, %q", got.version, got.value)
	}
	err := prepare(path)
	if err == nil || !strings.Contains(err.Error(), "was written by a newer bridged") || !strings.Contains(err.Error(), "install that version again, or restore a backup") {
		t.Errorf("the former version: %v", err)
	}
	if after := stateOf(t, path); after != got {
		t.Errorf("the refusal changed the file: %+v", after)
	}
}

// If a step fails, nothing of those before it stays: the version that wrote the store still opens it.
func TestMigrate_AFailureChangesNothing(t *testing.T) {
	const fill = "CREATE TABLE filled AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT randomblob(4096) FROM n"
	for name, test := range map[string]struct{ third, limit, want string }{
		"a fault in a step": {third: "CREATE TABLE more (id); INSERT INTO nowhere VALUES (1)", want: "nowhere"},
		"a full disk":       {third: fill, limit: "PRAGMA max_page_count = 300", want: "disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			path := aStore(t)
			before := stateOf(t, path)
			scripts, steps := later(t, "ALTER TABLE settings ADD COLUMN note TEXT; UPDATE settings SET value = 'changed'", test.third)
			onStore(t, path, func(c *sqlite.Conn) error {
				if err := c.Script(test.limit); err != nil {
					return err
				}
				err := migrate(c, path, scripts, steps, len(migrations.Names()))
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "9002_third.sql; the file is unchanged") {
					t.Errorf("the error is %v", err)
				}
				return nil
			})
			if after := stateOf(t, path); after != before {
				t.Errorf("after the failure: %+v, before: %+v", after, before)
			}
			if err := prepare(path); err != nil {
				t.Errorf("the version that wrote it: %v", err)
			}
		})
	}
}
