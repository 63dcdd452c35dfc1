package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/longtest"
	"bridged/internal/store/read"
)

// erased waits until a store has worked off its deletions. On a slow disk that takes
// long: merging may take a fiftieth of the time only.
func erased(t *testing.T, s *Store) {
	t.Helper()
	deadline := time.NewTimer(5 * time.Minute)
	defer deadline.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		pending, err := s.Setting(context.Background(), settingErasing)
		if err != nil {
			t.Fatal(err)
		}
		if pending == "" {
			return
		}
		select {
		case <-deadline.C:
			t.Fatal("deletions are not worked off")
		case <-ticker.C:
		}
	}
}

// onDisk returns which of some words stand in the files of a store.
func onDisk(t *testing.T, s *Store, words ...string) (found []string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(s.o.Path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, word := range words {
			if bytes.Contains(data, []byte(word)) {
				found = append(found, fmt.Sprintf("%q in bridged.db%s", word, suffix))
			}
		}
	}
	return found
}

func gone(t *testing.T, s *Store, words ...string) {
	t.Helper()
	for _, found := range onDisk(t, s, words...) {
		t.Errorf("deleted, but on the disk: %s", found)
	}
}

// secretMessage has a word of its own in each of its parts. The first letter
// of the text stands nowhere else, so that its grams in the index are whole.
func secretMessage(id string, seconds int) (m bridge.Message, words []string) {
	m = says(alice, alice, id, seconds, "ꙮꙮꙮ content-of-"+id+strings.Repeat(" and more", 700))
	m.Raw = []byte("protobuf-of-" + id + strings.Repeat(" and more", 1000))
	m.MessageType = "documentMessage"
	m.Media = &bridge.Media{
		Type: bridge.MediaDocument, FileName: "name-of-" + id, Caption: "caption-of-" + id,
		Ref: bridge.MediaRef{DirectPath: "/path-of-" + id, MediaKey: []byte("key")},
	}
	return m, []string{"content-of-" + id, "protobuf-of-" + id, "name-of-" + id, "caption-of-" + id}
}

func TestDeletion_LeavesNothingOnTheDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m, words := secretMessage("A1", 1)
	save(t, s, m)
	for i := range 100 {
		save(t, s, says(alice, alice, fmt.Sprintf("B%d", i), 2+i, "something else"))
	}
	settle(t, s)
	words = append(words, "ꙮ")
	if found := onDisk(t, s, words...); len(found) < len(words) {
		t.Fatalf("the test does not look where the words are: found only %v", found)
	}
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(200)})
	erased(t, s)
	gone(t, s, words...)
	checkSound(t, s)
	sameList(t, "what is left is found", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "something else", Limit: 3})), []string{"B99", "B98", "B97"})
}

// TestEdit_LeavesNothingOnTheDisk of what was edited away: it may have been a
// secret.
func TestEdit_LeavesNothingOnTheDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	before := says(alice, alice, "A1", 1, "ꙮꙮꙮ the-password wïth-accents"+strings.Repeat(" and more", 700))
	before.Raw = []byte("protobuf-with-it" + strings.Repeat(" and more", 1000))
	save(t, s, before)
	for i := range 100 {
		save(t, s, says(alice, alice, fmt.Sprintf("B%d", i), 2+i, "something else"))
	}
	settle(t, s)
	words := []string{"the-password", "protobuf-with-it", "ꙮ", "wïth-accents", "with-accents"}
	if found := onDisk(t, s, words...); len(found) < len(words) {
		t.Fatalf("the test does not look where the words are: found only %v", found)
	}
	save(t, s, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(200), New: says(alice, alice, "A1", 200, "harmless")})
	erased(t, s)
	gone(t, s, words...)
	sameList(t, "found", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "harmless"})), []string{"A1"})
}

func TestRetain_LeavesNothingOnTheDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var words []string
	for i := range 200 {
		m, more := secretMessage(fmt.Sprintf("A%03d.", i), i)
		words = append(words, more...)
		save(t, s, m)
	}
	settle(t, s)
	if n, err := s.Retain(t.Context(), at(150).Time); err != nil || n != 150 {
		t.Fatalf("removed %d, %v", n, err)
	}
	erased(t, s)
	gone(t, s, words[:150*4]...)
	if found := onDisk(t, s, words[150*4:]...); len(found) < 50*4 {
		t.Errorf("what is kept is there only in part: %d of %d", len(found), 50*4)
	}
}

// TestDeletion_UnderTraffic deletes at random among messages of all sizes that
// come, grow and shrink: pages are split, merged and freed.
func TestDeletion_UnderTraffic(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := newStore(t)
	live, dead := map[string]bool{}, []string{}
	for i := range longtest.Else(300, 1500) {
		id := fmt.Sprintf("M%05d.", i)
		text := "text-of-" + id + strings.Repeat("x", random.IntN(1+random.IntN(6000)))
		m := says([]bridge.JID{alice, bob, carol}[i%3], alice, id, i, text)
		m.Raw = []byte("raw-of-" + id + strings.Repeat("y", random.IntN(1+random.IntN(9000))))
		save(t, s, m)
		live[id] = true
		for old := range live {
			if random.IntN(3) == 0 {
				n := 0
				fmt.Sscanf(old, "M%05d.", &n)
				chat := []bridge.JID{alice, bob, carol}[n%3]
				save(t, s, bridge.Deletion{Chat: chat, Target: old, By: alice, Timestamp: at(5000)})
				delete(live, old)
				dead = append(dead, "text-of-"+old, "raw-of-"+old)
			}
			break
		}
	}
	erased(t, s)
	gone(t, s, dead...)
}

