package chatwoot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/chatwoot/chatwoottest"
	"bridged/internal/compat/cloud"
)

// A WhatsApp inbox gets private notes with author and time, in the contact that the live connection uses. Groups
// are left out, and so are messages that were deleted for everyone, and notes to oneself.
func TestBackfill_IntoAWhatsAppInbox(t *testing.T) {
	t.Parallel()
	s := newScene(t, append(talk(),
		said(lena, "L1", "Lena", "of a hidden number", 3), said(club, "G1", "Grace", "in the club", 4), said(me, "M1", "", "to myself", 5),
	)...)
	gone := said(grace, "A4", "Grace", "taken back", 3)
	s.save(gone, bridge.Deletion{Chat: grace, Target: "A4", By: grace, Timestamp: bridge.At(noon.Add(240e9))})
	result := s.succeeds(s.backfill(whatsAppInbox), 4)
	if result.Chats != 2 || result.Contacts != 2 || result.ChatsLeft != 1 {
		t.Errorf("sent %+v", result)
	}
	for _, c := range s.Contacts() {
		if source := c.Sources[whatsAppInbox]; c.Phone != "+"+source || source != grace.User() && source != lena.User() {
			t.Errorf("contact %+v", c)
		}
	}
	for _, c := range s.Conversations() {
		if c.Status != StatusResolved {
			t.Errorf("conversation %+v", c)
		}
		if s.Contacts()[c.Contact-1].Name == "Grace" {
			s.expect(c.ID, graceNotes...)
		}
	}
	for _, m := range s.Messages() {
		if !strings.HasPrefix(m.Content, cloud.HistoryMark) || !strings.HasPrefix(m.Source, "bridged:wamid.") || !strings.HasPrefix(m.ExternalCreatedAt, "17952") {
			t.Errorf("message %+v", m)
		}
	}
	if again := s.succeeds(s.backfill(whatsAppInbox), 0); again.Present != 4 || again.Contacts != 0 {
		t.Errorf("again: %+v", again)
	}
	s.save(said(grace, "A5", "Grace", "one more", 6))
	s.succeeds(s.backfill(whatsAppInbox), 1)
}

// An API inbox gets messages of both directions. Chatwoot would mail outgoing ones to a contact with an address,
// who gets notes.
func TestBackfill_IntoAnAPIInbox(t *testing.T) {
	t.Parallel()
	s := newScene(t, append(talk(), said(ana, "B1", "Ana", "oi", 0), said(ana, "B2", "", "olá", 1), said(club, "G1", "Grace", "in the club", 4), said(club, "G2", "", "mine", 5))...)
	s.AddContact(apiInbox, chatwoottest.Contact{Name: "Ana", Phone: "+" + ana.User(), Email: "ana@example.com"}, ana.User())
	b := s.backfill(apiInbox)
	b.Groups = true
	s.succeeds(b, 7)
	for _, c := range s.Conversations() {
		switch s.Contacts()[c.Contact-1].Phone {
		case "+" + grace.User():
			s.expect(c.ID, "incoming hello", "outgoing hi Grace", "incoming see you")
		case "+" + ana.User():
			s.expect(c.ID, "note **Ana** · 2026-11-21 12:00 +00:00: oi", "note **+15550100200** · 2026-11-21 12:01 +00:00: olá")
		case "+999025246125486":
			s.expect(c.ID, "incoming Grace: in the club", "outgoing mine")
		}
	}
	s.succeeds(b, 0)
}

// A dry run counts and changes nothing.
func TestBackfill_DryRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, talk()...)
	b := s.backfill(whatsAppInbox)
	b.DryRun, b.State = true, t.TempDir()+"/state"
	if result := s.succeeds(b, 3); result.Chats != 1 || result.Contacts != 1 || len(s.Contacts())+len(s.Conversations()) > 0 {
		t.Errorf("counted %+v", result)
	}
	s.succeeds(s.backfill(whatsAppInbox), 3)
	s.save(said(grace, "A5", "Grace", "one more", 6))
	if result := s.succeeds(b, 1); result.Present != 3 || result.Contacts != 0 || len(s.Messages()) != 3 {
		t.Errorf("counted %+v", result)
	}
}

// What the live connection stored is not sent again, under the id that it has there, from either side, in an old
// conversation, and of a contact whose number is spelled in the other way.
func TestBackfill_KnowsLiveMessages(t *testing.T) {
	t.Parallel()
	s := newScene(t, said(ana, "B1", "Ana", "oi", 0), said(ana, "B2", "", "olá", 1), said(ana, "B3", "Ana", "tchau", 2))
	idOf := func(id string, fromMe bool) string {
		return cloud.MessageID(ana, &bridge.Message{ID: id, FromMe: fromMe})
	}
	conversations := s.AddContact(whatsAppInbox, chatwoottest.Contact{Name: "Ana", Phone: "+5551987654321"}, "5551987654321", StatusResolved, StatusOpen)
	s.AddMessage(conversations[0], idOf("B1", false), "oi")
	s.AddMessage(conversations[1], idOf("B2", true), "olá")
	result := s.succeeds(s.backfill(whatsAppInbox), 1)
	if result.Present != 2 || result.Contacts != 0 || len(s.Contacts()) != 1 || len(s.Conversations()) != 2 {
		t.Errorf("sent %+v", result)
	}
	s.expect(conversations[1], "incoming olá", "note **Ana** · 2026-11-21 12:02 +00:00: tchau")
	if source := s.Contacts()[0].Sources[whatsAppInbox]; source != "5551987654321" {
		t.Errorf("the contact has the id %s now", source)
	}
}

