package chats

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// topMessage is an expression for the message at the top of the history, with its place.
const topMessage = `(() => {
	const edge = document.querySelector("#history").getBoundingClientRect().top;
	const top = [...document.querySelectorAll(".msg")].find(one => one.getBoundingClientRect().bottom > edge + 1);
	return [top.dataset.id, String(Math.round(top.getBoundingClientRect().top - edge))];
})()`

// placeOf returns the message at the top, and how far below the edge it begins.
func placeOf(b *Browser) (id string, below float64) {
	b.T.Helper()
	place := Evaluate[[]string](b, topMessage)
	return place[0], Must(strconv.ParseFloat(place[1], 64))(b.T)
}

// wantPlace waits until a message stands where it stood.
func wantPlace(b *Browser, what, id string, below float64) {
	b.T.Helper()
	b.Do(Loads(fmt.Sprintf(`.msg[data-id=%q]`, id)))
	if now, at := placeOf(b); now != id || math.Abs(at-below) > 2 {
		b.T.Errorf("%s: at the top is %s at %v, want %s at %v", what, now, at, id, below)
	}
}

// Older messages come while one scrolls up, and move nothing that is read; those from before the oldest stored one come
// from the phone. After a look at
// the gallery, the page about the person or another chat, one reads on where one was.
func thePlaceInAChatIsKept(t *testing.T, v Visited) {
	began := time.Now().Add(-time.Hour)
	for i := range 70 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i), simnet.At(began.Add(time.Duration(i)*time.Second)))
	}
	v.WantStored(v.Ben, "line 69.")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(http.StatusOK)
	chat := "/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			v.Browser.T = t
			v.Resize(width, 844, false)
			v.Open(chat)
			v.Do(Loads("#messages"))
			v.WaitFor(`document.querySelector("#history").scrollTop > -40`) // opened anew, it begins at the end
			v.WantText("line 69.")
			const count = `document.querySelectorAll(".msg").length`
			before := Evaluate[int](v.Browser, count)
			// What comes is looked at in the frame in which it is put in.
			moved := Evaluate[float64](v.Browser, `new Promise(done => {
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
			v.WaitFor(fmt.Sprintf("%s > %d", count, before))
			v.WaitFor(`document.querySelector("[data-older]") === null || (document.querySelector("#history").scrollTop = -100000) === 0`)
			v.WantText("line 0.")
			v.Run(inMessage("line 12.", ".bubble") + `.scrollIntoView({block: "start"}); document.querySelector("#history").scrollTop += 15`)
			id, below := placeOf(v.Browser)
			if width >= 1200 {
				v.ClickOn(".chat-who")
				v.WaitFor(`document.querySelector("#info #block") && document.activeElement.matches("#info [data-close]")`)
				wantPlace(v.Browser, "next to the page about the person", id, below)
				v.Key(kb.Escape)
				v.WaitFor(`!document.querySelector("#info").checkVisibility() && document.activeElement.matches(".chat-who")`)
				wantPlace(v.Browser, "without it again", id, below)
			}
			for what, leave := range map[string]string{"the gallery": chat + "/media", "the page about the person": Path("/console/people/%s", v.Ben.PN()), "another page": "/console/chats"} {
				v.Run(`location.href = ` + JsString(leave))
				v.WaitFor(`location.pathname === ` + JsString(leave) + ` && document.readyState === "complete"`)
				if what == "the gallery" {
					v.ClickOn(".page-head .button.round")
				} else {
					v.Run(`history.back()`)
				}
				wantPlace(v.Browser, "after "+what, id, below)
			}
			v.WantNoFaults()
		})
	}
	t.Run("from the phone", func(t *testing.T) {
		v.Browser.T = t
		v.Open(chat)
		v.Do(Loads("#messages"))
		v.WaitFor(`document.querySelector("#history").scrollTop > -40`)
		loadsFromThePhone(t, v)
	})
	v.Browser.T = t
}

// loadsFromThePhone loads the messages from before the oldest one of the open chat with Ben, "line 0.", in a small window.
func loadsFromThePhone(t *testing.T, v Visited) {
	t.Helper()
	const top = `(document.querySelector("#history").scrollTop = -100000) && document.querySelector(".from-phone")`
	says := func(text string) {
		t.Helper()
		v.WaitFor(fmt.Sprintf(`document.querySelector(".from-phone [role=status]").textContent === %q`, text))
	}
	v.Run(`window.setTimeout = (real => (run, pause, ...rest) => real(run, pause === 2000 ? 20 : pause, ...rest))(setTimeout)`) // between looks
	past := simnet.Past{With: v.Ben.PN()}
	began := time.Now().Add(-30 * 24 * time.Hour)
	for i := range 60 {
		past.Older = append(past.Older, simnet.PastText(v.Ben.PN(), v.Ben.PN(), fmt.Sprintf("PAST%d", i), began.Add(time.Duration(i)*time.Hour), fmt.Sprintf("past %d.", i)))
	}
	v.Owner.SetPast(past)
	v.WaitFor(top)
	v.WantInside("the button", ".from-phone button")
	id, below := placeOf(v.Browser)
	v.ClickOn(".from-phone button")
	v.WantText("past 59.")
	if moved := Evaluate[float64](v.Browser, fmt.Sprintf(`document.querySelector('.msg[data-id=%q]').getBoundingClientRect().top - document.querySelector("#history").getBoundingClientRect().top`, id)) - below; math.Abs(moved) > 2 {
		t.Errorf("what is read moved by %v", moved)
	}
	v.WaitFor(`document.activeElement.matches("#history, #start *")`)
	v.WaitFor(top + ` && document.querySelector(".msg").dataset.id === "PAST10"`) // the phone sends 50 at a time

	v.Owner.SetPast(simnet.Past{With: v.Ben.PN(), PhoneOnly: true}) // it does not answer
	v.ClickOn(".from-phone button")
	says("Nothing has arrived yet. Open WhatsApp on your phone, then try again.")
	v.Owner.SetPast(past)
	v.ClickOn(".from-phone button")
	v.WantText("past 0.")
	v.WaitFor(top)
	v.ClickOn(".from-phone button")
	says("Your phone has no older messages of this chat.")
	v.WaitFor(`!document.querySelector(".from-phone button").checkVisibility()`)
	ids := Evaluate[[]string](v.Browser, `[...document.querySelectorAll(".msg")].map(one => one.dataset.id)`)
	for i := range 60 {
		if want := fmt.Sprintf("PAST%d", i); ids[i] != want {
			t.Errorf("message %d is %s, want %s", i, ids[i], want)
		}
	}
	v.FaultsOf(http.StatusConflict)
	v.WantNoFaults()
}

// On a desk emoji are put where the cursor is, found by their names, and what is unread is
// marked as read beside the line. On a phone a finger that rests on a chat in the list opens
// its menu, and one that taps opens the chat. A message's menu says what its marks say.
func aChatOnADeskAndByFingers(t *testing.T, v Visited) {
	v.Chats()
	t.Run("desk", func(t *testing.T) {
		v.Browser.T = t
		v.ClickOn(".unread-line button")
		v.WaitFor(`document.readyState === "complete" && !document.querySelector("#unread") && document.activeElement.matches(".say textarea")`)
		Eventually(t, func() error {
			chat, err := v.Bridge.API.Chat(Within(t), bridge.JID(v.Ben.PN().String()))
			if err != nil || chat.UnreadCount > 0 {
				return fmt.Errorf("%d unread, %v", chat.UnreadCount, err)
			}
			return nil
		})
		v.Key("Up the !")
		v.Run(`document.querySelector(".say textarea").setSelectionRange(7, 7)`)
		v.ClickOn(".smile")
		v.WaitFor(`document.activeElement.matches("#written-emojis input") && document.querySelector("#written-emojis .emoji")`)
		v.Key("snow-capped")
		v.WaitFor(`document.querySelectorAll("#written-emojis .emoji").length === 1`)
		v.Key(kb.Enter)
		v.WaitFor(`document.querySelector(".say textarea").value === "Up the 🏔️!"`)
		v.WantInside("the emoji", "#written-emojis *")
		v.Key(kb.Escape) // empties the search
		v.WaitFor(`!document.querySelector("#written-emojis input").value`)
		v.Key(kb.Escape)
		v.WaitFor(`!document.querySelector("#written-emojis:popover-open") && document.activeElement.matches(".say textarea")`)
		v.Key("\r")
		Must(v.Ben.ReceivedText(Within(t), "Up the 🏔️!"))(t)
		v.WantOwn("Up the")
		v.WantNoFaults()
	})
	t.Run("fingers", func(t *testing.T) {
		v.Browser.T = t
		v.Resize(390, 844, false)
		v.Open("/console/chats")
		v.Do(Loads(".chat-list .chat-row"))
		const menu = `document.querySelector("dialog.row-menu[open]")`
		finger(v.Browser, func() { v.WaitFor(menu) }, v.Middle(".chat-list .chat-row"))
		if at := Evaluate[string](v.Browser, `location.pathname`); at != "/console/chats" {
			t.Errorf("the finger that rested opened %s", at)
		}
		v.WantInside("the menu of a chat", ".row-menu *")
		finger(v.Browser, nil, v.Middle(".row-menu [value=pin]"))
		v.WaitFor(`!` + menu + ` && document.querySelector(".chat-list [title=Pinned]")`)
		finger(v.Browser, nil, v.Middle(".chat-list .chat-row"))
		v.Do(Loads(".msg.out"))
		finger(v.Browser, nil, v.Middle(".msg.out .msg-menu"))
		v.WaitFor(`/20\d\d/.test(document.querySelector("#message-menu[open] .facts-of-message")?.textContent)`)
		v.WaitFor(`document.querySelector(".facts-of-message").textContent.match(/Sent|Delivered|Read/)`)
		v.WaitFor(`document.querySelector(".facts-of-message").textContent.includes("Sent in the console with BRIDGE_TOKEN")`)
		v.WantNoFaults()
	})
	v.Browser.T = t
}
