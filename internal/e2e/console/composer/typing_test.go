package composer

import (
	"errors"
	"testing"

	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// The console shows who types below the name of the chat that is open, until they send: by name in
// groups. What a stream told is over when it breaks off.
func showsWhoTypes(t *testing.T, v Visited) {
	v.Chats()
	Eventually(t, func() error {
		if v.Device.Counters().Available == 0 {
			return errors.New("the account is not available")
		}
		return nil
	})
	line := func(want string) {
		t.Helper()
		v.WaitFor(`document.querySelector("[data-typing]").innerText === "` + want + `"`)
	}
	if err := v.Ben.Typing(Within(t), v.Owner.PN(), true); err != nil {
		t.Fatal(err)
	}
	line("typing…")
	if err := v.Ben.Recording(Within(t), v.Owner.PN()); err != nil {
		t.Fatal(err)
	}
	line("recording…")
	Say(t, v.Ben, v.Owner.PN(), "Here I am")
	v.WantText("Here I am")
	line("")
	v.WaitFor(`document.querySelector(".chat-title .hint").checkVisibility()`)

	Say(t, v.Anna, v.Owner.PN(), "hello")
	v.WantStored(v.Anna, "hello")
	group := NewGroup(t, v.Owner, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{v.Anna, v.Ben}})
	v.Stored(t, Say(t, v.Ben, group.JID(), "Who comes?"))
	v.OpenChat(group.JID())
	v.WaitFor(`document.readyState === "complete"`)
	types := func(person *simnet.Phone, typing bool) {
		t.Helper()
		if err := person.Typing(Within(t), group.JID(), typing); err != nil {
			t.Fatal(err)
		}
	}
	types(v.Ben, true)
	line("Ben is typing…")
	types(v.Anna, true)
	line("2 people are typing…")
	types(v.Ben, false)
	line("Anna Amsel is typing…")
	v.WantNoFaults()
	v.Bridge.Kill() // so that the stream tells of no end of typing
	line("")
	v.WaitFor(`!document.querySelector(".rail .state.good").checkVisibility() && document.querySelector(".rail .state.off").checkVisibility()`)
	forgetFaults(v.Browser)
}
