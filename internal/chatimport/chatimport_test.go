package chatimport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/longtest"
	"bridged/internal/media"
	"bridged/internal/media/files"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

const (
	me   = bridge.JID("15551234567@s.whatsapp.net")
	anna = bridge.JID("15557654321@s.whatsapp.net")
)

// world is a store with what imports into it.
type world struct {
	t      testing.TB
	store  *store.Store
	dir    string // of the files
	kept   *files.Imported
	stop   context.CancelFunc
	commit func() error // of the next ones
	*Importer
	receive *media.Preparer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "imported"), commit: func() error { return nil }}
	var err error
	w.store, err = store.Open(t.Context(), store.Options{
		Path: storetest.NewFile(t), Log: zerolog.Nop(), BeforeCommit: func() error { return w.commit() },
	})
	if err == nil {
		w.kept, err = files.OpenImported(t.Context(), w.dir, w.store.NeedsImportedFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.receive = media.NewPreparer(media.PreparerOptions{TempDir: filepath.Join(t.TempDir(), "tmp"), MaxBytes: 64 << 20, Log: zerolog.Nop()})
	var lifetime context.Context
	lifetime, w.stop = context.WithCancel(context.Background())
	w.Importer, err = New(t.Context(), Options{
		Store: w.store, Files: w.kept, Limits: chatexport.Limits{File: 1 << 20, Sum: 64 << 20},
		Me: func() *bridge.User { return &bridge.User{JID: me} }, Lifetime: lifetime,
		Now: func() time.Time { return time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC) }, Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.stop()
		w.Close()
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) know(facts ...bridge.Fact) {
	w.t.Helper()
	if err := w.store.Save(w.t.Context(), facts...); err != nil {
		w.t.Fatal(err)
	}
}

// toTheEnd is how long a test waits for an import: for as long as the test runs, because with the race
// detector on a busy machine an import of some thousand messages takes more than a minute.
const toTheEnd = time.Hour

// try imports an export into a chat named Weekend, unless a change names another.
func (w *world) try(export []byte, changes ...func(*Request)) (bridge.Import, error) {
	w.t.Helper()
	received, err := w.receive.Receive(w.t.Context(), media.Incoming{From: bytes.NewReader(export), Declared: int64(len(export)), Cancel: func() {}})
	if err != nil {
		w.t.Fatal(err)
	}
	r := Request{Export: received, Chat: "Weekend", Zone: time.UTC, By: bridge.Token{}.Through(bridge.EntranceAPI)}
	for _, change := range changes {
		change(&r)
	}
	id, err := w.Start(w.t.Context(), r)
	if err != nil {
		return bridge.Import{}, err
	}
	return w.Wait(w.t.Context(), id, toTheEnd)
}

func (w *world) imports(export []byte, changes ...func(*Request)) bridge.Import {
	w.t.Helper()
	done, err := w.try(export, changes...)
	if err != nil || done.State != bridge.ImportDone {
		w.t.Fatalf("%v: %+v", err, done)
	}
	return done
}

func into(chat bridge.JID) func(*Request) { return func(r *Request) { r.Chat = string(chat) } }

func named(name string, jid bridge.JID) func(*Request) {
	return func(r *Request) { r.Names = map[string]bridge.JID{name: jid} }
}

func (w *world) messages(chat bridge.JID) []bridge.Message {
	w.t.Helper()
	page, err := w.store.Messages(w.t.Context(), bridge.MessageQuery{Chat: chat, Order: bridge.OrderAsc, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

// files returns how many files are kept.
func (w *world) files() int {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return len(entries)
}

// summary returns the numbers of an import.
func summary(i bridge.Import) string {
	return fmt.Sprintf("%d imported, %d duplicates, %d media, %d system", i.Imported, i.Duplicates, i.Media, i.System)
}

// TestImport_OfAllLanguages stores a half of a chat without its files, then all of it with
// them, then the same as the other phone exports it: nothing is doubled, and no file is missing.
func TestImport_OfAllLanguages(t *testing.T) {
	t.Parallel()
	for n, locale := range exporttest.Locales {
		for i, p := range exporttest.Platforms {
			if !longtest.Enabled() && i != n%2 {
				continue
			}
			t.Run(locale.Name+" on "+string(p), func(t *testing.T) {
				t.Parallel()
				w, talk, other := newWorld(t), exporttest.Talk(p), exporttest.Platforms[1-i]
				for _, step := range []struct {
					name   string
					export []byte
					want   string
				}{
					{"a half", []byte(locale.Text(p, false, talk[:5])), "4 imported, 0 duplicates, 0 media, 1 system"},
					{"all of it", locale.Zip(t, p, talk), "7 imported, 4 duplicates, 2 media, 1 system"},
					{"again", locale.Zip(t, p, talk), "0 imported, 11 duplicates, 0 media, 1 system"},
					{"the other half, without files", []byte(locale.Text(p, false, talk[3:])), "0 imported, 9 duplicates, 0 media, 0 system"},
					{"by the other phone", locale.Zip(t, other, exporttest.Talk(other)), "0 imported, 11 duplicates, 0 media, 1 system"},
				} {
					var order bridge.DateOrder // of a half it may be in doubt
					got, err := w.try(step.export)
					if bridge.CodeOf(err) == bridge.CodeAmbiguousDates {
						order = datesOf(err).Orders[0]
						got, err = w.try(step.export, func(r *Request) { r.Order = order })
					}
					if err != nil || summary(got) != step.want || len(got.Doubtful) > 0 {
						t.Fatalf("%s: %v: %s, want %s: %+v", step.name, err, summary(got), step.want, got.Doubtful)
					}
				}
				messages := w.messages(chatJID("Weekend"))
				if len(messages) != 11 || !slices.IsSortedFunc(messages, func(a, b bridge.Message) int { return a.Timestamp.Compare(b.Timestamp.Time) }) {
					t.Fatalf("messages: %+v", messages)
				}
				picture, document := messages[2], messages[3]
				if picture.Media == nil || picture.Content != "and its caption" || document.Media == nil || document.Media.FileName != "Prüfung 3.pdf" || document.Content != "" {
					t.Errorf("files: %+v %+v", picture, document)
				}
				if n := w.files(); n != 2 {
					t.Errorf("%d files", n)
				}
			})
		}
	}
}

func datesOf(err error) *bridge.AmbiguousDates {
	var e *bridge.Error
	errors.As(err, &e)
	return e.Dates
}

// TestImport_WhatIsStoredIsNotDoubled, however it is written there.
func TestImport_WhatIsStoredIsNotDoubled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	live := func(id, text string, second int) bridge.Message {
		return bridge.Message{Chat: anna, ID: id, SenderJID: anna, MessageType: "conversation", Content: text, Timestamp: bridge.At(minute.Add(time.Duration(second) * time.Second)), Raw: []byte{1}}
	}
	mention := live("MENTION", "hi @15551234567!", 1)
	mention.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{me}}
	file := live("FILE", "", 2)
	file.MessageType = "imageMessage"
	file.Media = &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{MediaKey: make([]byte, 32), FileSHA256: sha([]byte("a picture"))}}
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")},
		mention, file, live("OK", "ok", 63), live("GONE", "a secret", 4), bridge.Deletion{Chat: anna, Target: "GONE", By: anna, Timestamp: bridge.At(minute)})
	l := exporttest.LocaleOf("de")
	say := func(text string) exporttest.Say { return exporttest.Say{At: minute, Who: "Anna", Text: text} }
	later := func(text string) exporttest.Say {
		return exporttest.Say{At: minute.Add(time.Minute), Who: "Anna", Text: text}
	}
	picture := say("its caption has changed")
	picture.File, picture.Data = "IMG-20250113-WA0001.jpg", []byte("a picture")
	got := w.imports(l.Zip(t, exporttest.Android, []exporttest.Say{
		say("hi @\u2068Ada\u2069!"), picture, say("a secret"), later("ok"), later("ok"), {At: minute.Add(2 * time.Minute), Who: "Anna", Text: "ok"},
	}), into(anna))
	if summary(got) != "2 imported, 4 duplicates, 1 media, 0 system" {
		t.Errorf("got %s", summary(got))
	}
	var texts []string
	for _, m := range w.messages(anna) {
		texts = append(texts, m.Content)
	}
	slices.Sort(texts)
	if diff := cmp.Diff([]string{"", "", "hi @15551234567!", "ok", "ok", "ok"}, texts); diff != "" {
		t.Error(diff)
	}
	// The network has lost the file by now.
	m, err := w.store.Message(t.Context(), anna, "FILE")
	if err != nil || !m.Media.Ref.IsImported || len(m.Media.Ref.MediaKey) != 32 || w.files() != 1 {
		t.Errorf("%v: %+v, %d files", err, m.Media, w.files())
	}
}

// TestImport_ALongText is stored up to the limit, and known again.
func TestImport_ALongText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	export := []byte("13.01.25, 10:00 - Anna: " + strings.Repeat("ä", 70_000))
	w.imports(export)
	if got := w.imports(export); summary(got) != "0 imported, 1 duplicates, 0 media, 0 system" {
		t.Errorf("got %s", summary(got))
	}
}

