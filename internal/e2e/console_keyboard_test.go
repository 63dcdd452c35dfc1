package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// key presses keys where the focus is. As on a keyboard, a key that a page takes for
// itself types nothing.
func (b *browser) key(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	for _, r := range keys {
		var down input.DispatchKeyEventParams
		for _, event := range kb.Encode(r) {
			for _, modifier := range modifiers {
				event.Modifiers |= int64(modifier)
			}
			switch event.Type {
			case kb.KeyChar:
				down.Text = event.Text
			case kb.KeyUp:
				callBrowser(b, input.DispatchKeyEvent, down)
				callBrowser(b, input.DispatchKeyEvent, *event)
			default:
				down = *event
				down.Type = kb.KeyDown
			}
		}
	}
}

// focused describes the element that has the focus.
const focused = `(one => one.id || one.dataset.id || one.getAttribute("aria-label") || one.name || one.className || one.tagName)(document.activeElement)`

// On a desk a chat opens with the focus in the composer. On a phone it does not, where the
// keyboard would cover the messages, nor where a message is looked for.
func TestConsole_AChatOpensInTheComposer(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := chatting(t, width)
		const inField = `document.activeElement.matches(".say textarea")`
		if got, want := evaluate[bool](v.browser, inField), width > 600; got != want {
			t.Errorf("the focus is in the composer: %v, want %v", got, want)
		}
		id := evaluate[string](v.browser, `document.querySelector(".msg").dataset.id`)
		v.open("/console/chats/" + bridge.JID(v.ben.PN().String()).Escaped() + "?at=" + id)
		v.waitFor(`document.readyState === "complete" && document.querySelector(".found")`)
		if evaluate[bool](v.browser, inField) {
			t.Error("a message that was looked for has not the focus")
		}
		v.wantNoFaults()
	})
}

// From the head of a page to the composer there are five stops of Tab at most, also where
// the messages are full of links and menus.
func TestConsole_TabReachesTheComposer(t *testing.T) {
	t.Parallel()
	v := visit(t)
	for i := range 12 {
		say(t, v.ben, v.owner.PN(), fmt.Sprintf("https://example.org/%d and https://example.com/%d", i, i))
	}
	v.wantStored(v.ben, "example.org/11")
	v.resize(1280, 844, false)
	v.openChat(v.ben.PN())
	v.waitFor(`document.activeElement.matches(".say textarea")`)
	v.do(chromedp.Focus(chromedp.CSS(".skip")))
	stops := []string{"the skip link"}
	for !evaluate[bool](v.browser, `document.querySelector("#composer").contains(document.activeElement)`) && len(stops) < 20 {
		v.key(kb.Tab)
		stops = append(stops, evaluate[string](v.browser, focused))
	}
	if len(stops) > 5 {
		t.Errorf("the stops are %q", stops)
	}
	v.key(kb.Tab, kb.ModifierShift)
	if at := evaluate[string](v.browser, focused); at != "history" {
		t.Errorf("back from the composer is %q", at)
	}
	v.wantNoFaults()
}

// The arrows go through the messages; keys open their menus, reply to them, and lead back.
func TestConsole_MessagesByKeyboard(t *testing.T) {
	t.Parallel()
	v := visit(t)
	first, second := say(t, v.ben, v.owner.PN(), "first"), say(t, v.ben, v.owner.PN(), "second")
	v.wantStored(v.ben, "second")
	v.resize(1280, 844, false)
	v.openChat(v.ben.PN())
	v.waitFor(`document.activeElement.matches(".say textarea")`)
	wantFocus := func(what string) {
		t.Helper()
		v.waitFor(`document.activeElement.matches(` + jsString(what) + `)`)
	}
	v.key(kb.ArrowUp)
	wantFocus(`.msg[data-id="` + second + `"]`)
	v.key(kb.ArrowUp)
	wantFocus(`.msg[data-id="` + first + `"]`)
	v.key(kb.Enter)
	wantFocus(`details.menu[open] .menu-box *, dialog[open] *`)
	v.key(kb.Escape)
	v.waitFor(`!document.querySelector("details.menu[open], dialog[open]")`)
	v.key(kb.Escape)
	wantFocus(".say textarea")
	v.key(kb.ArrowUp)
	v.key("r")
	wantFocus(".say textarea")
	v.waitFor(`!document.querySelector("#replying").hidden`)
	v.key("an answer\r")
	answer := must(v.ben.ReceivedText(within(t), "an answer"))(t)
	if quoted := answer.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID(); quoted != first {
		t.Errorf("quotes %q, want %q", quoted, first)
	}
	v.wantOwn("an answer")
	v.key("?")
	if typed := evaluate[string](v.browser, `document.activeElement.value`); typed != "?" {
		t.Errorf("typed %q", typed)
	}
	v.key(kb.Backspace)
	v.key(kb.Tab, kb.ModifierShift)
	v.key(kb.Tab, kb.ModifierShift)
	v.key("?")
	v.waitFor(`document.querySelector("#shortcuts").open`)
	v.key(kb.Escape)
	v.key("/")
	wantFocus("input[type=search]")
	v.wantNoFaults()
}

// Alt and the arrows go to the chats above and below.
func TestConsole_ChatsByKeyboard(t *testing.T) {
	t.Parallel()
	v := visit(t)
	say(t, v.carla, v.owner.PN(), "below")
	v.wantStored(v.carla, "below")
	say(t, v.ben, v.owner.PN(), "above")
	v.wantStored(v.ben, "above")
	v.resize(1280, 844, false)
	v.openChat(v.ben.PN())
	v.waitFor(`document.activeElement.matches(".say textarea")`)
	for _, step := range []struct {
		key string
		to  *simnet.Phone
	}{{kb.ArrowDown, v.carla}, {kb.ArrowUp, v.ben}} {
		v.key(step.key, kb.ModifierAlt)
		v.do(loads(`.chat[data-chat="` + step.to.PN().String() + `"]`))
		v.waitFor(`document.activeElement.matches(".say textarea")`)
	}
	v.wantNoFaults()
}
