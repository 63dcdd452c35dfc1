package chats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"go.mau.fi/whatsmeow/types"

	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// countReads counts the requests of pages that mark a chat as read. They get no answer while window.lost is true, and
// wait while window.held is a promise.
const countReads = `(real => {
	window.reads = 0;
	window.fetch = async (path, ...rest) => {
		const body = String(rest[0]?.body ?? "");
		if (!String(path).endsWith("/read") && body !== "change=read") return real(path, ...rest);
		window.reads++;
		if (window.lost) throw new TypeError("Failed to fetch");
		await window.held;
		return real(path, ...rest);
	};
})(fetch)`

// marksChatsAsRead marks the open chat by a key and by its menu, and, once that is switched on, while it is
// read: once for each new message, if the newest one is in view on a page in front. All chats are marked from the list.
func marksChatsAsRead(t *testing.T, v Visited) {
	onEachPage(t, v, countReads)
	say := func(text string) simnet.MessageID {
		t.Helper()
		id := Say(t, v.Ben, v.Owner.PN(), text)
		v.WantText(text)
		return id
	}
	isUnread := rowOf(v.Ben.PN()) + `.matches(".has-unread")`
	wantReads := func(want int) {
		t.Helper()
		if got := Evaluate[int](v.Browser, `window.reads`); got != want {
			t.Errorf("the page has marked the chat %d times, want %d", got, want)
		}
	}
	wantTicks := func(id simnet.MessageID) {
		t.Helper()
		Must(v.Ben.WaitReceipt(Within(t), id, types.ReceiptTypeRead))(t)
		v.WaitFor("!" + isUnread)
	}

	// It is off, and there is a key.
	for i := range 25 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i))
	}
	v.WantStored(v.Ben, "line 24.")
	v.OpenChat(v.Ben.PN())
	first := say("by a key")
	v.WaitFor(isUnread + ` && document.querySelector("#unread button").checkVisibility()`)
	v.ClickOn(".to-end")
	wantReads(0)
	v.Key("r", kb.ModifierAlt)
	wantTicks(first)
	v.WaitFor(`!document.querySelector("#unread") && document.querySelector("#toast.shown")?.textContent === "Marked as read"`)

	v.Open("/console/settings")
	v.WantFit("the settings")
	v.ClickOn("[data-read-on]")
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.readyState === "complete"`)
	wantTicks(say("while it is read"))
	wantReads(1)

	// Not behind another window, not below what is in view, not under a dialog.
	v.Run(`document.hasFocus = () => false`)
	second := say("behind")
	v.WaitFor(isUnread)
	wantReads(1)
	v.Run(`delete document.hasFocus; dispatchEvent(new Event("focus"))`)
	wantTicks(second)
	v.Run(`document.querySelector("#history").scrollTo(0, -300)`)
	third := say("below")
	v.WaitFor(isUnread)
	v.Run(`document.querySelector("#shortcuts").showModal()`)
	v.Run(`document.querySelector("#history").scrollTo(0, 0)`)
	Evaluate[bool](v.Browser, `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))`)
	wantReads(2)
	v.Run(`document.querySelector("#shortcuts").close()`)
	wantTicks(third)

	// Without an answer it is tried again when the window gets the focus, and not before.
	v.Run(`window.lost = true`)
	fourth := say("lost")
	v.WaitFor(`window.reads === 4`)
	v.Run(`window.lost = false; document.querySelector("#history").dispatchEvent(new Event("scroll"))`)
	wantReads(4)
	v.Run(`dispatchEvent(new Event("focus"))`)
	wantTicks(fourth)
	wantReads(5)

	// A chat that is marked as unread stays so.
	entry := func(value string) {
		t.Helper()
		v.ClickOn(".chat-head .menu > summary")
		v.ClickOn(".chat-head .menu " + value)
	}
	entry("[value=unread]")
	v.WaitFor(isUnread + ` && document.querySelector(".chat").matches("[data-unread]")`)
	v.Run(`dispatchEvent(new Event("focus"))`)
	wantReads(5)
	entry("[form=mark-read]")
	v.WaitFor("!" + isUnread)
	wantReads(6)
	marksAll(t, v)
}

// marksAll marks all unread chats after a question, one after the other, and stops when it is told to.
func marksAll(t *testing.T, v Visited) {
	t.Helper()
	all := []*simnet.Phone{v.Ben, v.Anna, v.Carla}
	say := func() (ids []simnet.MessageID) {
		t.Helper()
		for _, phone := range all {
			ids = append(ids, Say(t, phone, v.Owner.PN(), "All of you"))
			v.WantStored(phone, "All of you")
		}
		return ids
	}
	choose := func() {
		t.Helper()
		v.ClickOn(".pane-menu summary")
		v.ClickOn("[data-read-all]")
		v.WaitFor(`document.querySelector("dialog.ask[open]")`)
	}
	done := func(want string) {
		t.Helper()
		v.WaitFor(`!document.querySelector("dialog[open]") && document.querySelector("#toast.shown")?.textContent === ` + JsString(want))
	}
	const unread = `document.querySelectorAll(".chat-list .has-unread").length`
	v.Open("/console/chats")
	say()
	v.WaitFor(unread + " === 3") // also a new chat that is the last of those of one second
	choose()
	if question := v.Text("dialog.ask p"); !strings.HasPrefix(question, "Mark 3 chats as read?") {
		t.Errorf("the question is %q", question)
	}
	v.ClickIt(`[...document.querySelectorAll("dialog.ask button")].find(one => one.textContent === "Cancel")`)
	v.WaitFor(`!document.querySelector("dialog.ask")`)
	v.Run(`window.held = new Promise(resolve => (window.release = resolve))`)
	choose()
	v.ClickOn("dialog.ask .primary")
	v.WaitFor(`window.reads === 1`)
	v.WantFit("the progress")
	v.ClickIt(`[...document.querySelectorAll("dialog.ask button")].find(one => one.textContent === "Stop")`)
	v.Run(`window.release()`)
	done("1 of 3 chats marked as read")
	v.WaitFor(unread + " === 2")

	ids := say()
	v.WaitFor(unread + " === 3")
	choose()
	v.ClickOn("dialog.ask .primary")
	done("3 chats marked as read")
	for i, phone := range all {
		Must(phone.WaitReceipt(Within(t), ids[i], types.ReceiptTypeRead))(t)
	}
	v.WaitFor(unread + " === 0")
	v.ClickOn(".pane-menu summary")
	v.ClickOn("[data-read-all]")
	done("No unread chats")
}
