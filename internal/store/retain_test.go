package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
	"bridged/internal/store/storefile"
)

func TestRetain_RemovesWhatIsOldAndKeepsTheRestTrue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 7)
	w.write(400)
	settle(t, w.s)
	w.write(60)
	w.transcribe(20)
	w.change(20)
	cut := at(pace * 60)
	kept := []posted{}
	for _, m := range w.list {
		if !m.ts.Before(cut.Time) {
			kept = append(kept, m)
		}
	}
	n, err := w.s.Retain(context.Background(), cut.Time)
	if err != nil || n != len(w.list)-len(kept) || n == 0 {
		t.Fatalf("removed %d of %d, want %d left: %v", n, len(w.list), len(kept), err)
	}
	w.list = kept
	for range 2 {
		for range 40 {
			w.ask()
			w.askPlain()
		}
		checkCounts(t, w.s)
		settle(t, w.s)
	}
	var left int
	err = w.s.Read(context.Background(), func(r *read.Snapshot) {
		r.Find(`SELECT (SELECT count(*) FROM blocks b WHERE NOT EXISTS
			(SELECT 1 FROM messages WHERE seq BETWEEN b.id * 32 AND b.id * 32 + 31))
			+ (SELECT count(*) FROM packs WHERE id >> 12 NOT IN (SELECT id FROM blocks))
			+ (SELECT count(*) FROM grams WHERE rowid NOT IN (SELECT id FROM packs))`, nil, &left)
	})
	if err != nil || left != 0 {
		t.Errorf("%d blocks are left of messages that are gone, %v", left, err)
	}
	if n, err := w.s.Retain(context.Background(), cut.Time); n != 0 || err != nil {
		t.Errorf("removed %d more, %v", n, err)
	}
}

func TestRetain_KeepsTheChat(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "old"))
	if n, err := s.Retain(context.Background(), at(2).Time); n != 1 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	c, err := s.Chat(context.Background(), alice)
	if err != nil || c.LastMessageAt != nil {
		t.Errorf("chat: %+v, %v", c, err)
	}
}

func TestCopy_IsCompleteWhileMessagesComeIn(t *testing.T) {
	t.Parallel()
	s := longHistory(t, 300)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		for i := 0; ; i++ {
			if err := s.Save(ctx, says(bob, bob, string(rune('a'+i%26))+at(i).String(), i, "meanwhile")); err != nil {
				ended <- err
				return
			}
		}
	}()
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := storefile.Copy(context.Background(), s.o.Path, path, true); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("saving: %v", err)
	}
	restored := openStore(t, path)
	checkSound(t, restored)
	checkCounts(t, restored)
	q := bridge.MessageQuery{Chat: club, Limit: 1000}
	sameList(t, "history", ids(messages(t, restored, q)), ids(messages(t, s, q)))
	sameList(t, "search", matchIDs(matchesOf(t, restored, bridge.SearchQuery{Q: "message 29"})), matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "message 29"})))
}

func TestNumbers_AreNeverGivenTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	ctx := context.Background()
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, says(alice, alice, "A1", 1, "old"), says(alice, alice, "A2", 2, "old"))
	last, err := s.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Retain(ctx, at(9).Time); n != 2 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	if n, err := s.PruneEvents(ctx, time.Now().Add(time.Hour), 0); n != 3 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	if got, err := s.LastEvent(ctx); got != last || err != nil {
		t.Errorf("last event %d, want %d: %v", got, last, err)
	}
	save(t, s, says(alice, alice, "A3", 3, "new"))
	var seq int64
	err = s.Read(ctx, func(r *read.Snapshot) { r.Find("SELECT seq FROM messages", nil, &seq) })
	if err != nil || seq != 3 {
		t.Errorf("seq %d, want 3: %v", seq, err)
	}
	sameList(t, "events", lines(events(t, s, read.EventQuery{After: last}).Events), []string{"4 message.created A3 new"})
}
