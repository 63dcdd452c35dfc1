package chatimport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/fuzzbudget"
	"bridged/internal/longtest"
	"bridged/internal/media"
	"bridged/internal/media/disk"
)

// openGroup is a group in which everybody may write.
const openGroup = bridge.JID("120363000000000009@g.us")

// TestImport_AMessageThatMentionsOnePersonThousandsOfTimes is compared in time that grows linearly with it.
func TestImport_AMessageThatMentionsOnePersonThousandsOfTimes(t *testing.T) {
	w := newWorld(t)
	const mentions = 3800
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	hostile := bridge.Message{
		Chat: openGroup, ID: "HOSTILE", SenderJID: anna, MessageType: bridge.TypeText, Content: strings.Repeat("@15551234567 aaa ", mentions),
		ContextInfo: &bridge.ContextInfo{MentionedJID: []bridge.JID{me}}, Timestamp: bridge.At(minute),
	}
	w.know(bridge.Owner{PN: me}, hostile)
	for name, text := range map[string]string{
		"as it is": strings.Repeat("@Ada aaa ", mentions), "almost": strings.Repeat("@Ada aaa ", mentions) + "b",
		"of signs": strings.Repeat("@@ ", 20_000), "of spaces": strings.Repeat("@Ada aaaa ", mentions),
	} {
		export := []byte("13.01.25, 10:00 - Anna: " + text + "\n")
		want := "1 imported, 0 duplicates, 0 media, 0 system"
		if name == "as it is" {
			want = "0 imported, 1 duplicates, 0 media, 0 system"
		}
		fuzzbudget.Budget{Base: 16 << 20, PerByte: 256, Time: 2 * time.Second}.Check(t, len(export), func() {
			got := w.imports(export, into(openGroup), named("Anna", anna), func(r *Request) { r.DryRun = true })
			if summary(got) != want {
				t.Errorf("%s: %s", name, summary(got))
			}
		})
	}
}

// TestImport_FindsOwnTextsThatMentionPeople whether the mention was stored by number, LID or name.
func TestImport_FindsOwnTextsThatMentionPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const lid = bridge.JID("98765432101234@lid")
	w.know(bridge.Owner{PN: me}, bridge.Identity{PN: anna, LID: lid}, bridge.Contact{JID: anna, Name: new("Anna Amsel")})
	for i, mentioned := range []string{"15557654321", "98765432101234", "Anna Amsel"} {
		for j, by := range []bridge.JID{anna, lid} {
			w.know(bridge.Message{
				Chat: openGroup, ID: fmt.Sprint("OWN", i, j), SenderJID: me, FromMe: true, MessageType: bridge.TypeText, Content: "ask @" + mentioned + " or me",
				ContextInfo: &bridge.ContextInfo{MentionedJID: []bridge.JID{by}}, Timestamp: bridge.At(time.Date(2025, 1, 13, 10, 2*i+j, 0, 0, time.UTC)),
			})
		}
	}
	var export strings.Builder
	for i := range 6 {
		fmt.Fprintf(&export, "13.01.25, 10:%02d - Ada: ask @\u2068Anna A.\u2069 or me\n", i)
	}
	if got := w.imports([]byte(export.String()), into(openGroup), named("Ada", me)); got.Duplicates != 6 {
		t.Error(summary(got))
	}
}

// TestImport_WhatWasDeletedDoesNotComeBackUnderAnUnknownName.
func TestImport_WhatWasDeletedDoesNotComeBackUnderAnUnknownName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	for _, message := range []struct {
		id string
		by bridge.JID
	}{{"GONE", anna}, {"BENS", "15550100301@s.whatsapp.net"}} {
		w.know(bridge.Message{Chat: openGroup, ID: message.id, SenderJID: message.by, MessageType: bridge.TypeText, Content: "secret", Timestamp: bridge.At(minute)})
		w.know(bridge.Deletion{Chat: openGroup, Target: message.id, By: message.by, Timestamp: bridge.At(minute.Add(time.Hour))})
	}
	export := []byte("13.01.25, 10:00 - Somebody: secret\n13.01.25, 10:00 - Somebody: more\n13.01.25, 10:00 - Ben: mine\n13.01.25, 10:01 - Somebody: later\n")
	for range 2 {
		w.imports(export, into(openGroup), named("Ben", "15550100301@s.whatsapp.net"))
		var texts []string
		for _, m := range w.messages(openGroup) {
			if texts = append(texts, m.Content); m.DeletedAt != nil && m.SenderJID.IsImport() {
				t.Errorf("the deleted message is by %s", m.SenderJID)
			}
		}
		if got := strings.Join(texts, ","); got != ",,more,later" {
			t.Errorf("texts: %q", texts)
		}
	}
}

// endless is the export of so many messages.
func endless(messages int) []byte {
	var text strings.Builder
	for n := range messages {
		fmt.Fprintf(&text, "13.01.25, %02d:%02d - Anna: message %d\n", n/60%24, n%60, n)
	}
	return []byte(text.String())
}

