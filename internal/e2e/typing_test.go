package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// typing returns the next event of a stream, which says who types.
func (s *eventStream) typing() (chat, person bridge.JID, state bridge.TypingState) {
	s.t.Helper()
	e := s.next()
	if e.Type != bridge.EventTyping || e.ID != 0 || e.At.IsZero() {
		s.t.Fatalf("got %+v", e)
	}
	return e.ChatJID, e.Typing.SenderJID, e.Typing.State
}

// storedFrom waits until the API has a person's message.
func storedFrom(t testing.TB, b *process, from *simnet.Phone, text string) {
	t.Helper()
	eventually(t, func() error {
		if got := b.Get(path("/api/messages/individual/%s", from.PN())); !strings.Contains(string(got.Body), text) {
			return errors.New("not stored yet")
		}
		return nil
	})
}

// TestTyping_IsOnTheStreamAlone: what people type in chats and groups is on streams, under the person's
// number, until they pause or send; after a lost connection again. The log has nothing of it.
func TestTyping_IsOnTheStreamAlone(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, "SHOW_TYPING=true")
	b := c.bridge
	anna, ben := numberOf(c.anna), numberOf(c.ben)
	group := newGroup(t, c.owner, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.anna, c.ben}})
	for _, p := range []*simnet.Phone{c.anna, c.ben} {
		say(t, p, c.owner.PN(), "hello")
		storedFrom(t, b, p, "hello")
	}
	for _, p := range []*simnet.Phone{c.anna, c.ben} {
		if err := p.Watch(within(t), c.owner); err != nil {
			t.Fatal(err)
		}
	}
	available := func() {
		t.Helper()
		eventually(t, func() error {
			if c.device.Counters().Available == 0 {
				return errors.New("the account is not available")
			}
			return nil
		})
	}
	available()
	all, ofAnna := b.stream("?types=chat.typing"), b.stream("?types=chat.typing&chat="+string(anna))
	limited := callOnce[struct{ Secret string }](t, b, "POST", "/api/tokens", object{"name": "x", "scopes": []string{"read"}, "chats": []bridge.JID{ben}}, "")
	ofBen := b.streamAs(limited.Secret, "")
	wants := func(s *eventStream, chat, person bridge.JID, state bridge.TypingState) {
		t.Helper()
		if gotChat, gotPerson, got := s.typing(); gotChat != chat || gotPerson != person || got != state {
			t.Fatalf("%s %s in %s, want %s %s in %s", gotPerson, got, gotChat, person, state, chat)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(c.anna.Typing(within(t), c.owner.LID(), true))
	wants(all, anna, anna, bridge.TypingText)
	wants(ofAnna, anna, anna, bridge.TypingText)
	late := b.stream("?types=chat.typing") // hears at once who types already
	wants(late, anna, anna, bridge.TypingText)
	do(c.anna.Recording(within(t), c.owner.LID()))
	wants(all, anna, anna, bridge.TypingVoice)
	do(c.anna.Typing(within(t), c.owner.LID(), false))
	wants(all, anna, anna, bridge.TypingPaused)

	in := bridge.JID(group.JID().String())
	do(c.ben.Typing(within(t), group.JID(), true))
	wants(all, in, ben, bridge.TypingText)
	say(t, c.ben, group.JID(), "here I am") // which ends it
	wants(all, in, ben, bridge.TypingPaused)

	// The account is available again after a lost connection.
	before := c.device.Counters()
	c.device.Drop()
	do(c.device.WaitLogins(within(t), before.Logins+1))
	eventually(t, func() error {
		if c.device.Counters().Available == before.Available {
			return errors.New("not available again")
		}
		return nil
	})
	do(c.ben.Typing(within(t), c.owner.PN(), true))
	wants(all, ben, ben, bridge.TypingText)
	for e := ofBen.next(); e.Type != bridge.EventTyping; e = ofBen.next() { // a stream without a filter
		if e.ChatJID != "" && e.ChatJID != ben {
			t.Errorf("the limited token was told of %s", e.ChatJID)
		}
	}
	if c.device.Counters().Unavailable != 0 {
		t.Error("the account was shown as unavailable")
	}
	// Its own typing ends in availability, too.
	b.Post(path("/api/chats/%s/typing", c.anna.PN()), object{"state": "typing"}).Want(http.StatusOK)
	b.Post(path("/api/chats/%s/typing", c.anna.PN()), object{"state": "paused"}).Want(http.StatusOK)
	if c.device.Counters().Unavailable != 0 {
		t.Error("typing has made the account unavailable")
	}

	for _, e := range b.allEvents("") {
		if strings.Contains(string(e.Type), "typing") {
			t.Errorf("the log has %+v", e)
		}
	}
	for _, path := range []string{"/api/events?types=chat.typing", "/api/events?types=chat.typing&wait=1s"} {
		refused(t, b.Get(path), http.StatusBadRequest, bridge.CodeInvalid, "which only streams of events have")
	}
	refused(t, b.Post("/api/webhooks", object{"url": "https://example.com", "types": []string{"chat.typing"}}), http.StatusBadRequest, bridge.CodeInvalid, "which only streams of events have")
}

// TestTyping_IsOffByDefault: the account is never available, so that its phone rings, and no stream
// tells of typing.
func TestTyping_IsOffByDefault(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	stream := c.bridge.stream("")
	eventually(t, func() error {
		if c.device.Counters().Unavailable == 0 {
			return errors.New("presence is not shown yet")
		}
		return nil
	})
	if err := c.anna.Typing(within(t), c.owner.PN(), true); err != nil {
		t.Fatal(err)
	}
	logins := c.device.Counters().Logins
	c.device.Drop()
	if err := c.device.WaitLogins(within(t), logins+1); err != nil {
		t.Fatal(err)
	}
	c.bridge.becomes(bridge.StateOpen)
	say(t, c.anna, c.owner.PN(), "hello")
	storedFrom(t, c.bridge, c.anna, "hello")
	var kinds []bridge.EventType
	for e := stream.next(); ; e = stream.next() {
		kinds = append(kinds, e.Type)
		if e.Message != nil {
			break
		}
	}
	if slices.Contains(kinds, bridge.EventTyping) {
		t.Errorf("the stream had %v", kinds)
	}
	if n := c.device.Counters().Available; n != 0 {
		t.Errorf("the account was available %d times", n)
	}
}

// The console shows who types below the name of the chat that is open, until they send: by name in
// groups. What a stream told is over when it breaks off.
func TestConsole_ShowsWhoTypes(t *testing.T) {
	t.Parallel()
	v := chatting(t, 1280, "SHOW_TYPING=true")
	eventually(t, func() error {
		if v.device.Counters().Available == 0 {
			return errors.New("the account is not available")
		}
		return nil
	})
	line := func(want string) {
		t.Helper()
		v.waitFor(`document.querySelector("[data-typing]").innerText === "` + want + `"`)
	}
	if err := v.ben.Typing(within(t), v.owner.PN(), true); err != nil {
		t.Fatal(err)
	}
	line("typing…")
	if err := v.ben.Recording(within(t), v.owner.PN()); err != nil {
		t.Fatal(err)
	}
	line("recording…")
	say(t, v.ben, v.owner.PN(), "Here I am")
	v.wantText("Here I am")
	line("")
	v.waitFor(`!document.querySelector(".chat-title .hint").hidden`)

	say(t, v.anna, v.owner.PN(), "hello")
	v.wantStored(v.anna, "hello")
	group := newGroup(t, v.owner, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{v.anna, v.ben}})
	say(t, v.ben, group.JID(), "Who comes?")
	eventually(t, func() error {
		if got := v.bridge.Get(path("/api/chats/%s", group.JID())); got.Status != http.StatusOK {
			return fmt.Errorf("the group is not stored: %s", got.Body)
		}
		return nil
	})
	v.openChat(group.JID())
	v.waitFor(`document.readyState === "complete"`)
	types := func(person *simnet.Phone, typing bool) {
		t.Helper()
		if err := person.Typing(within(t), group.JID(), typing); err != nil {
			t.Fatal(err)
		}
	}
	types(v.ben, true)
	line("Ben is typing…")
	types(v.anna, true)
	line("2 people are typing…")
	types(v.ben, false)
	line("Anna Amsel is typing…")
	v.wantNoFaults()
	v.offline(true)
	line("")
}
