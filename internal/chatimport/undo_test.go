package chatimport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
)

// undoes undoes an import, which removes as many messages as was said before, and returns it.
func (w *world) undoes(i bridge.Import) bridge.Import {
	w.t.Helper()
	before, err := w.Import(w.t.Context(), i.ID)
	if err == nil {
		err = w.Undo(w.t.Context(), i.ID)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	undone, err := w.WaitUndone(w.t.Context(), i.ID, toTheEnd)
	if err != nil || undone.State != bridge.ImportUndone {
		w.t.Fatalf("%v: %+v", err, undone)
	}
	if undone.Removed != *before.Removable || undone.Removable != nil {
		w.t.Errorf("%d messages were removed, after %d were promised", undone.Removed, *before.Removable)
	}
	return undone
}

// shows returns what a reader sees: the chats with their last messages, and the messages without their ids.
func (w *world) shows() (lines []string) {
	w.t.Helper()
	chats, err := w.store.Chats(w.t.Context(), bridge.ChatQuery{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range chats.Items {
		last := ""
		if c.LastMessage != nil {
			last = c.LastMessage.Content
		}
		lines = append(lines, fmt.Sprint(c.JID, c.Name, c.Participants, c.UnreadCount, last))
		for _, m := range w.messages(c.JID) {
			file := ""
			if m.Media != nil {
				file = fmt.Sprint(m.Media.FileName, m.Media.Size, m.Media.Ref.IsImported)
			}
			found, err := w.store.Search(w.t.Context(), bridge.SearchQuery{Q: m.Content, Chat: c.JID, Limit: 100})
			if err != nil {
				w.t.Fatal(err)
			}
			lines = append(lines, fmt.Sprint(m.SenderJID, m.PushName, m.FromMe, m.Timestamp, m.MessageType, m.Content, m.DeletedAt, file, len(found.Items)))
		}
	}
	slices.Sort(lines)
	return lines
}

// An import that is undone leaves nothing behind, whatever it stored, in any language. Repeating it stores the same again.
func TestUndo_LeavesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"de", "es-MX", "ja", "ar-EG"} {
		for _, p := range exporttest.Platforms {
			t.Run(name+" on "+string(p), func(t *testing.T) {
				w := newWorld(t)
				w.know(bridge.Owner{PN: me})
				before := w.shows()
				export := exporttest.LocaleOf(name).Zip(t, p, exporttest.Talk(p))
				for range 2 {
					done := w.imports(export)
					if len(w.shows()) == len(before) || w.files() == 0 {
						t.Fatal("nothing was imported")
					}
					undone := w.undoes(done)
					if undone.Removed != done.Imported || undone.Imported != done.Imported {
						t.Errorf("undone as %+v", undone)
					}
					if diff := cmp.Diff(before, w.shows()); diff != "" {
						t.Error(diff)
					}
					w.removeErased()
					if n := w.files(); n != 0 {
						t.Errorf("%d files", n)
					}
					if name := w.store.PushName((&nameResolver{chat: chatJID("Weekend")}).foldedJID("Zoë")); name != "" {
						t.Errorf("the placeholder sender %s is left", name)
					}
				}
			})
		}
	}
}

// removeErased removes the files of messages that were removed, as the maintenance does.
func (w *world) removeErased() {
	w.t.Helper()
	files, err := w.store.ErasedFiles(w.t.Context(), 1000)
	for _, file := range files {
		err = errors.Join(err, w.kept.Remove(w.t.Context(), file.Media.Ref.FileSHA256, w.store.NeedsImportedFile), w.store.FileRemoved(w.t.Context(), file.ID))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// What another import has, too, stays as that one has it: its messages, its files and its names.
func TestUndo_WhatAnotherImportHasStays(t *testing.T) {
	t.Parallel()
	const p = exporttest.Android
	l, talk := exporttest.LocaleOf("de"), exporttest.Talk(p)
	whole, bare, half := l.Zip(t, p, talk), []byte(l.Text(p, false, talk)), l.Zip(t, p, talk[:5])
	for name, c := range map[string]struct {
		first, second []byte
		naming        string // whom the first import names, wrongly
	}{
		"the same":              {first: whole, second: whole},
		"more of it":            {first: half, second: whole},
		"less of it":            {first: whole, second: half},
		"with the files":        {first: bare, second: whole},
		"without the files":     {first: whole, second: bare},
		"with wrong names":      {first: whole, second: whole, naming: "Anna"},
		"with fewer, all wrong": {first: whole, second: half, naming: "Anna"},
	} {
		t.Run(name, func(t *testing.T) {
			alone := newWorld(t)
			alone.know(bridge.Owner{PN: me})
			alone.imports(c.second)
			want := alone.shows()

			w := newWorld(t)
			w.know(bridge.Owner{PN: me})
			empty := w.shows()
			var naming []func(*Request)
			if c.naming != "" {
				naming = append(naming, named(c.naming, "15550001111@s.whatsapp.net"))
			}
			first := w.imports(c.first, naming...)
			second := w.imports(c.second)
			w.undoes(first)
			if diff := cmp.Diff(want, w.shows()); c.naming == "" && diff != "" {
				t.Error(diff)
			}
			w.removeErased()
			if w.files() != alone.files() {
				t.Errorf("%d files, want %d", w.files(), alone.files())
			}
			w.undoes(second)
			if diff := cmp.Diff(empty, w.shows()); diff != "" {
				t.Error(diff)
			}
			w.removeErased()
			if n := w.files(); n != 0 {
				t.Errorf("%d files", n)
			}
		})
	}
}

// Received messages stay as they were before the import, also those that the import gave a file.
func TestUndo_ReceivedMessagesStayAsTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	live := func(id, text string) bridge.Message {
		return bridge.Message{Chat: anna, ID: id, SenderJID: anna, MessageType: "conversation", Content: text, Timestamp: bridge.At(minute), Raw: []byte{1}}
	}
	file := live("FILE", "")
	file.MessageType = "imageMessage"
	file.Media = &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{MediaKey: make([]byte, 32), FileSHA256: sha([]byte("a picture"))}}
	lost := live("LOST", "")
	lost.MessageType, lost.Imported = "documentMessage", true
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")}, live("TEXT", "hello"), file, bridge.Imported{Message: &lost})
	before := w.shows()
	say := func(text string) exporttest.Say { return exporttest.Say{At: minute, Who: "Anna", Text: text} }
	picture, document := say(""), say("")
	picture.File, picture.Data = "IMG-20250113-WA0001.jpg", []byte("a picture")
	document.File, document.Data = "plan.pdf", []byte("%PDF-1.4")
	done := w.imports(exporttest.LocaleOf("de").Zip(t, exporttest.Android, []exporttest.Say{say("hello"), picture, document, say("only here")}), into(anna))
	if summary(done) != "1 imported, 3 duplicates, 2 media, 0 system" || w.files() != 2 {
		t.Fatalf("imported %s, %d files", summary(done), w.files())
	}
	if undone := w.undoes(done); undone.Removed != 1 {
		t.Errorf("removed %d", undone.Removed)
	}
	if diff := cmp.Diff(before, w.shows()); diff != "" {
		t.Error(diff)
	}
	if w.removeErased(); w.files() != 0 {
		t.Errorf("%d files", w.files())
	}
}

// A name that an import gave to the wrong person is forgotten with it, and what earlier imports have is again as it was.
func TestUndo_AWrongName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.know(bridge.Owner{PN: me})
	export := []byte("13.01.25, 10:00 - Ada: Hi\n13.01.25, 10:01 - Anna: Hi\n13.01.25, 10:02 - Bob: Hi")
	w.imports(export, named("Anna", anna))
	before := w.shows()
	wrong := w.imports(export, func(r *Request) { r.Names = map[string]bridge.JID{"Anna": me, "Bob": anna} })
	if cmp.Diff(before, w.shows()) == "" {
		t.Fatal("nothing was attributed")
	}
	w.undoes(wrong)
	if diff := cmp.Diff(before, w.shows()); diff != "" {
		t.Error(diff)
	}
	if again := w.imports(export); summary(again) != "0 imported, 3 duplicates, 0 media, 0 system" || cmp.Diff([]string{"Ada", "Bob"}, again.UnknownNames) != "" {
		t.Errorf("again: %s, unknown %v", summary(again), again.UnknownNames)
	}
}