// begin begins an import and returns its id.
func (w *world) begin(ctx context.Context, export []byte, changes ...func(*Request)) (id string, err error) {
	w.t.Helper()
	received, err := w.receive.Receive(w.t.Context(), media.Incoming{From: bytes.NewReader(export), Declared: int64(len(export)), Cancel: func() {}})
	if err != nil {
		w.t.Fatal(err)
	}
	r := Request{Export: received, Chat: "Weekend", Zone: time.UTC, By: bridge.Token{}.Through(bridge.EntranceAPI)}
	for _, change := range changes {
		change(&r)
	}
	return w.Start(ctx, r)
}

// TestImport_ObeysWhoeverEndsIt: the operator, the end of its token and a stop of the bridge.
func TestImport_ObeysWhoeverEndsIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end   func(w *world, id string, revoke func()) error
		state bridge.ImportState
		code  bridge.Code
	}{
		"cancelled": {func(w *world, id string, _ func()) error {
			_, err := w.Cancel(w.t.Context(), id)
			return err
		}, bridge.ImportCancelled, bridge.CodeImportEnded},
		"its token is revoked":  {func(_ *world, _ string, revoke func()) error { revoke(); return nil }, bridge.ImportCancelled, bridge.CodeUnauthorized},
		"the bridge is stopped": {func(w *world, _ string, _ func()) error { w.stop(); return nil }, bridge.ImportFailed, bridge.CodeNotConnected},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			token, revoke := context.WithCancel(t.Context())
			defer revoke()
			underWay, goesOn := make(chan struct{}), make(chan struct{})
			commits := 0
			w.commit = func() error {
				if commits++; commits == 4 { // the import, the chat, its people and a batch
					close(underWay)
					<-goesOn
				}
				return nil
			}
			id, err := w.begin(t.Context(), endless(3*batch), func(r *Request) { r.While = token })
			if err != nil {
				t.Fatal(err)
			}
			<-underWay
			go func() {
				<-w.Ended(id).Done()
				close(goesOn)
			}()
			if err := test.end(w, id, revoke); err != nil {
				t.Fatal(err)
			}
			got, err := w.Wait(t.Context(), id, toTheEnd)
			if got.State != test.state || bridge.CodeOf(err) != test.code || got.Error == nil || got.Imported+got.Duplicates == got.Total {
				t.Errorf("%v: %+v", err, got)
			}
			if _, err := w.Cancel(t.Context(), id); bridge.CodeOf(err) != bridge.CodeImportEnded {
				t.Errorf("it is cancelled again: %v", err)
			}
		})
	}
}

// TestImport_OfALimitedTokenHasALimitedTime, that of BRIDGE_TOKEN has not.
func TestImport_OfALimitedTokenHasALimitedTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run = time.Millisecond
	w.imports(endless(500))
	id, err := w.begin(t.Context(), endless(longtest.Else(5_000, 100_000)), func(r *Request) { r.Tree = 7 })
	if err == nil { // it may end while it is read
		var got bridge.Import
		got, err = w.Wait(t.Context(), id, toTheEnd)
		if got.State != bridge.ImportFailed {
			t.Errorf("state: %s", got.State)
		}
	}
	if bridge.CodeOf(err) != bridge.CodePayloadTooLarge || !strings.Contains(err.Error(), "split the export") {
		t.Error(err)
	}
}

// TestImport_EndsWhenItsCallerLeaves while it is read, or waits for its turn.
func TestImport_EndsWhenItsCallerLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, leave := context.WithCancel(t.Context())
	began := make(chan struct{})
	w.o.Me = sync.OnceValue(func() *bridge.User { close(began); <-ctx.Done(); return nil }) // while it is prepared
	go func() { <-began; leave() }()
	if _, err := w.begin(ctx, endless(10)); !errors.Is(err, context.Canceled) {
		t.Errorf("while it is read: %v", err)
	}
	w.o.Me = func() *bridge.User { return nil }
	turn, err := w.slots.Take(t.Context(), 7, 1, func() {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave = context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, leave)
	if _, err := w.begin(ctx, endless(10), func(r *Request) { r.Tree = 7 }); !errors.Is(err, context.Canceled) {
		t.Errorf("while it waits: %v", err)
	}
	turn.Release()
	w.imports(endless(10), func(r *Request) { r.Tree = 7 })
}

// TestImport_TokenTreesTakeTurns: one of them holds up neither another one nor BRIDGE_TOKEN, and its
// own imports follow each other.
func TestImport_TokenTreesTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn, err := w.slots.Take(t.Context(), 7, 1, func() {})
	if err != nil {
		t.Fatal(err)
	}
	turn.Complete()
	of := func(tree int64) func(*Request) { return func(r *Request) { r.Tree = tree } }
	w.imports(endless(10), of(0))
	w.imports(endless(10), of(8))
	w.wait = 0
	if _, err := w.try(endless(10), of(7)); bridge.CodeOf(err) != bridge.CodeTooManyConnections {
		t.Errorf("its own is not held up: %v", err)
	}
	w.wait = maxWait
	time.AfterFunc(time.Millisecond, turn.Release)
	w.imports(endless(10), of(7))
}

