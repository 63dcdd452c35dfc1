package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// transcribe gives some messages a transcript, those that are not deleted.
func (w *world) transcribe(n int) {
	for range n {
		m := &w.list[w.r.IntN(len(w.list))]
		if m.transcript != "" || w.s.AskTranscript(context.Background(), m.chat, m.id, false) != nil {
			continue
		}
		made := bridge.NewTranscript(randomText(w.r, 1+w.r.IntN(25)), "", at(0).Time)
		keepTranscript(w.t, w.s, nextTry(w.t, w.s), made)
		m.transcript = made.Text
	}
}

// nextTry begins the next try, which must be due.
func nextTry(t *testing.T, s *Store) settings.Transcription {
	t.Helper()
	job, _, err := s.NextTranscription(t.Context(), func(int) time.Duration { return time.Hour })
	if err != nil || job == nil {
		t.Fatalf("no transcript is due, %v", err)
	}
	return *job
}

func keepTranscript(t *testing.T, s *Store, job settings.Transcription, made bridge.Transcript) {
	t.Helper()
	if saved, err := s.SaveTranscript(t.Context(), job, made); err != nil || !saved {
		t.Fatalf("the transcript is not kept, %v", err)
	}
}

func voiceNote(chat, sender bridge.JID, id string, seconds int) bridge.Message {
	m := says(chat, sender, id, seconds, "")
	m.MessageType = "audioMessage"
	m.Media = &bridge.Media{Type: bridge.MediaAudio, PTT: true, DurationSec: 3, Ref: bridge.MediaRef{MediaKey: []byte("key of " + id), DirectPath: "/" + id}}
	return m
}

func newTranscribingStore(t *testing.T, mode bridge.TranscribeMode) *Store {
	t.Helper()
	return openWith(t, Options{Path: empty.NewFile(t), Log: zerolog.Nop(), Transcribe: mode})
}

// waiting are the ids of the messages whose transcript is due, in the order in which they come.
func waiting(t *testing.T, s *Store) (list []string) {
	t.Helper()
	for {
		job, _, err := s.NextTranscription(t.Context(), func(int) time.Duration { return time.Hour })
		if err != nil {
			t.Fatal(err)
		}
		if job == nil {
			return list
		}
		list = append(list, job.MsgID)
	}
}

func TestTranscription_IsOfVoiceNotes(t *testing.T) {
	t.Parallel()
	once, music, old, own, text := voiceNote(alice, alice, "once", 1), voiceNote(alice, alice, "music", 2), voiceNote(alice, alice, "old", 3), voiceNote(alice, me, "own", 4), says(alice, alice, "text", 5, "a")
	once.ViewOnce, music.Media.PTT, own.FromMe = true, false, true
	for mode, want := range map[bridge.TranscribeMode][]string{
		"": nil, bridge.TranscribeOff: nil, bridge.TranscribeIncoming: {"club", "voice"}, bridge.TranscribeAll: {"club", "voice", "own"},
	} {
		s := newTranscribingStore(t, mode)
		save(t, s, owner(), once, music, bridge.Imported{Message: &old}, own, text, placeholder(alice, alice, "voice", 6), voiceNote(club, bob, "club", 7))
		save(t, s, voiceNote(alice, alice, "voice", 6))
		sameList(t, fmt.Sprintf("transcribed with %q", mode), waiting(t, s), want)
	}
}