// An undo that ends early is continued by the next start.
func TestUndo_ContinuesAfterAStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%s - Anna: message %d\n", time.Date(2025, 1, 13, 10, i, 0, 0, time.UTC).Format("02.01.06, 15:04"), i)
	}
	done := w.imports([]byte(text.String()))
	commits := 0
	w.commit = func() error {
		if commits++; commits == 3 { // its state, and one batch
			w.stop()
			return errors.New("the power is gone")
		}
		return nil
	}
	if err := w.Undo(t.Context(), done.ID); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if n := len(w.messages(chatJID("Weekend"))); n == 0 || n == 1000 {
		t.Fatalf("%d messages are left", n)
	}
	w.commit = func() error { return nil }
	if imp, err := w.store.Import(t.Context(), done.ID); err != nil || imp.State != bridge.ImportUndoing {
		t.Fatalf("%v: %+v", err, imp)
	}
	o := w.o
	o.Lifetime, w.stop = context.WithCancel(context.Background())
	var err error
	if w.Importer, err = New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	undone, err := w.WaitUndone(t.Context(), done.ID, toTheEnd)
	if err != nil || undone.State != bridge.ImportUndone || undone.Removed != 1000 || len(w.shows()) > 0 {
		t.Errorf("%v: %+v, %v", err, undone, w.shows())
	}
}
