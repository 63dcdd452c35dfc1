package chats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
)

// The menu of a message is whole inside the window, wherever the message is, and stays
// open while messages come.
func theMenuOfAMessage(t *testing.T, v Visited) {
	for i := range 30 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i))
	}
	Say(t, v.Ben, v.Owner.PN(), "مرحبا، هل أنت هناك؟")
	v.WantStored(v.Ben, "هناك")
	v.Bridge.Post("/api/messages/send", Object{"jid": v.Ben.PN().String(), "text": "my own"}).Want(200)
	v.Resize(1280, 640, false)
	v.OpenChat(v.Ben.PN())
	v.WantText("my own")
	const isInside = `(() => { const box = document.querySelector("#message-menu[open]").getBoundingClientRect(); return box.top >= 0 && box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight; })()`
	for _, at := range []struct{ text, block string }{
		{"line 0.", "start"}, {"line 15.", "start"}, {"line 15.", "center"}, {"line 15.", "end"}, {"هناك", "end"}, {"my own", "end"},
	} {
		v.Run(inMessage(at.text, ".msg-menu") + `.scrollIntoView({block: "` + at.block + `"})`)
		v.ClickIt(inMessage(at.text, ".msg-menu"))
		v.WaitFor(`document.querySelector("#message-menu[open]")`)
		if !Evaluate[bool](v.Browser, isInside) {
			t.Errorf("the menu of %q at the %s is outside of the window", at.text, at.block)
		}
		v.Key(kb.Escape)
		v.WaitFor(`!document.querySelector("#message-menu").open`)
	}

	v.Run(inMessage("line 29.", ".msg-menu") + `.focus()`)
	v.Key(kb.Enter)
	v.WaitFor(`document.querySelector("#message-menu[open] .quick button:focus")`)
	v.Key(kb.ArrowDown)
	v.WaitFor(`document.activeElement.textContent.trim() === "Reply"`)
	Say(t, v.Ben, v.Owner.PN(), "not finished")
	v.WantText("not finished")
	v.WaitFor(`document.querySelector("#message-menu[open]") && document.activeElement.textContent.trim() === "Reply"`)
	v.Key(kb.Enter)
	v.WaitFor(`!document.querySelector("#message-menu").open && document.activeElement.name === "text"`)
	if quoted := v.Text("#replying"); !strings.Contains(quoted, "line 29.") {
		t.Errorf("the reply quotes %q", quoted)
	}
	v.Run(inMessage("line 29.", ".msg-menu") + `.focus()`)
	v.Key(kb.Enter)
	v.WaitFor(`document.querySelector("#message-menu[open]")`)
	v.Key(kb.Escape)
	v.WaitFor(`document.activeElement === ` + inMessage("line 29.", ".msg-menu"))
}