// TestImport_AContactWithoutItsFile keeps its name, and gets the file later.
func TestImport_AContactWithoutItsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := []byte("13.01.25, 10:00 - Anna: Zoë Doe.vcf (Datei angehängt)")
	w.imports(text)
	if m := w.messages(chatJID("Weekend")); m[0].Content != "Zoë Doe.vcf" || m[0].MessageType != "documentMessage" {
		t.Errorf("without: %+v", m[0])
	}
	whole := exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: text}, exporttest.Entry{Name: "Zoë Doe.vcf", Data: []byte("BEGIN:VCARD")})
	for _, want := range []string{"0 imported, 1 duplicates, 1 media, 0 system", "0 imported, 1 duplicates, 0 media, 0 system"} {
		if got := w.imports(whole); summary(got) != want {
			t.Errorf("got %s, want %s", summary(got), want)
		}
	}
	if m := w.messages(chatJID("Weekend")); m[0].Content != "" || m[0].Media == nil || m[0].Media.FileName != "Zoë Doe.vcf" {
		t.Errorf("with: %+v", m[0])
	}
}

// TestImport_NamesThatAreLearnedLater give people what they have written.
func TestImport_NamesThatAreLearnedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.know(bridge.Owner{PN: me})
	export := []byte("13.01.25, 10:00 - Ada: Hi\n13.01.25, 10:01 - Anna: Hi\n13.01.25, 10:02 - ~\u00a0Bob: Hi")
	chat := chatJID("Weekend")
	if got := w.imports(export); cmp.Diff([]string{"Ada", "Anna", "Bob"}, got.UnknownNames) != "" {
		t.Errorf("unknown: %v", got.UnknownNames)
	}
	if m := w.messages(chat)[2]; m.PushName != "Bob" || !m.SenderJID.IsImport() {
		t.Errorf("by nobody: %+v", m)
	}
	w.know(bridge.Contact{JID: me, PushName: new("ADA")})
	got := w.imports(export, named("anna", anna))
	if summary(got) != "0 imported, 3 duplicates, 0 media, 0 system" || cmp.Diff([]string{"Bob"}, got.UnknownNames) != "" {
		t.Errorf("got %s, unknown %v", summary(got), got.UnknownNames)
	}
	messages := w.messages(chat)
	if len(messages) != 3 || !messages[0].FromMe || messages[0].SenderJID != me || messages[1].SenderJID != anna || messages[1].FromMe {
		t.Errorf("messages: %+v", messages)
	}
}

