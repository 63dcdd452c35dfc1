package store

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

var releaseName = flag.String("release", "", "write the store of this release to testdata/releases")

// TestReleases_AreOpened: a store of each release, and of this version, is brought up to date, and
// what is in it is read and found. A new release adds its own with
//
//	go test ./internal/store -run TestReleases -release v1.2.3
func TestReleases_AreOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	fillRelease(t, path)
	scripts := map[string]string{"this version": dumpStore(t, path)}
	dir := filepath.Join("testdata", "releases")
	if *releaseName != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, *releaseName+".sql"), scripts["this version"])
	}
	releases, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range releases {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts[filepath.Base(file)] = string(script)
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bridged.db")
			write(t, path, "")
			run(t, path, script)
			checkRelease(t, openStore(t, path))
		})
	}
}

// fillRelease makes a store with something in most tables.
func fillRelease(t *testing.T, path string) {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: path, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	picture := says(alice, alice, "A2", 2, "a picture")
	picture.Media = &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Size: 7, Caption: "a picture"}
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Contact{JID: alice, Name: ptr("Alice"), Username: ptr("alice")},
		says(alice, alice, "A1", 1, "a text from an earlier release"), picture, iSay(alice, "A3", 3, "an answer"),
		bridge.ReactionChange{Chat: alice, Target: "A1", Sender: me, Emoji: "👍", Timestamp: at(4)},
		bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: me}, {JID: bob, IsAdmin: true}}},
		says(club, bob, "B1", 5, "in the club"), bridge.Edit{Chat: club, Target: "B2", Editor: bob, Timestamp: at(7), New: says(club, bob, "B2", 6, "edited")},
		rings(alice, "call", 8))
	save(t, s, voiceNote(bob, bob, "V1", 9), voiceNote(bob, bob, "V2", 10))
	for _, id := range []string{"V2", "V1"} {
		if err := s.AskTranscript(t.Context(), bob, id, false); err != nil {
			t.Fatal(err)
		}
	}
	keepTranscript(t, s, nextTry(t, s), bridge.NewTranscript("words of a note", "en", at(11).Time))
	if _, err := s.AddToken(t.Context(), bridge.Token{Name: "script", Hash: []byte("hash"), Scopes: []bridge.Scope{bridge.ScopeRead}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddWebhook(t.Context(), bridge.Webhook{URL: "https://example.com", Enabled: true, Source: "api"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkRelease checks what fillRelease has saved.
func checkRelease(t *testing.T, s *Store) {
	t.Helper()
	checkSound(t, s)
	checkCounts(t, s)
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"A1", "A2", "A3"})
	sameList(t, "search", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "earlier"})), []string{"A1"})
	if m := message(t, s, aliceLID, "A1"); len(m.Reactions) != 1 || m.PushName != "Alice" || *m.SenderUsername != "alice" {
		t.Errorf("a message: %+v", m)
	}
	if m := message(t, s, alice, "A2"); m.Media == nil || m.Media.Size != 7 {
		t.Errorf("a picture: %+v", m)
	}
	sameList(t, "found by the words of a note", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "OF A NOTE"})), []string{"V2"})
	sameList(t, "to be transcribed", waiting(t, s), []string{"V1"})
	save(t, s, says(club, bob, "B2", 6, "to be edited"))
	if m := message(t, s, club, "B2"); m.Content != "edited" {
		t.Errorf("a message whose edit was pending: %+v", m)
	}
	tokens, err := s.Tokens(t.Context())
	if err != nil || len(tokens) != 1 || tokens[0].Name != "script" {
		t.Errorf("tokens %+v, %v", tokens, err)
	}
	webhooks, err := s.Webhooks(t.Context())
	if err != nil || len(webhooks) != 1 || webhooks[0].URL != "https://example.com" {
		t.Errorf("webhooks %+v, %v", webhooks, err)
	}
	if got := calls(t, s, bridge.CallQuery{}); len(got) != 1 {
		t.Errorf("%d calls", len(got))
	}
}

// dumpStore returns a store as a script, without the search index: that is made anew.
func dumpStore(t *testing.T, path string) string {
	t.Helper()
	c, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var script strings.Builder
	err = c.Use(t.Context(), func() {
		for _, pragma := range []string{"application_id", "user_version"} {
			var number int64
			c.Find("PRAGMA "+pragma, nil, &number)
			fmt.Fprintf(&script, "PRAGMA %s = %d;\n", pragma, number)
		}
		const ours = " WHERE tbl_name NOT LIKE 'grams%' AND tbl_name NOT IN ('packs', 'blocks') AND tbl_name NOT LIKE 'sqlite_%' AND sql IS NOT NULL"
		for _, sql := range sqlite.List[string](c, "SELECT sql FROM sqlite_schema"+ours+" OR tbl_name = 'blocks' AND sql IS NOT NULL ORDER BY type = 'table' DESC, rowid") {
			script.WriteString(sql + ";\n")
		}
		for _, table := range sqlite.List[string](c, "SELECT name FROM sqlite_schema"+ours+" AND type = 'table' ORDER BY rowid") {
			columns := sqlite.List[string](c, "SELECT name FROM pragma_table_info(?)", table)
			names := strings.Join(columns, ", ")
			row := "quote(" + strings.Join(columns, ") || ', ' || quote(") + ")"
			for _, values := range sqlite.List[string](c, "SELECT "+row+" FROM "+table) {
				if !strings.Contains(values, "store.search_index") {
					fmt.Fprintf(&script, "INSERT INTO %s (%s) VALUES (%s);\n", table, names, values)
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return script.String()
}
