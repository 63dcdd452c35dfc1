package chats

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// focused describes the element that has the focus.
const focused = `(one => one.id || one.dataset.id || one.getAttribute("aria-label") || one.name || one.className || one.tagName)(document.activeElement)`

// On a desk a chat opens with the focus in the composer. On a phone it does not, where the
// keyboard would cover the messages, nor where a message is looked for.
func aChatOpensInTheComposer(t *testing.T, v Visited) {
	v.Chats()
	const inField = `document.activeElement.matches(".say textarea")`
	if got, want := Evaluate[bool](v.Browser, inField), Evaluate[bool](v.Browser, "innerWidth > 600"); got != want {
		t.Errorf("the focus is in the composer: %v, want %v", got, want)
	}
	id := Evaluate[string](v.Browser, `document.querySelector(".msg").dataset.id`)
	v.Open("/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped() + "?at=" + id)
	v.WaitFor(`document.readyState === "complete" && document.querySelector(".found")`)
	if Evaluate[bool](v.Browser, inField) {
		t.Error("a message that was looked for has not the focus")
	}
}

// From the head of a page to the composer there are five stops of Tab at most, also where
// the messages are full of links and menus.
func tabReachesTheComposer(t *testing.T, v Visited) {
	for i := range 12 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("https://example.org/%d and https://example.com/%d", i, i))
	}
	v.WantStored(v.Ben, "example.org/11")
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.activeElement.matches(".say textarea")`)
	v.Do(chromedp.Focus(chromedp.CSS(".skip")))
	stops := []string{"the skip link"}
	for !Evaluate[bool](v.Browser, `document.querySelector("#composer").contains(document.activeElement)`) && len(stops) < 20 {
		v.Key(kb.Tab)
		stops = append(stops, Evaluate[string](v.Browser, focused))
	}
	if len(stops) > 5 {
		t.Errorf("the stops are %q", stops)
	}
	v.Key(kb.Tab, kb.ModifierShift)
	if at := Evaluate[string](v.Browser, focused); at != "history" {
		t.Errorf("back from the composer is %q", at)
	}
}

// The arrows go through the messages; keys open their menus, reply to them, and lead back.
func messagesByKeyboard(t *testing.T, v Visited) {
	first, second := Say(t, v.Ben, v.Owner.PN(), "first"), Say(t, v.Ben, v.Owner.PN(), "second")
	v.WantStored(v.Ben, "second")
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.activeElement.matches(".say textarea")`)
	wantFocus := func(what string) {
		t.Helper()
		v.WaitFor(`document.activeElement.matches(` + JsString(what) + `)`)
	}
	v.Key(kb.ArrowUp)
	wantFocus(`.msg[data-id="` + second + `"]`)
	v.Key(kb.ArrowUp)
	wantFocus(`.msg[data-id="` + first + `"]`)
	v.Key(kb.Enter)
	wantFocus(`details.menu[open] .menu-box *, dialog[open] *`)
	v.Key(kb.Escape)
	v.WaitFor(`!document.querySelector("details.menu[open], dialog[open]")`)
	v.Key(kb.Escape)
	wantFocus(".say textarea")
	v.Key(kb.ArrowUp)
	v.Key("r")
	wantFocus(".say textarea")
	v.WaitFor(`!document.querySelector("#replying").hidden`)
	v.Key("an answer\r")
	answer := Must(v.Ben.ReceivedText(Within(t), "an answer"))(t)
	if quoted := answer.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID(); quoted != first {
		t.Errorf("quotes %q, want %q", quoted, first)
	}
	v.WantOwn("an answer")
	v.Key("?")
	if typed := Evaluate[string](v.Browser, `document.activeElement.value`); typed != "?" {
		t.Errorf("typed %q", typed)
	}
	v.Key(kb.Backspace)
	v.Key(kb.Tab, kb.ModifierShift)
	v.Key(kb.Tab, kb.ModifierShift)
	v.Key("?")
	v.WaitFor(`document.querySelector("#shortcuts").open`)
	v.Key(kb.Escape)
	v.Key("/")
	wantFocus("input[type=search]")
}

// Alt and the arrows go to the chats above and below.
func chatsByKeyboard(t *testing.T, v Visited) {
	Say(t, v.Carla, v.Owner.PN(), "below")
	v.WantStored(v.Carla, "below")
	Say(t, v.Ben, v.Owner.PN(), "above")
	v.WantStored(v.Ben, "above")
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.activeElement.matches(".say textarea")`)
	for _, step := range []struct {
		key string
		to  *simnet.Phone
	}{{kb.ArrowDown, v.Carla}, {kb.ArrowUp, v.Ben}} {
		v.Key(step.key, kb.ModifierAlt)
		v.Do(Loads(`.chat[data-chat="` + step.to.PN().String() + `"]`))
		v.WaitFor(`document.activeElement.matches(".say textarea")`)
	}
}
