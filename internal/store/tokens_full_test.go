package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
)

// fullDisk is SQLite's error of a full disk.
type fullDisk struct{}

func (fullDisk) Error() string { return "database or disk is full" }
func (fullDisk) Code() int     { return 13 } // SQLITE_FULL

// TestTokens_AreRevokedOnAFullDisk with the space that is reserved for that. Logging out uses it, too.
func TestTokens_AreRevokedOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spare := &dbfile.Spare{Path: filepath.Join(dir, "spare")}
	if err := spare.Fill(); err != nil {
		t.Fatal(err)
	}
	isFull := false
	s, err := Open(t.Context(), Options{Path: filepath.Join(dir, "bridged.db"), Log: zerolog.Nop(), Spare: spare, BeforeCommit: func() error {
		if _, err := os.Stat(spare.Path); isFull && err == nil {
			return fullDisk{}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var made bridge.Token
	for i := range 2 {
		if made, err = s.AddToken(t.Context(), bridge.Token{Name: "script", Hash: []byte{byte(i)}, Scopes: []bridge.Scope{bridge.ScopeRead}}); err != nil {
			t.Fatal(err)
		}
	}
	session := addSession(t, s, "Firefox", 0)
	isFull = true
	if removed, err := s.RemoveToken(t.Context(), made.ID); err != nil || len(removed.Tokens) != 1 {
		t.Errorf("%v: %+v", err, removed)
	}
	if tokens, err := s.Tokens(t.Context()); err != nil || len(tokens) != 1 {
		t.Errorf("%v: %+v", err, tokens)
	}
	isFull = false
	if err := spare.Fill(); err != nil {
		t.Fatal(err)
	}
	isFull = true
	if err := s.RemoveConsoleSessions(t.Context(), []int64{session}); err != nil {
		t.Error(err)
	}
	if names, _ := sessions(t, s); len(names) != 0 {
		t.Errorf("%q are stored", names)
	}
}