// TestImport_NamesAreRemembered so that an import that is told less doubles nothing.
func TestImport_NamesAreRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: me, PushName: new("Ada")})
	export := []byte("13.01.25, 10:00 - Ada: Hi\n13.01.25, 10:01 - Anna: Hi")
	w.imports(export, named("Anna", anna))
	w.know(bridge.Contact{JID: me, PushName: new("Ada L.")})
	got := w.imports(export)
	if summary(got) != "0 imported, 2 duplicates, 0 media, 0 system" || len(got.UnknownNames) > 0 {
		t.Errorf("got %s, unknown %v", summary(got), got.UnknownNames)
	}
}

// TestImport_NamesThatAreLearnedTooLate leaves no message that was stored under a name and by its
// person, each counted once.
func TestImport_NamesThatAreLearnedTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const group = bridge.JID("120363000000000001@g.us")
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	live := func(id, text string, second int) bridge.Message {
		return bridge.Message{Chat: group, ID: id, SenderJID: anna, Timestamp: bridge.At(minute.Add(time.Duration(second) * time.Second)), MessageType: bridge.TypeText, Content: text}
	}
	picture := live("FILE", "", 3)
	picture.MessageType = "imageMessage"
	picture.Media = &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{MediaKey: make([]byte, 32), FileSHA256: sha([]byte("a picture"))}}
	w.know(bridge.Owner{PN: me}, live("OK", "ok", 1), picture, live("GONE", "secret", 65), bridge.Deletion{Chat: group, Target: "GONE", By: anna, Timestamp: bridge.At(minute)})
	l := exporttest.LocaleOf("de")
	say := func(text string) exporttest.Say { return exporttest.Say{At: minute, Who: "Anna", Text: text} }
	file := say("")
	file.File, file.Data = "IMG-20250113-WA0001.jpg", []byte("a picture")
	export := l.Zip(t, exporttest.Android, []exporttest.Say{say("ok"), say("ok"), file, {At: minute.Add(time.Minute), Who: "Anna", Text: "secret"}})
	if got := w.imports(export, into(group)); got.Imported != 3 || len(w.messages(group)) != 6 { // what was deleted does not come back
		t.Fatalf("under a name: %s", summary(got))
	}
	w.imports(export, into(group), named("Anna", anna))
	var texts []string
	for _, m := range w.messages(group) {
		if texts = append(texts, m.Content); m.SenderJID != anna {
			t.Errorf("by %s: %q", m.SenderJID, m.Content)
		}
	}
	slices.Sort(texts)
	if diff := cmp.Diff([]string{"", "", "ok", "ok"}, texts); diff != "" {
		t.Error(diff)
	}
	if m, err := w.store.Message(t.Context(), group, "FILE"); err != nil || !m.Media.Ref.IsImported {
		t.Errorf("%v: %+v", err, m.Media)
	}
}

