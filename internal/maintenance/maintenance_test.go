package maintenance

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/files"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
	"bridged/internal/urlguard"
	"bridged/internal/webhook"
)

func TestDo_DoesEveryChoreNowAndHourly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var failing, working atomic.Int32
		var log bytes.Buffer
		done := make(chan struct{})
		go func() {
			defer close(done)
			do(ctx, choresPause, []chore{
				{"failing things", func(context.Context) (int, error) { failing.Add(1); return 0, errors.New("disk full") }},
				{"old things", func(context.Context) (int, error) { working.Add(1); return 7, nil }},
			}, zerolog.New(&log))
		}()
		synctest.Wait()
		if failing.Load() != 1 || working.Load() != 1 {
			t.Errorf("at the start: %d and %d times, want once each", failing.Load(), working.Load())
		}
		time.Sleep(3*time.Hour + time.Minute)
		cancel()
		<-done
		if failing.Load() != 4 || working.Load() != 4 {
			t.Errorf("after three hours: %d and %d times, want 4 each", failing.Load(), working.Load())
		}
		for _, want := range []string{"disk full", "failing things could not be removed", `"count":7,"message":"old things removed"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %s:\n%s", want, &log)
			}
		}
	})
}

func TestChores_RemoveWhatIsTooOld(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	chat := bridge.JID("15550100301@s.whatsapp.net")
	for id, age := range map[string]time.Duration{"OLD": 49 * time.Hour, "NEW": 47 * time.Hour} {
		m := bridge.Message{Chat: chat, ID: id, SenderJID: chat, MessageType: "conversation", Content: id, Timestamp: bridge.At(time.Now().Add(-age)), Raw: []byte{1}}
		if err := s.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	ended := bridge.At(time.Now().Add(-time.Second))
	if _, err := s.AddToken(t.Context(), bridge.Token{Name: "old", Hash: []byte("h"), Scopes: bridge.Scopes(), ExpiresAt: &ended}); err != nil {
		t.Fatal(err)
	}
	hooks := webhook.New(webhook.Options{Store: s, Guard: urlguard.New(urlguard.Options{})})
	removed := map[string]int{}
	for _, c := range (Options{RetentionDays: 2, Store: s, Webhooks: hooks}).chores() {
		n, err := c.do(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.subject, err)
		}
		removed[c.subject] = n
	}
	if removed["expired tokens"] != 1 {
		t.Errorf("removed %v, want one expired token", removed)
	}
	if removed["old messages"] != 1 {
		t.Errorf("removed %v, want one old message", removed)
	}
	if _, err := s.Message(t.Context(), chat, "OLD"); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("the old message: %v", err)
	}
	if _, err := s.Message(t.Context(), chat, "NEW"); err != nil {
		t.Errorf("the new message: %v", err)
	}
	for _, c := range (Options{Store: s, Webhooks: hooks}).chores() {
		if c.subject == "old messages" {
			t.Error("messages are removed where RETENTION_DAYS is not set")
		}
	}
}

// TestRemoveNoted_FilesOfImportedMessages: they go once no message has them any more.
func TestRemoveNoted_FilesOfImportedMessages(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "imported")
	imported, err := files.OpenImported(t.Context(), dir, s.NeedsImportedFile)
	if err != nil {
		t.Fatal(err)
	}
	file, err := imported.Add(strings.NewReader("a secret"), "a.txt", bridge.MediaDocument, false)
	if err != nil {
		t.Fatal(err)
	}
	chat := bridge.JID("15550100301@s.whatsapp.net")
	run, err := s.BeginExport(t.Context(), chat, 0, time.Now(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if run.Import, err = s.AddImport(t.Context(), store.ImportRecord{Import: bridge.Import{ID: "I", ChatJID: chat, By: bridge.Token{}.Through(bridge.EntranceAPI), State: bridge.ImportRunning}}); err != nil {
		t.Fatal(err)
	}
	m := &store.ExportedMessage{
		Message: bridge.Message{Chat: chat, SenderJID: chat, MessageType: "documentMessage", Timestamp: bridge.At(time.Now()), Media: file},
		SHA256:  file.Ref.FileSHA256, TakesFile: true,
	}
	if err := s.SaveExported(t.Context(), run, []*store.ExportedMessage{m}); err != nil {
		t.Fatal(err)
	}
	page, err := s.Messages(t.Context(), bridge.MessageQuery{Chat: chat, Limit: 1})
	if err == nil {
		err = s.Save(t.Context(), bridge.Deletion{Chat: chat, Target: page.Items[0].ID, By: chat, Timestamp: bridge.At(time.Now())})
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := files.NewCache(files.CacheOptions{Dir: t.TempDir(), CDN: cdn.New(cdn.Options{TempDir: t.TempDir(), Log: zerolog.Nop()}), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if err := (Options{Store: s, Files: files, Imported: imported}).removeNoted(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("%v: %d files are left", err, len(left))
	}
}