// TestImport_IntoTheSameChat at the same time doubles nothing.
func TestImport_IntoTheSameChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var importing sync.WaitGroup
	for tree := range int64(3) {
		importing.Go(func() { w.imports(endless(500), func(r *Request) { r.Tree = tree }) })
	}
	importing.Wait()
	if n := len(w.messages(chatJID("Weekend"))); n != 500 {
		t.Errorf("%d messages", n)
	}
}

// TestImports_AreRememberedWithinLimits: what a token tree imports pushes out its own imports alone, and
// names that nobody knows take little memory.
func TestImports_AreRememberedWithinLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dry := func(tree int64) func(*Request) {
		return func(r *Request) { r.DryRun, r.Tree = true, tree }
	}
	first := w.imports(endless(1), dry(0))
	var export strings.Builder
	for n := range maxNames {
		fmt.Fprintf(&export, "13.01.25, 10:00 - %[1]s %[2]d: Hi\n13.01.25, 10:00 - %[1]s %[2]d: Hi\n", strings.Repeat("n", 200), n)
	}
	const large = 4 // is more than is remembered
	remembered := func() (count int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		size := 0
		for _, j := range w.jobs {
			if size += j.size; j.r.Export != nil || j.senders != nil || j.archive != nil {
				t.Error("it holds more than its state")
			}
		}
		if w.jobs[0].state.ID != first.ID || size > maxSizeOfTree+2*minSize {
			t.Errorf("%d are remembered, with %d bytes", len(w.jobs), size)
		}
		return len(w.jobs)
	}
	for range large {
		w.imports([]byte(export.String()), dry(7))
	}
	if n := remembered(); n > large {
		t.Errorf("%d are remembered", n)
	}
	for range maxJobsOfTree + 1 {
		w.imports(endless(1), dry(7))
	}
	if n := remembered(); n != maxJobsOfTree+1 {
		t.Errorf("%d are remembered", n)
	}
}

// TestImport_ReadsNoMoreOfATextThanIsStored, so that a batch of the longest texts has some megabytes.
func TestImport_ReadsNoMoreOfATextThanIsStored(t *testing.T) {
	w := newWorld(t)
	var export strings.Builder
	for n := range 60 {
		fmt.Fprintf(&export, "13.01.25, 10:00 - Anna %d: %s\n", n, strings.Repeat("x", 1<<20))
	}
	fuzzbudget.Budget{Base: 16 << 20, PerByte: 16, Time: 20 * time.Second}.Check(t, export.Len(), func() {
		if got := w.imports([]byte(export.String())); got.Total != 60 {
			t.Error(summary(got))
		}
	})
	for _, m := range w.messages(chatJID("Weekend")) {
		if len(m.Content) != bridge.MaxContent {
			t.Errorf("%d characters", len(m.Content))
		}
	}
}

// TestImport_ATokenTreeHasAQuota: its messages and files count. BRIDGE_TOKEN
// has no quota.
func TestImport_ATokenTreeHasAQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.o.Quota = 1 << 18
	of := func(tree int64, chat string) func(*Request) {
		return func(r *Request) { r.Tree, r.Chat = tree, chat }
	}
	got, err := w.try(endless(2000), of(7, "Texts"))
	if bridge.CodeOf(err) != bridge.CodePayloadTooLarge || got.State != bridge.ImportFailed || got.Imported == 0 {
		t.Errorf("texts: %v: %s", err, summary(got))
	}
	if _, err := w.try(endless(1000), of(7, "More texts")); bridge.CodeOf(err) != bridge.CodePayloadTooLarge {
		t.Errorf("another chat: %v", err)
	}
	at := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	file := exporttest.Say{At: at, Who: "Anna", File: "IMG-20250113-WA0001.jpg", Data: make([]byte, 1<<20)}
	if got, err := w.try(exporttest.LocaleOf("de").Zip(t, exporttest.Android, []exporttest.Say{file}), of(8, "Files")); bridge.CodeOf(err) != bridge.CodePayloadTooLarge || w.files() != 0 {
		t.Errorf("files: %v: %s, %d files", err, summary(got), w.files())
	}
	w.imports(endless(2000), of(0, "Texts"))
}

// TestImport_LeavesDiskFree: nothing is stored that does not leave the reserve.
func TestImport_LeavesDiskFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.o.Reserve = &disk.Reserve{Free: func(string) (free, all int64, err error) { return 100 << 20, 1 << 30, nil }}
	if _, err := w.try(endless(10)); bridge.CodeOf(err) != bridge.CodeStorageUnavailable {
		t.Errorf("got %v", err)
	}
	if n := len(w.messages(chatJID("Weekend"))); n != 0 {
		t.Errorf("%d messages", n)
	}
}