func TestTranscription_TakesTheAskedForAndThenTheNewest(t *testing.T) {
	t.Parallel()
	s := newTranscribingStore(t, bridge.TranscribeIncoming)
	save(t, s, voiceNote(alice, alice, "1", 1), voiceNote(alice, alice, "2", 2), voiceNote(alice, alice, "3", 3), says(alice, alice, "text", 4, "a"))
	for range 2 {
		if err := s.AskTranscript(t.Context(), alice, "1", false); err != nil {
			t.Fatal(err)
		}
	}
	sameList(t, "tries", waiting(t, s), []string{"1", "3", "2"})
	job, wait, err := s.NextTranscription(t.Context(), nil)
	if job != nil || err != nil || wait < 59*time.Minute || wait > time.Hour {
		t.Errorf("after that %+v, in %s, %v", job, wait, err)
	}
	if err := s.AskTranscript(t.Context(), alice, "2", false); err != nil {
		t.Fatal(err)
	}
	if job := nextTry(t, s); job.MsgID != "2" || job.Tries != 1 {
		t.Errorf("asked for once more: try %d of %s", job.Tries, job.MsgID)
	}
	wantCode(t, s.AskTranscript(t.Context(), alice, "none", false), bridge.CodeNotFound)
}

// TestTranscription_OfWhatIsNoLongerWanted: no sound leaves the machine after TRANSCRIBE was
// switched off, but for what somebody asked for.
func TestTranscription_OfWhatIsNoLongerWanted(t *testing.T) {
	t.Parallel()
	for mode, want := range map[bridge.TranscribeMode][]string{
		bridge.TranscribeAll: {"asked", "own", "voice"}, bridge.TranscribeIncoming: {"asked", "voice"}, bridge.TranscribeOff: {"asked"},
	} {
		path := filepath.Join(t.TempDir(), "bridged.db")
		s := openWith(t, Options{Path: path, Log: zerolog.Nop(), Transcribe: bridge.TranscribeAll})
		own := voiceNote(alice, me, "own", 3)
		own.FromMe = true
		save(t, s, owner(), voiceNote(alice, alice, "asked", 1), voiceNote(alice, alice, "voice", 2), own)
		if err := s.AskTranscript(t.Context(), alice, "asked", false); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openWith(t, Options{Path: path, Log: zerolog.Nop(), Transcribe: mode})
		if err := s.ReviewTranscriptions(t.Context()); err != nil {
			t.Fatal(err)
		}
		sameList(t, "transcribed with "+string(mode), waiting(t, s), want)
	}
}