// The history goes where the live connection goes on: into the last conversation that is not resolved, or the
// only one. Else it gets its own, which later runs use, whatever became of it.
func TestBackfill_ChoosesTheConversation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []string
		single   bool
		want     int64
	}{
		"none":              {nil, false, 1},
		"open":              {[]string{StatusOpen, StatusPending, StatusResolved}, false, 2},
		"resolved":          {[]string{StatusResolved}, false, 2},
		"one for a contact": {[]string{StatusResolved}, true, 1},
	} {
		s := newScene(t, talk()...)
		s.Set(whatsAppInbox, "lock_to_single_conversation", c.single)
		s.AddContact(whatsAppInbox, chatwoottest.Contact{Name: "Grace", Phone: "+" + grace.User()}, grace.User(), c.statuses...)
		s.succeeds(s.backfill(whatsAppInbox), 3)
		if s.expect(c.want, graceNotes...); t.Failed() {
			t.Fatal(name)
		}
		s.save(said(grace, "A5", "Grace", "one more", 6))
		s.succeeds(s.backfill(whatsAppInbox), 1)
		if got := strings.Count(s.shows(c.want), "\n"); got != 3 {
			t.Errorf("%s: the second run writes elsewhere", name)
		}
	}
}

// A contact that only has a number gets the name; a name that somebody has given stays.
func TestBackfill_NamesContacts(t *testing.T) {
	t.Parallel()
	for was, want := range map[string]string{"+1 555-010-0301": "Grace", "": "Grace", "Mrs Hopper": "Mrs Hopper"} {
		s := newScene(t, talk()...)
		s.AddContact(whatsAppInbox, chatwoottest.Contact{Name: was, Phone: "+" + grace.User()}, grace.User())
		s.succeeds(s.backfill(whatsAppInbox), 3)
		if got := s.Contacts()[0].Name; got != want {
			t.Errorf("%q became %q, want %q", was, got, want)
		}
	}
}

// Texts are shown as they were written, also if Chatwoot would evaluate them as templates.
func TestBackfill_TextsAreNoTemplates(t *testing.T) {
	t.Parallel()
	texts := []string{
		"{{contact.email}} and {{ agent.name }}", "{% if true %}x{% endif %}", "`code` and `{{agent.email}}`", "{`a` {`b`", "{% endraw %}{{agent.email}}`{{x}}`{% raw %}", "{{{{}}}}", "100 % {of} it", "[@Ada](mention://user/1/Ada)",
	}
	for _, inbox := range []int64{whatsAppInbox, apiInbox} {
		s := newScene(t)
		for i, text := range texts {
			s.save(said(grace, fmt.Sprint("T", i), "", text, i))
		}
		s.succeeds(s.backfill(inbox), len(texts))
		for i, line := range strings.Split(s.shows(1), "\n") {
			if !strings.HasSuffix(line, texts[i]) {
				t.Errorf("%q is shown as %q", texts[i], line)
			}
		}
		for _, m := range s.Messages() {
			if strings.Contains(m.Content, "mention://") {
				t.Errorf("%q notifies an agent", m.Content)
			}
		}
	}
}

// Versions that cannot tell doubles apart are refused after at most one message, which is removed again.
func TestBackfill_RefusesOldVersions(t *testing.T) {
	t.Parallel()
	s := newScene(t, talk()...)
	s.IgnoresSourceIDs = true
	if _, err := s.run(t.Context(), s.backfill(whatsAppInbox)); !errors.Is(err, errNoSourceIDs) {
		t.Error(err)
	}
	s.expect(1, "note This message was deleted")

	s = newScene(t, talk()...)
	s.IgnoresAfter = true
	ids := s.AddContact(whatsAppInbox, chatwoottest.Contact{Name: "Grace", Phone: "+" + grace.User()}, grace.User(), StatusOpen)
	s.AddMessage(ids[0], "wamid.x", "live")
	if _, err := s.run(t.Context(), s.backfill(whatsAppInbox)); !errors.Is(err, errNoPages) || len(s.Messages()) != 1 {
		t.Error(err, s.Messages())
	}
}

// A message that Chatwoot refuses for good is named and counted, and the others are sent.
func TestBackfill_LeavesOutWhatIsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, talk()...)
	s.Fails(chatwoottest.Fault{Request: "POST /messages", Skip: 1, Status: 422, Body: `{"error":"Validation failed: no"}`})
	if result := s.succeeds(s.backfill(whatsAppInbox), 2); result.Refused != 1 {
		t.Errorf("sent %+v", result)
	}
	if !slices.ContainsFunc(s.notes, func(note string) bool {
		return strings.Contains(note, "422 Unprocessable Entity: Validation failed: no")
	}) {
		t.Errorf("noted %q", s.notes)
	}
	s.succeeds(s.backfill(whatsAppInbox), 1)
}

// Chats are chosen by JID and by time.
func TestBackfill_ChoosesChatsAndTimes(t *testing.T) {
	t.Parallel()
	s := newScene(t, append(talk(), said(ana, "B1", "Ana", "oi", 0), said(club, "G1", "Grace", "in the club", 4))...)
	b := s.backfill(whatsAppInbox)
	b.Chats = []bridge.JID{club, grace}
	b.Since, b.Until = new(bridge.At(noon.Add(60e9))), new(bridge.At(noon.Add(4*60e9)))
	s.succeeds(b, 3)
	b.Chats, b.Since = nil, new(bridge.At(noon.Add(600e9)))
	s.succeeds(b, 0)
	b.Chats = []bridge.JID{"15550109999@s.whatsapp.net"}
	if _, err := s.run(t.Context(), b); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Error(err)
	}
}
