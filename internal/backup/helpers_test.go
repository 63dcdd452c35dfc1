package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

const grace = bridge.JID("15557654321@s.whatsapp.net")

// dataDir is the data directory of a bridge.
type dataDir struct {
	t    testing.TB
	path string
}

// newDataDir returns a data directory with a store that has a message and a token.
func newDataDir(t testing.TB, messages ...string) dataDir {
	t.Helper()
	d := dataDir{t, t.TempDir()}
	storetest.Ensure(t, d.file(storeName))
	d.do(os.Mkdir(d.file("tmp"), 0o700))
	d.with(func(s *store.Store) {
		if _, err := s.AddToken(t.Context(), bridge.Token{Name: "reader", Hash: []byte("the hash of a token"), Scopes: bridge.Scopes()}); err != nil {
			t.Fatal(err)
		}
	})
	d.say(messages...)
	return d
}

func (d dataDir) file(name string) string { return filepath.Join(d.path, name) }

func (d dataDir) source() Source { return Source{DataDir: d.path} }

func (d dataDir) do(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// with opens the store.
func (d dataDir) with(use func(s *store.Store)) {
	d.t.Helper()
	s, err := store.Open(d.t.Context(), store.Options{Path: d.file(storeName), Log: zerolog.Nop()})
	d.do(err)
	use(s)
	d.do(s.Close())
}

// say stores messages.
func (d dataDir) say(texts ...string) {
	d.t.Helper()
	d.with(func(s *store.Store) { say(d.t, s, texts...) })
}

func say(t testing.TB, s *store.Store, texts ...string) {
	t.Helper()
	for _, text := range texts {
		m := bridge.Message{Chat: grace, ID: "ID-" + text, SenderJID: grace, MessageType: "conversation", Content: text, Timestamp: bridge.At(time.Now())}
		if err := s.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// says returns the messages of the store, the oldest first.
func (d dataDir) says() (texts []string) {
	d.t.Helper()
	d.with(func(s *store.Store) {
		page, err := s.Messages(d.t.Context(), bridge.MessageQuery{Chat: grace, Limit: 100})
		d.do(err)
		for _, m := range page.Items {
			texts = append([]string{m.Content}, texts...)
		}
	})
	return texts
}

// imports adds the imported file of a message.
func (d dataDir) imports(text, data string) string {
	d.t.Helper()
	sum := sha256.Sum256([]byte(data))
	name := hex.EncodeToString(sum[:])
	d.do(os.MkdirAll(d.file(importedName), 0o700))
	d.do(os.WriteFile(filepath.Join(d.file(importedName), name), []byte(data), 0o600))
	c, err := sqlite.Open(d.file(storeName), []string{"busy_timeout(5000)"})
	d.do(err)
	d.do(c.Update(func() {
		c.Run("INSERT INTO kept_files (message, sha256) SELECT seq, ? FROM messages WHERE content = ?", sum[:], text)
	}))
	d.do(c.Close())
	return name
}

// restores restores a file and returns what it says.
func (d dataDir) restores(path string) (Restored, error) {
	d.t.Helper()
	file, err := os.Open(path)
	d.do(err)
	defer file.Close()
	return Restore(d.t.Context(), Target{DataDir: d.path, TempDir: d.file("tmp"), Now: time.Now()}, file, path)
}

// names returns the names in a directory.
func names(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// writeFile writes a file for a test.
func writeFile(t testing.TB, path, data string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}
