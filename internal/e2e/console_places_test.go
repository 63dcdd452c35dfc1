package e2e

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// topMessage is an expression for the message at the top of the history, with its place.
const topMessage = `(() => {
	const edge = document.querySelector("#history").getBoundingClientRect().top;
	const top = [...document.querySelectorAll(".msg")].find(one => one.getBoundingClientRect().bottom > edge + 1);
	return [top.dataset.id, String(Math.round(top.getBoundingClientRect().top - edge))];
})()`

// placeOf returns the message at the top, and how far below the edge it begins.
func (b *browser) placeOf() (id string, below float64) {
	b.t.Helper()
	place := evaluate[[]string](b, topMessage)
	return place[0], must(strconv.ParseFloat(place[1], 64))(b.t)
}

// wantPlace waits until a message stands where it stood.
func (b *browser) wantPlace(what, id string, below float64) {
	b.t.Helper()
	b.do(loads(fmt.Sprintf(`.msg[data-id=%q]`, id)))
	if now, at := b.placeOf(); now != id || math.Abs(at-below) > 2 {
		b.t.Errorf("%s: at the top is %s at %v, want %s at %v", what, now, at, id, below)
	}
}

// Older messages come while one scrolls up, and move nothing that is read. After a look at
// the gallery, the page about the person or another chat, one reads on where one was.
func TestConsole_ThePlaceInAChatIsKept(t *testing.T) {
	t.Parallel()
	v := visit(t)
	began := time.Now().Add(-time.Hour)
	for i := range 130 {
		say(t, v.ben, v.owner.PN(), fmt.Sprintf("line %d.", i), simnet.At(began.Add(time.Duration(i)*time.Second)))
	}
	v.wantStored(v.ben, "line 129.")
	v.bridge.Post(path("/api/chats/%s/read", v.ben.PN()), object{}).Want(http.StatusOK)
	chat := "/console/chats/" + bridge.JID(v.ben.PN().String()).Escaped()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			v.browser.t = t
			v.resize(width, 844, false)
			v.run(`sessionStorage.clear()`)
			v.open(chat)
			v.do(loads("#messages"))
			v.wantText("line 129.")
			const count = `document.querySelectorAll(".msg").length`
			before := evaluate[int](v.browser, count)
			// What comes is looked at in the frame in which it is put in.
			moved := evaluate[float64](v.browser, `new Promise(done => {
				const first = document.querySelector(".msg");
				const top = () => first.getBoundingClientRect().top;
				let was;
				new MutationObserver(() => document.contains(first) && document.querySelector(".msg") !== first && requestAnimationFrame(() => done(Math.abs(top() - was)))).observe(document.querySelector("#messages"), {childList: true, subtree: true});
				document.querySelector("#history").scrollTop = -100000;
				was = top();
			})`)
			if moved > 1 {
				t.Errorf("what is read moved by %v pixels", moved)
			}
			v.waitFor(fmt.Sprintf("%s > %d", count, before))
			v.waitFor(`document.querySelector("[data-older]") === null || (document.querySelector("#history").scrollTop = -100000) === 0`)
			v.wantText("line 0.")
			v.run(inMessage("line 40.", ".bubble") + `.scrollIntoView({block: "start"}); document.querySelector("#history").scrollTop += 15`)
			id, below := v.placeOf()
			for what, leave := range map[string]string{"the gallery": chat + "/media", "the page about the person": path("/console/people/%s", v.ben.PN()), "another page": "/console/chats"} {
				v.run(`location.href = ` + jsString(leave))
				v.waitFor(`location.pathname === ` + jsString(leave) + ` && document.readyState === "complete"`)
				if what == "the gallery" {
					v.clickOn(".page-head .button.round")
				} else {
					v.run(`history.back()`)
				}
				v.wantPlace("after "+what, id, below)
			}
			v.open(chat) // opened anew, it begins at the end
			v.do(loads("#messages"))
			v.waitFor(`document.querySelector("#history").scrollTop > -40`)
			v.wantNoFaults()
		})
	}
}

// On a desk emoji are put where the cursor is, found by their names, and what is unread is
// marked as read beside the line. On a phone a finger that rests on a chat in the list opens
// its menu, and one that taps opens the chat. A message's menu says what its marks say.
func TestConsole_AChatOnADeskAndByFingers(t *testing.T) {
	t.Parallel()
	v := chatting(t, 1280)
	t.Run("desk", func(t *testing.T) {
		v.browser.t = t
		v.clickOn(".unread-line button")
		v.waitFor(`document.readyState === "complete" && !document.querySelector("#unread") && document.activeElement.matches(".say textarea")`)
		eventually(t, func() error {
			chat, err := v.bridge.api.Chat(within(t), bridge.JID(v.ben.PN().String()))
			if err != nil || chat.UnreadCount > 0 {
				return fmt.Errorf("%d unread, %v", chat.UnreadCount, err)
			}
			return nil
		})
		v.key("Up the !")
		v.run(`document.querySelector(".say textarea").setSelectionRange(7, 7)`)
		v.clickOn(".smile")
		v.waitFor(`document.activeElement.matches("#written-emojis input") && document.querySelector("#written-emojis .emoji")`)
		v.key("snow-capped")
		v.waitFor(`document.querySelectorAll("#written-emojis .emoji").length === 1`)
		v.key(kb.Enter)
		v.waitFor(`document.querySelector(".say textarea").value === "Up the 🏔️!"`)
		v.wantInside("the emoji", "#written-emojis *")
		v.key(kb.Escape) // empties the search
		v.waitFor(`!document.querySelector("#written-emojis input").value`)
		v.key(kb.Escape)
		v.waitFor(`!document.querySelector("#written-emojis:popover-open") && document.activeElement.matches(".say textarea")`)
		v.key("\r")
		must(v.ben.ReceivedText(within(t), "Up the 🏔️!"))(t)
		v.wantOwn("Up the")
		v.wantNoFaults()
	})
	t.Run("fingers", func(t *testing.T) {
		v.browser.t = t
		v.onTouch(390)
		v.open("/console/chats")
		v.do(loads(".chat-list .chat-row"))
		const menu = `document.querySelector("dialog.row-menu[open]")`
		v.finger(func() { v.waitFor(menu) }, v.middle(".chat-list .chat-row"))
		if at := evaluate[string](v.browser, `location.pathname`); at != "/console/chats" {
			t.Errorf("the finger that rested opened %s", at)
		}
		v.wantInside("the menu of a chat", ".row-menu *")
		v.finger(nil, v.middle(".row-menu [value=pin]"))
		v.waitFor(`!` + menu + ` && document.querySelector(".chat-list [title=Pinned]")`)
		v.finger(nil, v.middle(".chat-list .chat-row"))
		v.do(loads(".msg.out"))
		v.finger(nil, v.middle(".msg.out .menu > summary"))
		v.waitFor(`/20\d\d/.test(document.querySelector("#message-menu[open] .facts-of-message")?.textContent)`)
		v.waitFor(`document.querySelector(".facts-of-message").textContent.match(/Sent|Delivered|Read/)`)
		v.wantNoFaults()
	})
	v.browser.t = t
}
