package chats

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// wantOpen waits until a chat is the open one: by its address, title, heading, row and the focus.
func wantOpen(b *Browser, chat simnet.JID, name string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`location.pathname === %q && document.querySelector(".chat").dataset.chat === %q
		&& document.querySelector(".chat-title h1").innerText === %q && document.title.endsWith(%[3]q + " · bridged")
		&& %s.ariaCurrent === "true" && document.querySelectorAll("#chats [aria-current]").length === 1
		&& document.activeElement.matches(".say textarea")`,
		pathOf(chat), chat.String(), name, rowOf(chat)))
}

// pathOf returns the path of a chat's page.
func pathOf(chat simnet.JID) string { return "/console/chats/" + bridge.JID(chat.String()).Escaped() }

// A chat of the list opens in place of the open one: the page, what is being sent and the typed texts stay, Back and Forward
// go between the chats, and each one lives as if its page had been loaded.
func TestConsoleChats_OpenInPlaceOfEachOther(t *testing.T) {
	t.Parallel()
	v := Visit(t, "SHOW_TYPING=true")
	group := NewGroup(t, v.Owner, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{v.Anna, v.Ben}})
	v.Stored(t, Say(t, v.Anna, group.JID(), "Who comes?"))
	Say(t, v.Anna, v.Owner.PN(), "Hello from Anna")
	v.WantStored(v.Anna, "Hello from Anna")
	began := time.Now().Add(-time.Hour)
	for i := range 60 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i), simnet.At(began.Add(time.Duration(i)*time.Second)))
	}
	v.WantStored(v.Ben, "line 59.")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(http.StatusOK)
	v.Resize(1280, 800, false)
	v.OpenChat(v.Ben.PN())
	wantOpen(v.Browser, v.Ben.PN(), "Ben")
	v.Run(`window.isSamePage = true`)
	open := func(chat simnet.JID, name string) {
		t.Helper()
		v.ClickIt(rowOf(chat))
		wantOpen(v.Browser, chat, name)
	}

	t.Run("texts and places", func(t *testing.T) {
		v.Browser.T = t
		v.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "not finished"))
		v.Run(inMessage("line 20.", ".bubble") + `.scrollIntoView({block: "start"})`)
		id, below := placeOf(v.Browser)
		open(v.Anna.PN(), "Anna Amsel")
		v.WaitFor(`document.querySelector(".say textarea").value === "" && ` + rowOf(v.Ben.PN()) + `.innerText.includes("Draft: not finished")`)
		v.WantText("Hello from Anna")
		v.WaitFor(`(time => {
			const { left, bottom } = time.getBoundingClientRect();
			return getComputedStyle(time.closest("li").querySelector(".row-more")).opacity === "1" && time.contains(document.elementFromPoint(left + 2, bottom - 2));
		})(` + rowOf(v.Anna.PN()) + `.querySelector(".chat-row-when"))`) // the menu's button is shown, and does not cover it
		v.Write("to Anna")
		v.WantOwn("to Anna")
		v.Run(`history.back()`)
		wantOpen(v.Browser, v.Ben.PN(), "Ben")
		v.WaitFor(`document.querySelector(".say textarea").value === "not finished"`)
		wantPlace(v.Browser, "after Back", id, below)
		v.Run(`history.forward()`)
		wantOpen(v.Browser, v.Anna.PN(), "Anna Amsel")
		v.WantOwn("to Anna")
	})
	t.Run("news", func(t *testing.T) {
		v.Browser.T = t
		open(group.JID(), "Choir")
		Say(t, v.Anna, v.Owner.PN(), "not for the choir")
		Say(t, v.Ben, group.JID(), "I do")
		v.WantText("I do")
		v.WaitFor(rowOf(v.Anna.PN()) + `.innerText.includes("not for the choir")`)
		v.WaitFor(`!document.querySelector("#messages").textContent.includes("not for")`)
		if err := v.Anna.Typing(Within(t), v.Owner.PN(), true); err != nil {
			t.Fatal(err)
		}
		if err := v.Ben.Typing(Within(t), group.JID(), true); err != nil {
			t.Fatal(err)
		}
		v.WaitFor(`document.querySelector("[data-typing]").innerText === "Ben is typing…" && !document.querySelector(".chat-title .hint").checkVisibility()`)
		if err := v.Ben.Typing(Within(t), group.JID(), false); err != nil {
			t.Fatal(err)
		}
		v.WaitFor(`document.querySelector(".chat-title").innerText.endsWith("\n3 members")`)
		if err := group.Add(Within(t), v.Owner, v.Carla); err != nil {
			t.Fatal(err)
		}
		v.WaitFor(`document.querySelector(".chat-title").innerText.endsWith("\n4 members")`)
		open(v.Anna.PN(), "Anna Amsel")
		v.WaitFor(`document.querySelector("[data-typing]").innerText === "typing…"`)
		v.WaitFor(`document.querySelector("#unread")`)
		open(group.JID(), "Choir")
		v.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "@an"))
		v.WaitFor(`document.querySelector("#mention-list:not([hidden])")?.innerText.includes("Anna Amsel")`)
		v.Key(kb.Enter)
		v.Key(kb.Enter)
		v.WaitFor(`document.querySelectorAll(".msg.out:not(.unsent) .mention").length === 1`)
	})
	t.Run("what comes while it opens", func(t *testing.T) {
		v.Browser.T = t
		v.Run(`window.held = new Promise(pass => window.pass = pass);
			window.fetch = (real => (path, ...rest) => String(path).includes("part=chat") ? real(path, ...rest).then(answer => window.held.then(() => answer)) : real(path, ...rest))(fetch);`)
		v.Run(rowOf(v.Anna.PN()) + `.click()`)
		Say(t, v.Anna, v.Owner.PN(), "just in time")
		v.WaitFor(rowOf(v.Anna.PN()) + `.innerText.includes("just in time")`)
		v.Run(`pass()`)
		wantOpen(v.Browser, v.Anna.PN(), "Anna Amsel")
		v.WantText("just in time")
		v.WaitFor(`document.querySelector("#mark-read [name=upto]").value === [...document.querySelectorAll(".msg")].at(-1).dataset.id`)
	})
	t.Run("Back and Forward before it opens, and without the bridge", func(t *testing.T) {
		v.Browser.T = t
		open(v.Ben.PN(), "Ben")
		open(v.Anna.PN(), "Anna Amsel")
		v.Run(`window.held = new Promise(pass => window.pass = pass)`)
		v.Run(`history.back()`)
		v.WaitFor(`location.pathname === ` + JsString(pathOf(v.Ben.PN())))
		v.Run(`history.forward()`)
		v.WaitFor(`location.pathname === ` + JsString(pathOf(v.Anna.PN())))
		v.Run(`pass()`)
		wantOpen(v.Browser, v.Anna.PN(), "Anna Amsel")
		v.Write("still to Anna")
		v.WantOwn("to Anna", "still to Anna")
		v.Run(`window.held = { then: () => Promise.reject(new TypeError()) }`)
		v.Run(`history.back()`)
		v.WaitFor(`document.querySelector("#toast").innerText.startsWith("Can’t reach the bridge.") && location.pathname === ` + JsString(pathOf(v.Anna.PN())))
		v.WantOwn("to Anna", "still to Anna")
		v.Run(`window.held = Promise.resolve()`)
	})
	t.Run("the menu, an answer and the page about a chat", func(t *testing.T) {
		v.Browser.T = t
		v.ClickOn(".chat-who")
		v.WaitFor(`document.querySelector("#info #block")`)
		open(v.Ben.PN(), "Ben")
		v.WaitFor(`!document.querySelector("#info").checkVisibility()`)
		v.Do(FromMenu("[data-reply]", `document.querySelector("#replying").checkVisibility()`)...)
		v.Key(kb.ArrowUp, kb.ModifierAlt)
		v.WaitFor(`!document.querySelector("#replying").checkVisibility() && location.pathname !== ` + JsString(pathOf(v.Ben.PN())))
	})
	t.Run("files and recordings", func(t *testing.T) {
		v.Browser.T = t
		open(v.Ben.PN(), "Ben")
		v.Run(`XMLHttpRequest.prototype.send = (send => function (...body) { window.go = () => send.apply(this, body); })(XMLHttpRequest.prototype.send)`)
		file := filepath.Join(t.TempDir(), "notes.txt")
		if err := os.WriteFile(file, []byte("for Ben"), 0o600); err != nil {
			t.Fatal(err)
		}
		v.Do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{file}))
		v.WaitFor(`document.querySelector("#files[open] .file-row")`)
		v.Do(Clicks("#files [data-go]"))
		v.WaitFor(`window.go && document.querySelector(".unsent progress")`)
		open(v.Anna.PN(), "Anna Amsel")
		v.WaitFor(`!document.querySelector(".unsent")`)
		open(v.Ben.PN(), "Ben")
		v.WaitFor(`document.querySelector(".unsent progress").checkVisibility()`)
		open(v.Anna.PN(), "Anna Amsel")
		v.Run(`go()`)
		Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool {
			return r.Message.Message.GetDocumentMessage().GetFileName() == "notes.txt"
		}))(t)
		v.Run(`history.back()`)
		wantOpen(v.Browser, v.Ben.PN(), "Ben")
		v.WaitFor(`!document.querySelector(".unsent") && [...document.querySelectorAll(".msg.out")].at(-1).innerText.includes("notes.txt")`)
		v.Run(`document.querySelector(".say textarea").value = ""; document.querySelector(".say textarea").dispatchEvent(new Event("input", { bubbles: true }))`)
		v.Do(Clicks("[data-record]"))
		v.WaitFor(`document.querySelector("#recording").checkVisibility()`)
		v.Run(`history.back()`)
		v.WaitFor(`document.querySelector("#toast").innerText === "Send or discard the voice note first."`)
		if !Evaluate[bool](v.Browser, `document.querySelector("#recording").checkVisibility() && location.pathname === `+JsString(pathOf(v.Ben.PN()))) {
			t.Error("the recording is gone, or the address is another one")
		}
		v.Do(Clicks("#recording [data-cancel]"))
		v.WaitFor(`!document.querySelector("#recording").checkVisibility()`)
	})
	t.Run("quickly, and again and again", func(t *testing.T) {
		v.Browser.T = t
		nodes := func() int {
			t.Helper()
			CallBrowser(v.Browser, heapprofiler.CollectGarbage, cdp.Empty{})
			return int(CallBrowser(v.Browser, memory.GetDOMCounters, cdp.Empty{}).Nodes)
		}
		before := nodes()
		for range 4 {
			v.Run(rowOf(v.Anna.PN()) + `.click(); ` + rowOf(group.JID()) + `.click(); ` + rowOf(v.Ben.PN()) + `.click()`)
			wantOpen(v.Browser, v.Ben.PN(), "Ben")
			open(v.Anna.PN(), "Anna Amsel")
			open(v.Ben.PN(), "Ben")
		}
		if after := nodes(); after > 2*before {
			t.Errorf("%d nodes, and %d after opening 8 chats", before, after)
		}
	})
	v.Browser.T = t
	if !Evaluate[bool](v.Browser, `window.isSamePage === true`) {
		t.Error("the page was loaded again")
	}
	v.WantNoFaults()
}
