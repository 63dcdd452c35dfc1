package chatimport

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// strangers is a group in which everybody may write.
const strangers = bridge.JID("120363000000000009@g.us")

// TestImport_AMessageThatMentionsOnePersonThousandsOfTimes is compared in time that grows linearly with it.
func TestImport_AMessageThatMentionsOnePersonThousandsOfTimes(t *testing.T) {
	w := newWorld(t)
	const mentions = 3800
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	hostile := bridge.Message{
		Chat: strangers, ID: "HOSTILE", SenderJID: anna, MessageType: bridge.TypeText, Content: strings.Repeat("@15551234567 aaa ", mentions),
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
			got := w.imports(export, into(strangers), named("Anna", anna), func(r *Request) { r.DryRun = true })
			if told(got) != want {
				t.Errorf("%s: %s", name, told(got))
			}
		})
	}
}

// TestImport_FindsOwnTextsThatMentionPeople whether the mention was stored by number, LID or name.
func TestImport_FindsOwnTextsThatMentionPeople(t *testing.T) {
	w := newWorld(t)
	const lid = bridge.JID("98765432101234@lid")
	w.know(bridge.Owner{PN: me}, bridge.Identity{PN: anna, LID: lid}, bridge.Contact{JID: anna, Name: new("Anna Amsel")})
	for i, mentioned := range []string{"15557654321", "98765432101234", "Anna Amsel"} {
		for j, by := range []bridge.JID{anna, lid} {
			w.know(bridge.Message{
				Chat: strangers, ID: fmt.Sprint("OWN", i, j), SenderJID: me, FromMe: true, MessageType: bridge.TypeText, Content: "ask @" + mentioned + " or me",
				ContextInfo: &bridge.ContextInfo{MentionedJID: []bridge.JID{by}}, Timestamp: bridge.At(time.Date(2025, 1, 13, 10, 2*i+j, 0, 0, time.UTC)),
			})
		}
	}
	var export strings.Builder
	for i := range 6 {
		fmt.Fprintf(&export, "13.01.25, 10:%02d - Ada: ask @\u2068Anna A.\u2069 or me\n", i)
	}
	if got := w.imports([]byte(export.String()), into(strangers), named("Ada", me)); got.Duplicates != 6 {
		t.Error(told(got))
	}
}

// TestImport_WhatWasDeletedDoesNotComeBackUnderAnUnknownName.
func TestImport_WhatWasDeletedDoesNotComeBackUnderAnUnknownName(t *testing.T) {
	w := newWorld(t)
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	for _, is := range []struct {
		id string
		by bridge.JID
	}{{"GONE", anna}, {"BENS", "15550100301@s.whatsapp.net"}} {
		w.know(bridge.Message{Chat: strangers, ID: is.id, SenderJID: is.by, MessageType: bridge.TypeText, Content: "secret", Timestamp: bridge.At(minute)})
		w.know(bridge.Deletion{Chat: strangers, Target: is.id, By: is.by, Timestamp: bridge.At(minute.Add(time.Hour))})
	}
	export := []byte("13.01.25, 10:00 - Somebody: secret\n13.01.25, 10:00 - Somebody: more\n13.01.25, 10:00 - Ben: mine\n13.01.25, 10:01 - Somebody: later\n")
	for range 2 {
		w.imports(export, into(strangers), named("Ben", "15550100301@s.whatsapp.net"))
		var texts []string
		for _, m := range w.messages(strangers) {
			if texts = append(texts, m.Content); m.DeletedAt != nil && m.SenderJID.IsImport() {
				t.Errorf("the deleted message is by %s", m.SenderJID)
			}
		}
		if got := strings.Join(texts, ","); got != ",,more,later" {
			t.Errorf("texts: %q", texts)
		}
	}
}