func TestTranscription_CountsTriesAcrossRestarts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	for try := 1; try <= 3; try++ {
		s := openWith(t, Options{Path: path, Log: zerolog.Nop(), Transcribe: bridge.TranscribeIncoming})
		if try == 1 {
			save(t, s, voiceNote(alice, alice, "1", 1))
		}
		job, _, err := s.NextTranscription(t.Context(), func(int) time.Duration { return 0 })
		if err != nil || job == nil || job.Tries != try {
			t.Fatalf("%+v, %v", job, err)
		}
		if try == 2 {
			if err := s.PostponeTranscription(t.Context(), *job, at(0).Time, true); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := openStore(t, path)
	job := nextTry(t, s)
	if err := s.PostponeTranscription(t.Context(), job, time.UnixMilli(0), false); err != nil {
		t.Fatal(err)
	}
	if again := nextTry(t, s); again.Tries != job.Tries {
		t.Errorf("a try that was not made counts: %d after %d", again.Tries, job.Tries)
	}
	if err := s.DropTranscription(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	sameList(t, "given up", waiting(t, s), nil)
}

func TestTranscript_IsShownLoggedAndFound(t *testing.T) {
	t.Parallel()
	s := newTranscribingStore(t, bridge.TranscribeIncoming)
	save(t, s, voiceNote(alice, alice, "1", 1))
	before, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made := bridge.NewTranscript(" Die Brücke\nist gesperrt. ", "de", at(9).Time)
	keepTranscript(t, s, nextTry(t, s), made)
	same := func(where string, got *bridge.Transcript) {
		t.Helper()
		if got == nil || got.Text != "Die Brücke\nist gesperrt." || *got.Language != "de" || !got.At.Equal(at(9).Time) {
			t.Errorf("%s: %+v", where, got)
		}
	}
	same("message", message(t, s, alice, "1").Transcript)
	same("history", historyOf(t, s, alice)[0].Transcript)
	page, err := s.Events(t.Context(), read.EventQuery{After: before})
	if err != nil || len(page.Events) != 1 || len(page.Events[0].Changes.Fields) != 1 || page.Events[0].Changes.Fields[0] != bridge.ChangedTranscript {
		t.Fatalf("events: %+v, %v", page.Events, err)
	}
	same("event", page.Events[0].Message.Transcript)
	found := matchesOf(t, s, bridge.SearchQuery{Q: "brucke", Fold: bridge.FoldAccents})
	if len(found) != 1 {
		t.Fatalf("found: %+v", found)
	}
	same("match", found[0].Transcript)

	save(t, s, bridge.Pin{Chat: alice, Target: "1", By: alice, Until: at(1 << 30), Timestamp: at(10)})
	same("pinned", message(t, s, alice, "1").Transcript)
	if err := s.AskTranscript(t.Context(), alice, "1", false); err != nil {
		t.Fatal(err)
	}
	sameList(t, "transcribed again", waiting(t, s), nil)
}

// TestTranscript_OfAMergedChat is kept, whichever of the two rows of its message has it, and so is
// the wish for one.
func TestTranscript_OfAMergedChat(t *testing.T) {
	t.Parallel()
	for _, chats := range [][2]bridge.JID{{alice, aliceLID}, {aliceLID, alice}} {
		s := newTranscribingStore(t, bridge.TranscribeIncoming)
		save(t, s, owner(), voiceNote(chats[0], chats[0], "1", 1), voiceNote(chats[0], chats[0], "2", 2))
		if waiting := waiting(t, s); len(waiting) != 2 {
			t.Fatalf("waiting: %v", waiting)
		}
		save(t, s, voiceNote(chats[1], chats[1], "1", 1))
		keepTranscript(t, s, nextTry(t, s), bridge.NewTranscript("Die Brücke", "", at(9).Time))
		save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
		if m := message(t, s, alice, "1"); m.Transcript == nil || m.Transcript.Text != "Die Brücke" {
			t.Errorf("transcript: %+v", m.Transcript)
		}
		if found := matchesOf(t, s, bridge.SearchQuery{Q: "brucke", Fold: bridge.FoldAccents}); len(found) != 1 || found[0].MsgID != "1" {
			t.Errorf("found: %+v", found)
		}
		if work, err := s.Transcribed(t.Context()); err != nil || work.Waiting != 1 { // of the second note
			t.Errorf("%+v, %v", work, err)
		}
	}
}

// An edit by its sender may give a message another file.
func TestTranscript_GoesWithItsFile(t *testing.T) {
	t.Parallel()
	s := newTranscribingStore(t, bridge.TranscribeIncoming)
	note := voiceNote(alice, alice, "1", 1)
	save(t, s, note)
	keepTranscript(t, s, nextTry(t, s), bridge.NewTranscript("the first words", "", at(2).Time))

	moved := note
	moved.Media = new(*note.Media)
	moved.Media.DurationSec, moved.Media.Ref.DirectPath = 4, "/moved"
	save(t, s, bridge.Edit{Chat: alice, Target: "1", Editor: alice, Timestamp: at(3), New: moved})
	sameList(t, "found by words of the same file", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "first"})), []string{"1"})

	other := voiceNote(alice, alice, "other", 4)
	save(t, s, bridge.Edit{Chat: alice, Target: "1", Editor: alice, Timestamp: at(4), New: other})
	if m := message(t, s, alice, "1"); m.Transcript != nil {
		t.Errorf("another file has the transcript %+v", m.Transcript)
	}
	sameList(t, "found by words of another file", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "first"})), []string{})

	job := nextTry(t, s)
	save(t, s, bridge.Edit{Chat: alice, Target: "1", Editor: alice, Timestamp: at(5), New: note})
	if saved, err := s.SaveTranscript(t.Context(), job, bridge.NewTranscript("of the other", "", at(6).Time)); saved || err != nil {
		t.Errorf("kept for a file that was replaced meanwhile: %t, %v", saved, err)
	}
}

