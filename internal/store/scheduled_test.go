package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store/storefile"
)

// TestScheduled_ACopyHoldsThem: the original may send them after the copy was made.
func TestScheduled_ACopyHoldsThem(t *testing.T) {
	dir := t.TempDir()
	original, copied := filepath.Join(dir, "bridged.db"), filepath.Join(dir, "copy.db")
	s, err := Open(t.Context(), Options{Path: original, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	at := bridge.At(time.Now().Add(time.Hour))
	for id, status := range map[string]bridge.ScheduledStatus{"WAITS": bridge.ScheduledWaiting, "LEAVES": bridge.ScheduledSending, "MISSED": bridge.ScheduledMissed} {
		m := bridge.Scheduled{ID: id, Chat: "15550100301@s.whatsapp.net", Status: status, SendAt: at, CreatedAt: at, Draft: bridge.ScheduledDraft{Text: &bridge.Text{Text: "hi"}}}
		if err := s.AddScheduled(t.Context(), m, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := storefile.Copy(t.Context(), original, copied, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bridge.ScheduledStatus{original: bridge.ScheduledWaiting, copied: bridge.ScheduledHeld} {
		again, err := Open(t.Context(), Options{Path: path, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		waits, err := again.ScheduledMessage(t.Context(), "WAITS")
		if err != nil || waits.Status != want {
			t.Errorf("%s: %+v %v", path, waits, err)
		}
		leaves, err := again.ScheduledMessage(t.Context(), "LEAVES")
		if err != nil || path == copied && (leaves.Status != bridge.ScheduledHeld || leaves.Error == nil || leaves.Error.Code != bridge.CodeRestored) {
			t.Errorf("%s: %+v %v", path, leaves, err)
		}
		if due, _, err := again.ScheduledBefore(t.Context(), at); err != nil || path == copied && len(due) != 0 {
			t.Errorf("%s: due %+v %v", path, due, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}