// On a phone a finger that rests on a message opens its menu as a sheet, and so does its
// button. No text is selected, and a link below the finger is not followed. A tap on a reaction says who has reacted, and
// changes nothing.
func theMenuIsASheetOnPhones(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "Look at this: https://example.org/a/long/way")
	v.WantStored(v.Ben, "Look at this")
	v.Resize(390, 844, false)
	v.OpenChat(v.Ben.PN())
	v.WantText("Look at this")
	const isOpen = `document.querySelector("#message-menu.sheet[open]")`
	finger(v.Browser, func() { v.WaitFor(isOpen) }, v.Middle(".msg .text a"))
	if selected := Evaluate[string](v.Browser, `getSelection().toString()`); selected != "" {
		t.Errorf("%q is selected", selected)
	}
	v.WantInside("the sheet", "#message-menu *")
	for _, size := range Evaluate[[]float64](v.Browser, `[...document.querySelectorAll("#message-menu button, #message-menu a")].filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect().height)`) {
		if size < 44 {
			t.Errorf("a target is %v pixels high", size)
		}
	}
	if !Evaluate[bool](v.Browser, isOpen+`.getBoundingClientRect().bottom <= innerHeight + 1`) {
		t.Error("the sheet leaves the window")
	}
	finger(v.Browser, nil, [2]float64{195, 200}) // outside
	v.WaitFor(`!` + isOpen)
	finger(v.Browser, nil, v.Middle(".msg .msg-menu"))
	v.WaitFor(isOpen)
	finger(v.Browser, nil, v.Middle(`#message-menu [data-emoji="👍"]`))
	v.WaitFor(`!` + isOpen + ` && document.querySelector(".mark.own")?.dataset.mark === "👍"`)
	finger(v.Browser, nil, v.Middle(".mark.own"))
	v.WaitFor(isOpen + ` && document.querySelector(".reactors").textContent === "👍 You"`)
	finger(v.Browser, nil, [2]float64{195, 100})
	v.WaitFor(`!` + isOpen + ` && document.querySelector(".mark.own")`)
	finger(v.Browser, nil, [2]float64{v.Middle(".msg .text")[0], v.Middle(".msg .text")[1]}, [2]float64{200, 500}) // moves on
	if Evaluate[bool](v.Browser, `Boolean(`+isOpen+`)`) {
		t.Error("a finger that moves opens the menu")
	}
}

// Reactions are given, changed and taken back by a click on them, and any emoji is found by
// its name.
func reactsWithAnyEmoji(t *testing.T, v Visited) {
	id := Say(t, v.Ben, v.Owner.PN(), "The tent is back")
	Must(v.Ben.ReactTo(Within(t), v.Owner.PN(), v.Ben.PN(), id, "👍"))(t)
	v.WantStored(v.Ben, "The tent is back")
	v.OpenChat(v.Ben.PN())
	marked := func(want string) {
		t.Helper()
		v.WaitFor(fmt.Sprintf(`[...document.querySelectorAll(".mark")].map(one => one.dataset.mark + one.querySelector("span").textContent + (one.matches(".own") ? " mine" : "")).join() === %q`, want))
	}
	marked("👍1")
	v.Run(`document.querySelector(".mark").focus()`)
	v.Key(" ")
	marked("👍2 mine")
	if who := Evaluate[string](v.Browser, `document.querySelector(".mark").title`); who != "Ben, You" {
		t.Errorf("%q reacted", who)
	}
	if below := Evaluate[bool](v.Browser, `document.querySelector(".mark").getBoundingClientRect().top > document.querySelector(".text").getBoundingClientRect().bottom`); !below {
		t.Error("the reactions are not below the text")
	}
	v.ClickOn(".mark")
	marked("👍1")
	loaded := `performance.getEntriesByType("resource").some(one => one.name.includes("emoji.js"))`
	if Evaluate[bool](v.Browser, loaded) {
		t.Error("the emoji are loaded before they are needed")
	}
	v.ClickIt(inMessage("tent", ".msg-menu"))
	v.Do(Clicks("#message-menu [data-emojis]"))
	v.WaitFor(`document.querySelectorAll(".emoji-list button").length > 1500 && document.activeElement.type === "search"`)
	v.Key("flag iceland")
	v.WaitFor(`document.querySelectorAll(".emoji-list button").length === 1`)
	v.Run(`document.querySelector("#emojis input").select()`)
	v.Key("no such thing")
	v.WaitFor(`!document.querySelector("#emojis .hint").hidden`)
	v.Run(`document.querySelector("#emojis input").select()`)
	v.Key("camping")
	v.WaitFor(`document.querySelector(".emoji-list button")?.dataset.emoji === "🏕️"`)
	v.Key(kb.Enter)
	marked("👍1,🏕️1 mine")
	v.ClickIt(inMessage("tent", ".msg-menu"))
	v.WaitFor(`document.querySelector(".quick [data-own]")?.dataset.emoji === "🏕️" && document.querySelector(".reactors").textContent === "👍 Ben🏕️ You"`)
	v.ClickOn(".quick [data-own]")
	marked("👍1")
}
