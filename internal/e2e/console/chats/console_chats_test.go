package chats

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// rowOf returns a JavaScript expression for a chat's row in the list.
func rowOf(chat simnet.JID) string {
	return fmt.Sprintf(`document.querySelector('.chat-list .chat-row[data-chat=%q]')`, bridge.JID(chat.String()))
}

// The one search box finds chats and messages while one types, in every spelling, and a hit leads to
// its message. The results are there again after Back.
func theSearchBoxFindsAsOneTypes(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "We meet in the Hauptstraße, not in the Nebenstrasse")
	v.WantStored(v.Ben, "Hauptstraße")
	v.Open("/console/chats")
	if !Evaluate[bool](v.Browser, `document.querySelector(".new-link").getBoundingClientRect().bottom <= document.querySelector(".pane .search").getBoundingClientRect().top`) {
		t.Error("the button for a new chat is not in the line of the heading")
	}
	const box = ".pane input[type=search]"
	v.Do(chromedp.SendKeys(chromedp.CSS(box), v.Ben.Name()))
	v.WaitFor(`document.querySelector("#found .found-part mark")?.textContent === ` + JsString(v.Ben.Name())) // earlier ones are of a part of the name
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.WaitFor(`document.querySelector("#found").hidden && !document.querySelector("` + box + `").value`)
	v.Do(chromedp.SendKeys(chromedp.CSS(box), "STRASSE"))
	v.WaitFor(`[...document.querySelectorAll("#found mark")].map(mark => mark.textContent).join() === "straße,strasse"`)
	v.Do(chromedp.KeyEvent(kb.ArrowDown))
	v.Do(chromedp.KeyEvent(kb.Enter))
	v.Do(Loads(".msg.found mark"))
	v.WantText("Hauptstraße")
	v.Do(chromedp.NavigateBack(), Loads("#found mark"))
	v.WantSeen("#found .chat-row")
	v.WaitFor(`document.querySelector("` + box + `").value === "STRASSE"`)
	v.ClickIt(`[...document.querySelectorAll("#found .chat-row")].at(-1)`)
	v.Do(Loads(".msg.found mark"))
}

// A row's menu pins, archives and marks as unread; the phone shows the same, and the title
// counts what is unread.
func aRowsMenuChangesTheChat(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "Hello")
	v.WantStored(v.Ben, "Hello")
	v.Open("/console/chats")
	v.WaitFor(`document.title.startsWith("(1) ")`)
	row, isPhone := rowOf(v.Ben.PN()), Evaluate[bool](v.Browser, "innerWidth < 600")
	choose := func(change string) {
		const menu = `document.querySelector("dialog.row-menu[open]")`
		v.WaitFor(row)
		if isPhone {
			finger(v.Browser, func() { v.WaitFor(menu) }, v.Middle(".chat-list .chat-row"))
		} else {
			v.Run(`for (const click of [1, 2]) ` + row + `.dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 120, clientY: 200}))`)
		}
		v.WaitFor(menu)
		v.ClickOn(fmt.Sprintf("dialog.row-menu [value=%s]", change))
		v.WaitFor(`!document.querySelector("dialog.row-menu[open]")`)
	}
	choose("read")
	v.WaitFor(`!document.title.startsWith("(") && !` + row + `.matches(".has-unread")`)
	choose("pin")
	v.WaitFor(row + `.querySelector("[title=Pinned]")`)
	choose("unread")
	v.WaitFor(`document.title.startsWith("(1) ")`)
	choose("archive")
	v.WaitFor(`!` + row + ` && document.querySelector(".archive-row")`)
	v.ClickOn(".archive-row")
	v.Arrives(".chat-list .chat-row")
	choose("unarchive")
	v.WaitFor(`!document.querySelector(".chat-list .chat-row")`)
	if Evaluate[bool](v.Browser, `Boolean(document.querySelector("#toast.bad"))`) { // two clicks open the menu once
		t.Error("the page says: " + v.Text("#toast"))
	}
}

// The list is one stop for Tab; arrows move in it, and it stays where it is when news come.
// A draft shows in its row.
func theListIsMovedThroughByArrows(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "Hello from me")
	v.WantStored(v.Ben, "Hello from me")
	Say(t, v.Carla, v.Owner.PN(), "And from me")
	v.WantStored(v.Carla, "And from me")
	v.OpenChat(v.Carla.PN())
	v.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "not yet"))
	v.Run(`sessionStorage.clear()`) // as in another tab
	v.Open("/console/chats")
	v.WaitFor(rowOf(v.Carla.PN()) + `.textContent.includes("Draft: not yet")`)
	if stops := Evaluate[int](v.Browser, `document.querySelectorAll('#chats [data-row][tabindex="0"]').length`); stops != 1 {
		t.Errorf("the list has %d stops", stops)
	}
	v.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#chats [tabindex="0"]').focus()`))
	v.Do(chromedp.KeyEvent(kb.ArrowDown))
	v.WaitFor(`document.querySelectorAll(".chat-list .chat-row")[1] === document.activeElement`)
	v.Do(chromedp.Evaluate[chromedp.Void](`window.stays = document.activeElement`))
	second := v.Ben // of one second the order is that of the numbers
	if Evaluate[string](v.Browser, `window.stays.dataset.chat`) == v.Carla.PN().String() {
		second = v.Carla
	}
	told := time.Now().Unix()
	Eventually(t, func() error { // messages of one second do not change the order
		if time.Now().Unix() == told {
			return errors.New("it is the same second")
		}
		return nil
	})
	Say(t, second, v.Owner.PN(), "Newest of all")
	v.WaitFor(`document.querySelector(".chat-list .chat-row") === window.stays && window.stays.textContent.includes("Newest of all") && document.activeElement === window.stays`)
	v.Do(chromedp.KeyEvent(kb.Enter))
	v.Do(Loads("#messages"))
	v.WantText("Newest of all")
}

// onEachPage runs a script before those of each page that the test opens.
func onEachPage(t *testing.T, v Visited, script string) {
	added := CallBrowser(v.Browser, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	t.Cleanup(func() {
		CallBrowser(v.Browser, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams(added))
	})
}

// Notifications are off until they are switched on, come for other chats than the one that
// is looked at, and hide the text where that is chosen.
func notifiesWhereAskedFor(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "The first")
	v.WantStored(v.Ben, "The first")
	const record = `(() => {
		window.shown = [];
		window.Notification = class extends EventTarget {
			constructor(title, options) { super(); window.shown.push(title + ": " + options.body); }
			static permission = "default";
			static requestPermission() { return Promise.resolve(this.permission = "granted"); }
		};
	})()`
	// Before the page's own scripts: a browser without a screen has denied notifications.
	onEachPage(t, v, record)
	v.Open("/console/chats")
	v.WaitFor(`document.title.startsWith("(1) ")`) // from here on it follows the events
	v.Do(Clicks(".pane-menu summary"), Clicks("[data-notify-on]"))
	v.WaitFor(`localStorage.getItem("bridged notifications /console/") === "text" && document.querySelector("[data-notify-hint]").textContent.includes("neither muted")`)
	Say(t, v.Ben, v.Owner.PN(), "The second")
	v.WaitFor(fmt.Sprintf(`window.shown.join() === %s`, JsString(v.Ben.Name()+": The second")))
	v.Do(Clicks("[data-notify-text]"))
	Say(t, v.Ben, v.Owner.PN(), "The third")
	v.WaitFor(`window.shown.length === 2 && window.shown[1].endsWith(": New message")`)
}
