package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The menu of a message is whole inside the window, wherever the message is, and stays
// open while messages come.
func TestConsole_TheMenuOfAMessage(t *testing.T) {
	t.Parallel()
	v := visit(t)
	for i := range 30 {
		say(t, v.ben, v.owner.PN(), fmt.Sprintf("line %d.", i))
	}
	say(t, v.ben, v.owner.PN(), "مرحبا، هل أنت هناك؟")
	v.wantStored(v.ben, "هناك")
	v.bridge.Post("/api/messages/send", object{"jid": v.ben.PN().String(), "text": "my own"}).Want(200)
	v.resize(1280, 640, false)
	v.openChat(v.ben.PN())
	v.wantText("my own")
	const isInside = `(() => { const box = document.querySelector("#message-menu[open]").getBoundingClientRect(); return box.top >= 0 && box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight; })()`
	for _, text := range []string{"line 0.", "line 29.", "هناك", "my own"} {
		for _, block := range []string{"start", "center", "end"} {
			v.run(inMessage(text, ".menu > summary") + `.scrollIntoView({block: "` + block + `"})`)
			v.run(inMessage(text, ".menu > summary") + `.click()`)
			v.waitFor(`document.querySelector("#message-menu[open]")`)
			if !evaluate[bool](v.browser, isInside) {
				t.Errorf("the menu of %q at the %s is outside of the window", text, block)
			}
			v.press(kb.Escape)
			v.waitFor(`!document.querySelector("#message-menu").open`)
		}
	}

	v.run(inMessage("line 29.", ".menu > summary") + `.focus()`)
	v.press(kb.Enter)
	v.waitFor(`document.querySelector("#message-menu[open] .quick button:focus")`)
	v.press(kb.ArrowDown)
	v.waitFor(`document.activeElement.textContent.trim() === "Reply"`)
	say(t, v.ben, v.owner.PN(), "not finished")
	v.wantText("not finished")
	v.waitFor(`document.querySelector("#message-menu[open]") && document.activeElement.textContent.trim() === "Reply"`)
	v.press(kb.Enter)
	v.waitFor(`!document.querySelector("#message-menu").open && document.activeElement.name === "text"`)
	if quoted := v.text("#replying"); !strings.Contains(quoted, "line 29.") {
		t.Errorf("the reply quotes %q", quoted)
	}
	v.run(inMessage("line 29.", ".menu > summary") + `.focus()`)
	v.press(kb.Enter)
	v.waitFor(`document.querySelector("#message-menu[open]")`)
	v.press(kb.Escape)
	v.waitFor(`document.activeElement === ` + inMessage("line 29.", ".menu > summary"))
	v.wantNoFaults()
}

// On a phone a finger that rests on a message opens its menu as a sheet, and so does its
// button. No text is selected, and a link below the finger is not followed.
func TestConsole_TheMenuIsASheetOnPhones(t *testing.T) {
	t.Parallel()
	v := visit(t)
	say(t, v.ben, v.owner.PN(), "Look at this: https://example.org/a/long/way")
	v.wantStored(v.ben, "Look at this")
	v.onTouch(390)
	v.openChat(v.ben.PN())
	v.wantText("Look at this")
	const isOpen = `document.querySelector("#message-menu.sheet[open]")`
	v.finger(func() { v.waitFor(isOpen) }, v.middle(".msg .text a"))
	if selected := evaluate[string](v.browser, `getSelection().toString()`); selected != "" {
		t.Errorf("%q is selected", selected)
	}
	v.wantInside("the sheet", "#message-menu *")
	for _, size := range evaluate[[]float64](v.browser, `[...document.querySelectorAll("#message-menu button, #message-menu a")].filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect().height)`) {
		if size < 44 {
			t.Errorf("a target is %v pixels high", size)
		}
	}
	if !evaluate[bool](v.browser, isOpen+`.getBoundingClientRect().bottom <= innerHeight + 1`) {
		t.Error("the sheet leaves the window")
	}
	v.finger(nil, [2]float64{195, 200}) // outside
	v.waitFor(`!` + isOpen)
	v.finger(nil, v.middle(".msg .menu > summary"))
	v.waitFor(isOpen)
	v.finger(nil, v.middle(`#message-menu [data-emoji="👍"]`))
	v.waitFor(`!` + isOpen + ` && document.querySelector(".mark.own")?.dataset.mark === "👍"`)
	v.finger(nil, [2]float64{v.middle(".msg .text")[0], v.middle(".msg .text")[1]}, [2]float64{200, 500}) // moves on
	if evaluate[bool](v.browser, `Boolean(`+isOpen+`)`) {
		t.Error("a finger that moves opens the menu")
	}
	v.wantNoFaults()
}

// Reactions are given, changed and taken back by a click on them, and any emoji is found by
// its name.
func TestConsole_ReactsWithAnyEmoji(t *testing.T) {
	t.Parallel()
	v := visit(t)
	id := say(t, v.ben, v.owner.PN(), "The tent is back")
	must(v.ben.ReactTo(within(t), v.owner.PN(), v.ben.PN(), id, "👍"))(t)
	v.wantStored(v.ben, "The tent is back")
	v.resize(1280, 800, false)
	v.openChat(v.ben.PN())
	marked := func(want string) {
		t.Helper()
		v.waitFor(fmt.Sprintf(`[...document.querySelectorAll(".mark")].map(one => one.dataset.mark + one.querySelector("span").textContent + (one.matches(".own") ? " mine" : "")).join() === %q`, want))
	}
	marked("👍1")
	v.run(`document.querySelector(".mark").focus()`)
	v.press(" ")
	marked("👍2 mine")
	if who := evaluate[string](v.browser, `document.querySelector(".mark").title`); who != "Ben, You" {
		t.Errorf("%q reacted", who)
	}
	if below := evaluate[bool](v.browser, `document.querySelector(".mark").getBoundingClientRect().top > document.querySelector(".text").getBoundingClientRect().bottom`); !below {
		t.Error("the reactions are not below the text")
	}
	v.clickOn(".mark")
	marked("👍1")
	loaded := `performance.getEntriesByType("resource").some(one => one.name.includes("emoji.js"))`
	if evaluate[bool](v.browser, loaded) {
		t.Error("the emoji are loaded before they are needed")
	}
	v.run(inMessage("tent", ".menu > summary") + `.click()`)
	v.do(chromedp.Click(chromedp.CSS("#message-menu [data-emojis]")))
	v.waitFor(`document.querySelectorAll(".emoji-list button").length > 1500 && document.activeElement.type === "search"`)
	v.press("flag iceland")
	v.waitFor(`document.querySelectorAll(".emoji-list button").length === 1`)
	v.run(`document.querySelector("#emojis input").select()`)
	v.press("no such thing")
	v.waitFor(`!document.querySelector("#emojis .hint").hidden`)
	v.run(`document.querySelector("#emojis input").select()`)
	v.press("camping")
	v.waitFor(`document.querySelector(".emoji-list button")?.dataset.emoji === "🏕️"`)
	v.press(kb.Enter)
	marked("👍1,🏕️1 mine")
	v.run(inMessage("tent", ".menu > summary") + `.click()`)
	v.waitFor(`document.querySelector(".quick [data-own]")?.dataset.emoji === "🏕️" && document.querySelector(".reactors").textContent === "👍 Ben🏕️ You"`)
	v.clickOn(".quick [data-own]")
	marked("👍1")
	v.wantNoFaults()
}