// TestImport_TheAddressBook names people, unless two have a name.
func TestImport_TheAddressBook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")},
		bridge.Contact{JID: "1@s.whatsapp.net", Name: new("Bob")}, bridge.Contact{JID: "2@s.whatsapp.net", Name: new("Bob")})
	got := w.imports([]byte("13.01.25, 10:00 - Anna: Hi\n13.01.25, 10:01 - Bob: Hi\n13.01.25, 10:02 - +1 (555) 123-4567: Hi"))
	if diff := cmp.Diff([]string{"Bob"}, got.UnknownNames); diff != "" {
		t.Error(diff)
	}
	if m := w.messages(chatJID("Weekend")); m[0].SenderJID != anna || !m[2].FromMe {
		t.Errorf("messages: %+v", m)
	}
}

// TestImport_EndsEarly and goes on where it ended.
func TestImport_EndsEarly(t *testing.T) {
	t.Parallel()
	const all = 3*batch - 10
	var text strings.Builder
	for i := range all {
		fmt.Fprintf(&text, "%s - Anna: message %d\n", time.Date(2025, 1, 13, 10, i, 0, 0, time.UTC).Format("02.01.06, 15:04"), i)
	}
	export := []byte(text.String())
	for name, end := range map[string]func(w *world) error{
		"the disk is full":      func(*world) error { return errors.New("no more room") },
		"the bridge is stopped": func(w *world) error { w.stop(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			commits := 0
			w.commit = func() error {
				if commits++; commits == 5 { // the import, the chat, its people and two batches
					return end(w)
				}
				return nil
			}
			if got, err := w.try(export); err == nil || got.State != bridge.ImportFailed || *got.Error == "" {
				t.Fatalf("%v: %+v", err, got)
			}
			stored := len(w.messages(chatJID("Weekend")))
			if stored == 0 || stored == all {
				t.Fatalf("%d messages", stored)
			}
			w.commit = func() error { return nil }
			w.Importer.o.Lifetime = context.Background()
			if got := w.imports(export); got.Imported != all-stored || got.Duplicates != stored {
				t.Errorf("again: %s", summary(got))
			}
			if n := len(w.messages(chatJID("Weekend"))); n != all {
				t.Errorf("%d messages", n)
			}
		})
	}
}

