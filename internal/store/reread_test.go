package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// rereads is what the tests read of protobufs: parts of every message whose
// protobuf says so, and more text.
func rereads(raw []byte) (bridge.Message, bool) {
	switch text := string(raw); text {
	case "no protobuf":
		return bridge.Message{}, false
	case "text":
		return bridge.Message{Parts: bridge.Parts{LinkPreview: &bridge.LinkPreview{URL: "https://example.com"}}, IsForwarded: true}, true
	case "template":
		return bridge.Message{Content: "Title\nBody\nFooter", Parts: partsOf("new"),
			Media: &bridge.Media{Type: bridge.MediaImage, MimeType: "image/png", Ref: bridge.MediaRef{DirectPath: "/header"}}}, true
	case "picture":
		return bridge.Message{Content: "caption", Media: &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{DirectPath: "/old"}}}, true
	}
	return bridge.Message{}, true
}

// leftByEarlier makes a store as an earlier version left it.
func leftByEarlier(t *testing.T, facts ...bridge.Fact) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "bridged.db")
	s, err := Open(t.Context(), Options{Path: path, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, facts...)
	err = s.write(t.Context(), func(ctx context.Context, w *writeTx) error {
		return w.run(ctx, "DELETE FROM settings WHERE name = ?", settingReread)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// reopened is the store at path, opened by this version, when it has read
// everything anew.
func reopened(t *testing.T, path string) *Store {
	t.Helper()
	s := openWith(t, Options{Path: path, Log: zerolog.Nop(), Reread: rereads})
	select {
	case <-s.reread:
	case <-time.After(30 * time.Second):
		t.Fatal("messages are not read anew")
	}
	return s
}

func stored(id string, seconds int, content, raw string) bridge.Message {
	m := says(alice, alice, id, seconds, content)
	m.Raw = []byte(raw)
	return m
}

func TestReread_MessagesOfEarlierVersionsShowWhatIsReadNow(t *testing.T) {
	picture := stored("P", 3, "caption", "picture")
	picture.Media = &bridge.Media{Type: bridge.MediaImage, MimeType: "image/png", Ref: bridge.MediaRef{DirectPath: "/moved"}}
	timed := stored("E", 4, "gone soon", "else")
	timed.ContextInfo, timed.Expiration = &bridge.ContextInfo{QuotedMsgID: ptr("T")}, 0
	facts := []bridge.Fact{
		stored("T", 1, "my own words", "text"), stored("B", 2, "Body", "template"), picture, timed,
		stored("N", 5, "as it was", "no protobuf"), stored("D", 6, "regretted", "template"),
		bridge.Deletion{Chat: alice, Target: "D", By: alice, Timestamp: at(7)},
	}
	for i := range 2 * rereadBatch {
		facts = append(facts, stored(fmt.Sprintf("M%d", i), 10+i, "between", "else"))
	}
	facts = append(facts, stored("L", 5000, "", "template"))
	s := reopened(t, leftByEarlier(t, facts...))

	text := message(t, s, alice, "T")
	if text.Content != "my own words" || !text.IsForwarded || text.LinkPreview == nil {
		t.Errorf("a text: %+v", text)
	}
	for _, id := range []string{"B", "L"} {
		template := message(t, s, alice, id)
		if diff := cmp.Diff(partsOf("new"), template.Parts); diff != "" || template.Content != "Title\nBody\nFooter" || template.Media == nil || template.Media.Ref.DirectPath != "/header" {
			t.Errorf("template %s: %+v %s", id, template, diff)
		}
	}
	if got := message(t, s, alice, "P"); got.Media.Ref.DirectPath != "/moved" || got.Media.MimeType != "image/png" {
		t.Errorf("a picture that was uploaded again: %+v", got.Media)
	}
	if got := message(t, s, alice, "E"); got.ContextInfo == nil || *got.ContextInfo.QuotedMsgID != "T" {
		t.Errorf("an answer: %+v", got.ContextInfo)
	}
	if got := message(t, s, alice, "N"); got.Content != "as it was" {
		t.Errorf("what cannot be read shows %q", got.Content)
	}
	if got := message(t, s, alice, "D"); got.DeletedAt == nil || got.Content != "" || !got.Parts.IsZero() {
		t.Errorf("a deleted message shows %+v", got)
	}
	settle(t, s)
	sameList(t, "found by the new words", matchIDs(search(t, s, bridge.SearchQuery{Q: "footer"})), []string{"L", "B"})
	if value, err := s.Setting(t.Context(), settingReread); err != nil || value != rereadDone {
		t.Errorf("the setting is %q, %v", value, err)
	}
}

// TestReread_TakesUpWhereItWasInterrupted, and tells nobody: nothing has
// happened to the messages.
func TestReread_TakesUpWhereItWasInterrupted(t *testing.T) {
	path := leftByEarlier(t, stored("A", 1, "Body", "template"), stored("B", 2, "Body", "template"))
	s, err := Open(t.Context(), Options{Path: path, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	before := len(logged(t, s))
	first := int64(0)
	err = s.read(t.Context(), func(r *readTx) error {
		return r.scan(t.Context(), "SELECT arrival FROM messages WHERE id = 'A'", nil, &first)
	})
	if err == nil {
		err = s.SetSetting(t.Context(), settingReread, fmt.Sprint(first))
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s = reopened(t, path)
	if a, b := message(t, s, alice, "A"), message(t, s, alice, "B"); a.Content != "Body" || b.Content != "Title\nBody\nFooter" {
		t.Errorf("read anew: %q, %q", a.Content, b.Content)
	}
	if now := len(logged(t, s)); now != before {
		t.Errorf("%d events were appended", now-before)
	}
}

// TestReread_LeavesWhatChangedMeanwhile to the change.
func TestReread_LeavesWhatChangedMeanwhile(t *testing.T) {
	s := newStore(t)
	save(t, s, stored("A", 1, "Body", "template"))
	rows, err := s.rowsToReread(t.Context(), 0, 1<<40)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	save(t, s, bridge.Edit{Chat: alice, Target: "A", Editor: alice, Timestamp: at(2), New: stored("A", 2, "Edited", "else")})
	err = s.write(t.Context(), func(ctx context.Context, w *writeTx) error {
		for _, c := range s.rereadRows(rows, rereads) {
			if err := w.saveReread(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if got := message(t, s, alice, "A"); err != nil || got.Content != "Edited" || !got.Parts.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}
