package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// rowOf returns a JavaScript expression for a chat's row in the list.
func rowOf(chat simnet.JID) string {
	return fmt.Sprintf(`document.querySelector('.chat-list .chat-row[data-chat=%q]')`, bridge.JID(chat.String()))
}

// visitAs opens the console on a desk or, dark, on a phone.
func visitAs(t *testing.T, width int64) visited {
	t.Helper()
	v := visit(t)
	v.resize(width, 844, width == 390)
	return v
}

// The one search box finds chats and messages while one types, in every spelling, and a
// hit leads to its message.
func TestConsoleChats_TheSearchBoxFindsAsOneTypes(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := visitAs(t, width)
		say(t, v.ben, v.owner.PN(), "We meet in the Hauptstraße, not in the Nebenstrasse")
		v.wantStored(v.ben, "Hauptstraße")
		v.open("/console/chats")
		if !evaluate[bool](v.browser, `document.querySelector(".new-link").getBoundingClientRect().bottom <= document.querySelector(".pane .search").getBoundingClientRect().top`) {
			t.Error("the button for a new chat is not in the line of the heading")
		}
		const box = ".pane input[type=search]"
		v.do(chromedp.SendKeys(chromedp.CSS(box), v.ben.Name()))
		v.waitFor(`document.querySelector("#found .found-part mark")`)
		if marked := v.text("#found .found-part mark"); marked != v.ben.Name() {
			t.Errorf("of the chat %q is marked", marked)
		}
		v.do(chromedp.KeyEvent(kb.Escape))
		v.waitFor(`document.querySelector("#found").hidden && !document.querySelector("` + box + `").value`)
		v.do(chromedp.SendKeys(chromedp.CSS(box), "STRASSE"))
		v.waitFor(`[...document.querySelectorAll("#found mark")].map(mark => mark.textContent).join() === "straße,strasse"`)
		v.do(chromedp.KeyEvent(kb.ArrowDown))
		v.do(chromedp.KeyEvent(kb.Enter))
		v.do(loads(".msg.found"))
		v.wantText("Hauptstraße")
		v.wantNoFaults()
	})
}

// A row's menu pins, archives and marks as unread; the phone shows the same, and the title
// counts what is unread.
func TestConsoleChats_ARowsMenuChangesTheChat(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := visitAs(t, width)
		say(t, v.ben, v.owner.PN(), "Hello")
		v.wantStored(v.ben, "Hello")
		v.open("/console/chats")
		v.waitFor(`document.title.startsWith("(1) ")`)
		row := rowOf(v.ben.PN())
		choose := func(change string) {
			v.do(chromedp.Evaluate[chromedp.Void](row + `.dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 120, clientY: 200}))`))
			v.waitFor(`document.querySelector("dialog.row-menu[open]")`)
			v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("dialog.row-menu [value=%s]").click()`, change)))
			v.waitFor(`!document.querySelector("dialog.row-menu[open]")`)
		}
		choose("read")
		v.waitFor(`!document.title.startsWith("(") && !` + row + `.matches(".has-unread")`)
		choose("pin")
		v.waitFor(row + `.querySelector("[title=Pinned]")`)
		choose("unread")
		v.waitFor(`document.title.startsWith("(1) ")`)
		choose("archive")
		v.waitFor(`!` + row + ` && document.querySelector(".archive-row")`)
		v.clickOn(".archive-row")
		v.arrives(".chat-list .chat-row")
		choose("unarchive")
		v.waitFor(`!document.querySelector(".chat-list .chat-row")`)
		v.wantNoFaults()
	})
}

// The list is one stop for Tab; arrows move in it, and it stays where it is when news come.
// A draft shows in its row.
func TestConsoleChats_TheListIsMovedThroughByArrows(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := visitAs(t, width)
		say(t, v.ben, v.owner.PN(), "Hello from me")
		v.wantStored(v.ben, "Hello from me")
		carl := newPhone(t, v.network, simnet.PhoneOptions{Number: "491510000077", Name: "Carl"})
		say(t, carl, v.owner.PN(), "And from me")
		v.wantStored(carl, "And from me")
		v.openChat(carl.PN())
		v.do(chromedp.Evaluate[chromedp.Void](`sessionStorage.setItem("draft " + location.pathname, "not yet")`))
		v.open("/console/chats")
		v.waitFor(rowOf(carl.PN()) + `.textContent.includes("Draft: not yet")`)
		if stops := evaluate[int](v.browser, `document.querySelectorAll('#chats [data-row][tabindex="0"]').length`); stops != 1 {
			t.Errorf("the list has %d stops", stops)
		}
		v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#chats [tabindex="0"]').focus()`))
		v.do(chromedp.KeyEvent(kb.ArrowDown))
		v.waitFor(`document.querySelectorAll(".chat-list .chat-row")[1] === document.activeElement`)
		v.do(chromedp.Evaluate[chromedp.Void](`window.stays = document.activeElement`))
		second := v.ben // of one second the order is that of the numbers
		if evaluate[string](v.browser, `window.stays.dataset.chat`) == carl.PN().String() {
			second = carl
		}
		told := time.Now().Unix()
		eventually(t, func() error { // messages of one second do not change the order
			if time.Now().Unix() == told {
				return errors.New("it is the same second")
			}
			return nil
		})
		say(t, second, v.owner.PN(), "Newest of all")
		v.waitFor(`document.querySelector(".chat-list .chat-row") === window.stays && window.stays.textContent.includes("Newest of all") && document.activeElement === window.stays`)
		v.do(chromedp.KeyEvent(kb.Enter))
		v.do(loads("#messages"))
		v.wantText("Newest of all")
		v.wantNoFaults()
	})
}

// Notifications are off until they are switched on, come for other chats than the one that
// is looked at, and hide the text where that is chosen.
func TestConsoleChats_NotifiesWhereAskedFor(t *testing.T) {
	t.Parallel()
	v := visit(t)
	say(t, v.ben, v.owner.PN(), "The first")
	v.wantStored(v.ben, "The first")
	v.resize(1280, 800, false)
	const record = `(() => {
		window.shown = [];
		window.Notification = class extends EventTarget {
			constructor(title, options) { super(); window.shown.push(title + ": " + options.body); }
			static permission = "default";
			static requestPermission() { return Promise.resolve(this.permission = "granted"); }
		};
	})()`
	// Before the page's own scripts: a browser without a screen has denied notifications.
	callBrowser(v.browser, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: record})
	v.open("/console/chats")
	v.waitFor(`document.title.startsWith("(1) ")`) // from here on it follows the events
	v.do(chromedp.Click(chromedp.CSS(".pane-menu summary")), chromedp.Click(chromedp.CSS("[data-notify-on]")))
	v.waitFor(`localStorage.getItem("bridged notifications") === "text" && document.querySelector("[data-notify-hint]").textContent.includes("neither muted")`)
	say(t, v.ben, v.owner.PN(), "The second")
	v.waitFor(fmt.Sprintf(`window.shown.join() === %s`, jsString(v.ben.Name()+": The second")))
	v.do(chromedp.Click(chromedp.CSS("[data-notify-text]")))
	say(t, v.ben, v.owner.PN(), "The third")
	v.waitFor(`window.shown.length === 2 && window.shown[1].endsWith(": New message")`)
	v.wantNoFaults()
}