// TestDeletion_WhileSomebodyReads: a reader keeps the log as it was; it is cut
// off as soon as the reader is done, and nobody waits for that meanwhile.
func TestDeletion_WhileSomebodyReads(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m, words := secretMessage("A1", 1)
	save(t, s, m)
	reading, done := make(chan struct{}), make(chan struct{})
	finished := make(chan error, 1)
	go func() {
		finished <- s.Read(context.Background(), func(r *read.Snapshot) {
			var n int
			r.Find("SELECT count(*) FROM messages", nil, &n)
			close(reading)
			<-done
		})
	}()
	<-reading
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(2)})
	e := newEraser(s) // the background has its own connection
	if err := e.truncateOnce(t.Context()); !errors.Is(err, errBusyLog) {
		t.Errorf("cutting off a log that is read: got %v, want errBusyLog", err)
	}
	if err := e.db.Close(); err != nil {
		t.Fatal(err)
	}
	save(t, s, says(alice, alice, "A2", 3, "not held up"))
	close(done)
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
	erased(t, s)
	gone(t, s, words...)
}

// Slow reads of which each begins before the last one ends would keep the log
// from ever being cut off.
func TestDeletion_WhileReadsOverlap(t *testing.T) {
	t.Parallel()
	const slow = 250 * time.Millisecond
	s := newStore(t)
	m, words := secretMessage("A1", 1)
	save(t, s, m)
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	for i := range 3 {
		work.Go(func() {
			time.Sleep(time.Duration(i) * slow / 3)
			for ctx.Err() == nil {
				err := s.Read(t.Context(), func(r *read.Snapshot) {
					var n int
					defer time.Sleep(slow)
					r.Find("SELECT count(*) FROM messages", nil, &n)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Go(func() {
		for i := 10; ctx.Err() == nil; i++ {
			if err := s.Save(t.Context(), says(bob, bob, fmt.Sprintf("B%d", i), i, "not held up")); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(slow / 20)
		}
	})
	time.Sleep(slow)
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(2)})
	limited, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	e := newEraser(s)
	e.retryMax = eraseRetry
	if err := e.truncateLog(limited); err != nil {
		t.Fatalf("the log is not cut off: %v", err)
	}
	defer e.db.Close()
	stop()
	work.Wait()
	erased(t, s)
	gone(t, s, words...)
}

// TestDeletion_IsFinishedAfterAKill begins with the files that a killed process
// leaves behind.
func TestDeletion_IsFinishedAfterAKill(t *testing.T) {
	t.Parallel()
	live := newStore(t)
	m, words := secretMessage("A1", 1)
	save(t, live, m)
	live.stop() // the background finishes nothing
	live.done.Wait()
	save(t, live, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(2)})
	crashed := live.o.Path + ".crashed"
	live.writing.Lock()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(live.o.Path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		write(t, crashed+suffix, string(data))
	}
	live.writing.Unlock()
	s := openStore(t, crashed)
	erased(t, s)
	gone(t, s, words...)
	files, err := s.ErasedFiles(t.Context(), 10)
	if err != nil || len(files) != 1 || files[0].Media.Ref.DirectPath != "/path-of-A1" || files[0].Media.Type != bridge.MediaDocument {
		t.Fatalf("files to remove: %+v, %v", files, err)
	}
	if err := s.FileRemoved(t.Context(), files[0].ID); err != nil {
		t.Fatal(err)
	}
	if files, err := s.ErasedFiles(t.Context(), 10); err != nil || len(files) != 0 {
		t.Errorf("still to remove: %+v, %v", files, err)
	}
}

// TestEraser_ForgetsNoDeletion that is committed while an earlier one is
// finished.
func TestEraser_ForgetsNoDeletion(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.stop() // the background finishes nothing
	s.done.Wait()
	save(t, s, says(alice, alice, "A1", 1, "one"), says(alice, alice, "A2", 2, "two"))
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(3)})
	finished := s.eraser.deletions.Load()
	save(t, s, bridge.Deletion{Chat: alice, Target: "A2", By: alice, Timestamp: at(4)})
	done, err := s.eraser.finish(t.Context(), finished)
	if pending, _ := s.Setting(t.Context(), settingErasing); done || err != nil || pending == "" {
		t.Errorf("the second deletion is forgotten: done %v, pending %q, %v", done, pending, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	erased(t, openStore(t, s.o.Path))
}

// TestDeletion_IsFinishedByAStop: a stop right after a deletion finishes it, whatever the
// background was doing when its context ended.
func TestDeletion_IsFinishedByAStop(t *testing.T) {
	t.Parallel()
	for i := range longtest.Else(4, 12) {
		s := newStore(t)
		m, words := secretMessage("A1", 1)
		save(t, s, m)
		for i := range 50 {
			save(t, s, says(alice, alice, fmt.Sprintf("B%d", i), 2+i, "something else"))
		}
		settle(t, s)
		save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(200)})
		if i%2 == 1 { // the background is at work, not asleep
			bridge.Wake(s.eraser.work)
			e := newEraser(s)
			_ = e.truncateOnce(t.Context()) // whoever is first
			if err := e.db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		gone(t, s, append(words, "ꙮ")...)
		if _, err := os.Stat(s.o.Path + "-wal"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the write-ahead log is left: %v", err)
		}
	}
}
