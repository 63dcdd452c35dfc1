package store

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
	"bridged/internal/store/storefile"
)

// addSession stores a session that was opened with a token.
func addSession(t *testing.T, s *Store, name string, token int64, remove ...int64) int64 {
	t.Helper()
	one := bridge.ConsoleSession{Hash: []byte("the hash of " + name), Token: token, Browser: name, Zone: "UTC", CreatedAt: at(1), UsedAt: at(1)}
	id, err := s.AddConsoleSession(t.Context(), one, remove)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// sessions returns the names of the stored sessions, and the token that they are bound to.
func sessions(t *testing.T, s *Store) (names []string, bound string) {
	t.Helper()
	all, bound, err := s.ConsoleSessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		names = append(names, one.Browser)
	}
	return names, bound
}

// A session goes with its token, and with the token that made that one; those of BRIDGE_TOKEN go with it.
func TestSessions_EndWithTheirTokens(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	token := func(name string, parent int64) int64 {
		t.Helper()
		made, err := s.AddToken(t.Context(), bridge.Token{Name: name, Hash: []byte("hash of " + name), Scopes: bridge.Scopes(), Parent: parent})
		if err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	desk, other, client := token("desk", 0), token("other", 0), token("client", 0)
	child := token("child", desk)
	if err := s.AddOAuthClient(t.Context(), bridge.OAuthClient{ID: "c", Name: "C", Redirects: []string{"https://c.example"}}, settings.OAuthLimits{Most: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddOAuthGrant(t.Context(), bridge.OAuthGrant{Token: client, Client: "c", CodeHash: []byte("code"), CodeEnds: at(9)}); err != nil {
		t.Fatal(err)
	}
	first := addSession(t, s, "first", 0)
	addSession(t, s, "of the desk", desk)
	addSession(t, s, "of its child", child)
	addSession(t, s, "of the other", other)
	addSession(t, s, "of a client", client)
	addSession(t, s, "second", 0, first)
	want := func(want ...string) {
		t.Helper()
		if got, _ := sessions(t, s); !slices.Equal(got, want) {
			t.Errorf("stored are %q, want %q", got, want)
		}
	}
	want("of the desk", "of its child", "of the other", "of a client", "second")
	all, _, err := s.ConsoleSessions(t.Context())
	if err != nil || string(all[0].TokenHash) != "hash of desk" || all[0].Token != desk || all[4].TokenHash != nil || all[4].Token != 0 {
		t.Errorf("the tokens of %+v, %v", all, err)
	}
	if _, err := s.RemoveToken(t.Context(), desk); err != nil {
		t.Fatal(err)
	}
	want("of the other", "of a client", "second")
	if err := s.RenewOAuthGrant(t.Context(), client, bridge.OAuthSecrets{Access: []byte("renewed"), AccessEnds: at(20), RefreshID: []byte("id"), RefreshHash: []byte("refresh")}); err != nil {
		t.Fatal(err)
	}
	want("of the other", "second")
	if err := s.BindConsoleSessions(t.Context(), "a hash of BRIDGE_TOKEN"); err != nil {
		t.Fatal(err)
	}
	want("of the other")
	if _, bound := sessions(t, s); bound != "a hash of BRIDGE_TOKEN" {
		t.Errorf("bound to %q", bound)
	}
	checkSound(t, s)
}

// No copy of the store has a session, or a hash of BRIDGE_TOKEN, also one that has secrets.
func TestSessions_AreNotInCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "bridged.db"))
	if err := s.BindConsoleSessions(t.Context(), "bound-to-this"); err != nil {
		t.Fatal(err)
	}
	addSession(t, s, "Firefox", 0)
	for name, secrets := range map[string]bool{"with.db": true, "without.db": false} {
		path := filepath.Join(dir, name)
		if err := storefile.Copy(t.Context(), filepath.Join(dir, "bridged.db"), path, secrets); err != nil {
			t.Fatal(err)
		}
		copied, err := os.ReadFile(path)
		if err != nil || len(copied) == 0 {
			t.Fatal(len(copied), err)
		}
		for _, erased := range []string{"bound-to-this", "the hash of Firefox"} {
			if bytes.Contains(copied, []byte(erased)) {
				t.Errorf("%s has %q", name, erased)
			}
		}
	}
}
