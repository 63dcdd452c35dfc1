package receiving

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// typing returns the next event of a stream, which says who types.
func typing(s *EventStream) (chat, person bridge.JID, state bridge.TypingState) {
	s.T.Helper()
	e := s.Next()
	if e.Type != bridge.EventTyping || e.ID != 0 || e.At.IsZero() {
		s.T.Fatalf("got %+v", e)
	}
	return e.ChatJID, e.Typing.SenderJID, e.Typing.State
}

// storedFrom waits until the API has a person's message.
func storedFrom(t testing.TB, b *Process, from *simnet.Phone, text string) {
	t.Helper()
	Eventually(t, func() error {
		if got := b.Get(Path("/api/messages/individual/%s", from.PN())); !strings.Contains(string(got.Body), text) {
			return errors.New("not stored yet")
		}
		return nil
	})
}

// TestTyping_IsOnTheStreamAlone: what people type in chats and groups is on streams, under the person's
// number, until they pause or send; after a lost connection again. The log has nothing of it.
func TestTyping_IsOnTheStreamAlone(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "SHOW_TYPING=true")
	b := c.Bridge
	anna, ben := NumberOf(c.Anna), NumberOf(c.Ben)
	group := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.Anna, c.Ben}})
	for _, p := range []*simnet.Phone{c.Anna, c.Ben} {
		Say(t, p, c.Owner.PN(), "hello")
		storedFrom(t, b, p, "hello")
	}
	for _, p := range []*simnet.Phone{c.Anna, c.Ben} {
		if err := p.Watch(Within(t), c.Owner); err != nil {
			t.Fatal(err)
		}
	}
	available := func() {
		t.Helper()
		Eventually(t, func() error {
			if c.Device.Counters().Available == 0 {
				return errors.New("the account is not available")
			}
			return nil
		})
	}
	available()
	all, ofAnna := b.Stream("?types=chat.typing"), b.Stream("?types=chat.typing&chat="+string(anna))
	limited := CallOnce[struct{ Secret string }](t, b, "POST", "/api/tokens", Object{"name": "x", "scopes": []string{"read"}, "chats": []bridge.JID{ben}}, "")
	ofBen := b.StreamAs(limited.Secret, "")
	wants := func(s *EventStream, chat, person bridge.JID, state bridge.TypingState) {
		t.Helper()
		if gotChat, gotPerson, got := typing(s); gotChat != chat || gotPerson != person || got != state {
			t.Fatalf("%s %s in %s, want %s %s in %s", gotPerson, got, gotChat, person, state, chat)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(c.Anna.Typing(Within(t), c.Owner.LID(), true))
	wants(all, anna, anna, bridge.TypingText)
	wants(ofAnna, anna, anna, bridge.TypingText)
	late := b.Stream("?types=chat.typing") // hears at once who types already
	wants(late, anna, anna, bridge.TypingText)
	do(c.Anna.Recording(Within(t), c.Owner.LID()))
	wants(all, anna, anna, bridge.TypingVoice)
	do(c.Anna.Typing(Within(t), c.Owner.LID(), false))
	wants(all, anna, anna, bridge.TypingPaused)

	in := bridge.JID(group.JID().String())
	do(c.Ben.Typing(Within(t), group.JID(), true))
	wants(all, in, ben, bridge.TypingText)
	Say(t, c.Ben, group.JID(), "here I am") // which ends it
	wants(all, in, ben, bridge.TypingPaused)

	// The account is available again after a lost connection.
	before := c.Device.Counters()
	c.Device.Drop()
	do(c.Device.WaitLogins(Within(t), before.Logins+1))
	Eventually(t, func() error {
		if c.Device.Counters().Available == before.Available {
			return errors.New("not available again")
		}
		return nil
	})
	do(c.Ben.Typing(Within(t), c.Owner.PN(), true))
	wants(all, ben, ben, bridge.TypingText)
	for e := ofBen.Next(); e.Type != bridge.EventTyping; e = ofBen.Next() { // a stream without a filter
		if e.ChatJID != "" && e.ChatJID != ben {
			t.Errorf("the limited token was told of %s", e.ChatJID)
		}
	}
	if c.Device.Counters().Unavailable != 0 {
		t.Error("the account was shown as unavailable")
	}
	// Its own typing ends in availability, too.
	b.Post(Path("/api/chats/%s/typing", c.Anna.PN()), Object{"state": "typing"}).Want(http.StatusOK)
	b.Post(Path("/api/chats/%s/typing", c.Anna.PN()), Object{"state": "paused"}).Want(http.StatusOK)
	if c.Device.Counters().Unavailable != 0 {
		t.Error("typing has made the account unavailable")
	}

	for _, e := range b.AllEvents("") {
		if strings.Contains(string(e.Type), "typing") {
			t.Errorf("the log has %+v", e)
		}
	}
	for _, path := range []string{"/api/events?types=chat.typing", "/api/events?types=chat.typing&wait=1s"} {
		Refused(t, b.Get(path), http.StatusBadRequest, bridge.CodeInvalid, "which only streams of events have")
	}
	Refused(t, b.Post("/api/webhooks", Object{"url": "https://example.com", "types": []string{"chat.typing"}}), http.StatusBadRequest, bridge.CodeInvalid, "which only streams of events have")
}

// TestTyping_IsOffByDefault: the account is never available, so that its phone rings, and no stream
// tells of typing.
func TestTyping_IsOffByDefault(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	stream := c.Bridge.Stream("")
	Eventually(t, func() error {
		if c.Device.Counters().Unavailable == 0 {
			return errors.New("presence is not shown yet")
		}
		return nil
	})
	if err := c.Anna.Typing(Within(t), c.Owner.PN(), true); err != nil {
		t.Fatal(err)
	}
	logins := c.Device.Counters().Logins
	c.Device.Drop()
	if err := c.Device.WaitLogins(Within(t), logins+1); err != nil {
		t.Fatal(err)
	}
	c.Bridge.Becomes(bridge.StateOpen)
	Say(t, c.Anna, c.Owner.PN(), "hello")
	storedFrom(t, c.Bridge, c.Anna, "hello")
	var kinds []bridge.EventType
	for e := stream.Next(); ; e = stream.Next() {
		kinds = append(kinds, e.Type)
		if e.Message != nil {
			break
		}
	}
	if slices.Contains(kinds, bridge.EventTyping) {
		t.Errorf("the stream had %v", kinds)
	}
	if n := c.Device.Counters().Available; n != 0 {
		t.Errorf("the account was available %d times", n)
	}
}