// TestTranscript_DoesNotOutliveItsMessage, which is deleted while the transcript is made, or
// afterwards, or which is old.
func TestTranscript_DoesNotOutliveItsMessage(t *testing.T) {
	t.Parallel()
	s := newTranscribingStore(t, bridge.TranscribeIncoming)
	save(t, s, voiceNote(alice, alice, "deleted", 1), voiceNote(alice, alice, "old", 2))
	jobs := map[string]settings.Transcription{}
	for range 2 {
		job := nextTry(t, s)
		jobs[job.MsgID] = job
	}
	save(t, s, bridge.Deletion{Chat: alice, Target: "deleted", By: alice, Timestamp: at(3)})
	if n, err := s.Retain(t.Context(), at(3).Time); n != 2 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	save(t, s, voiceNote(alice, alice, "deleted", 4))
	save(t, s, bridge.Deletion{Chat: alice, Target: "deleted", By: alice, Timestamp: at(5)})
	for id, job := range jobs {
		if saved, err := s.SaveTranscript(t.Context(), job, bridge.NewTranscript("a secret", "", at(6).Time)); saved || err != nil {
			t.Errorf("%s: kept %t, %v", id, saved, err)
		}
	}
	if m := message(t, s, alice, "deleted"); m.Transcript != nil {
		t.Errorf("a deleted message has the transcript %+v", m.Transcript)
	}
	sameList(t, "found", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "secret"})), []string{})
	wantCode(t, s.AskTranscript(t.Context(), alice, "deleted", false), bridge.CodeNotFound)
	sameList(t, "waiting", waiting(t, s), nil)
}

func TestDeletion_LeavesNoTranscriptOnTheDisk(t *testing.T) {
	t.Parallel()
	s := newTranscribingStore(t, bridge.TranscribeIncoming)
	save(t, s, voiceNote(alice, alice, "A1", 1))
	keepTranscript(t, s, nextTry(t, s), bridge.NewTranscript("ꙮꙮꙮ words-of-the-note"+strings.Repeat(" and more", 700), "", at(2).Time))
	for i := range 100 {
		save(t, s, says(alice, alice, fmt.Sprintf("B%d", i), 2+i, "something else"))
	}
	settle(t, s)
	words := []string{"words-of-the-note", "ꙮ"}
	if found := onDisk(t, s, words...); len(found) < len(words) {
		t.Fatalf("the test does not look where the words are: found only %v", found)
	}
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(200)})
	erased(t, s)
	gone(t, s, words...)
	checkSound(t, s)
}

func TestCountTranscribed_IsOfAMonthInUTC(t *testing.T) {
	t.Parallel()
	var now time.Time
	path := filepath.Join(t.TempDir(), "bridged.db")
	count := func(length, limit time.Duration) bool {
		t.Helper()
		s := openWith(t, Options{Path: path, Log: zerolog.Nop(), Clock: bridge.ClockOf(time.Time{}, func() time.Time { return now }, func() time.Duration { return 0 })})
		defer s.Close()
		counted, err := s.CountTranscribed(t.Context(), alice, length, settings.Minutes{All: limit})
		if err != nil {
			t.Fatal(err)
		}
		return counted
	}
	now = time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
	for _, step := range []struct {
		length, limit time.Duration
		want          bool
	}{{4 * time.Minute, 5 * time.Minute, true}, {2 * time.Minute, 5 * time.Minute, false}, {time.Minute, 5 * time.Minute, true}, {time.Second, 5 * time.Minute, false}, {time.Hour, 0, true}} {
		if got := count(step.length, step.limit); got != step.want {
			t.Errorf("%s of %s: counted %t", step.length, step.limit, got)
		}
	}
	now = now.Add(time.Minute)
	if !count(5*time.Minute, 5*time.Minute) {
		t.Error("a new month has no minutes of its own")
	}
}