// TestImport_ADamagedArchive leaves nothing, not even of what is whole.
func TestImport_ADamagedArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archive := exporttest.LocaleOf("de").Zip(t, exporttest.Android, exporttest.Talk(exporttest.Android))
	packed := bytes.Index(archive, []byte("Prüfung"))
	archive[packed+len("Prüfung 3.pdf")+2] ^= 0xff
	if _, err := w.try(archive); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("got %v", err)
	}
	chats, err := w.store.Chats(t.Context(), bridge.ChatQuery{Limit: 10})
	if err != nil || len(chats.Items) != 0 || w.files() != 0 {
		t.Errorf("%v: %+v, %d files", err, chats.Items, w.files())
	}
}

// TestFiles_GoWithTheirLastMessage: a file that two messages have stays until both are deleted.
func TestFiles_GoWithTheirLastMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")})
	sticker := func(minute int, name string) exporttest.Say {
		return exporttest.Say{At: time.Date(2025, 1, 13, 10, minute, 0, 0, time.UTC), Who: "Anna", File: name, Data: []byte("the same")}
	}
	w.imports(exporttest.LocaleOf("de").Zip(t, exporttest.Android, []exporttest.Say{sticker(1, "STK-20250113-WA0001.webp"), sticker(2, "STK-20250113-WA0002.webp")}), into(anna))
	messages := w.messages(anna)
	if len(messages) != 2 || w.files() != 1 {
		t.Fatalf("%d messages, %d files", len(messages), w.files())
	}
	for i, want := range []int{1, 0} {
		w.know(bridge.Deletion{Chat: anna, Target: messages[i].ID, By: anna, Timestamp: bridge.At(time.Now())})
		erased, err := w.store.ErasedFiles(t.Context(), 10)
		if err != nil || len(erased) != 1 || !erased[0].Media.Ref.IsImported {
			t.Fatalf("%v: %+v", err, erased)
		}
		err = errors.Join(w.kept.Remove(t.Context(), erased[0].Media.Ref.FileSHA256, w.store.NeedsImportedFile), w.store.FileRemoved(t.Context(), erased[0].ID))
		if err != nil || w.files() != want {
			t.Errorf("%v: %d files, want %d", err, w.files(), want)
		}
	}
}

// TestFiles_ThatNoMessageHas are removed at the next start; others stay.
func TestFiles_ThatNoMessageHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.imports(exporttest.LocaleOf("de").Zip(t, exporttest.Android, exporttest.Talk(exporttest.Android)))
	if _, err := w.kept.Add(strings.NewReader("of an import that ended early"), "a.jpg", bridge.MediaImage, false); err != nil {
		t.Fatal(err)
	}
	settled := hex.EncodeToString(sha([]byte("a picture"))) // as if the program was killed once it was stored
	if err := os.Rename(filepath.Join(w.dir, settled), filepath.Join(w.dir, settled+".new")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"partial-1", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := files.OpenImported(t.Context(), w.dir, w.store.NeedsImportedFile); err != nil {
		t.Fatal(err)
	}
	if n := w.files(); n != 3 { // and what somebody has put there
		t.Errorf("%d files", n)
	}
	if _, err := os.Stat(filepath.Join(w.dir, settled)); err != nil {
		t.Error(err)
	}
}

// TestRetention_TakesTheFiles of imported messages along.
func TestRetention_TakesTheFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.imports(exporttest.LocaleOf("de").Zip(t, exporttest.Android, exporttest.Talk(exporttest.Android)))
	removed, err := w.store.Retain(t.Context(), time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || removed != 11 {
		t.Fatalf("%d removed, %v", removed, err)
	}
	if erased, err := w.store.ErasedFiles(t.Context(), 10); err != nil || len(erased) != 2 {
		t.Errorf("%v: %+v", err, erased)
	}
}

// BenchmarkImport takes a chat of 100,000 messages over.
func BenchmarkImport(b *testing.B) {
	var text strings.Builder
	begins := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 100_000 {
		fmt.Fprintf(&text, "%s - Anna: message %d, which is about as long as messages are\n", begins.Add(time.Duration(i)*37*time.Minute).Format("02.01.06, 15:04"), i)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := newWorld(b)
		if got := w.imports([]byte(text.String())); got.Imported != 100_000 {
			b.Fatalf("%+v", got)
		}
	}
}

func sha(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}
