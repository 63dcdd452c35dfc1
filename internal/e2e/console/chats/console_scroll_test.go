package chats

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// middleOf returns how far the middle of an element is from the middle of the history, in heights of the history.
func middleOf(b *Browser, selector string) float64 {
	b.T.Helper()
	return Evaluate[float64](b, fmt.Sprintf(`(() => {
		const box = document.querySelector(%s).getBoundingClientRect(), within = document.querySelector("#history").getBoundingClientRect();
		return (box.top + box.bottom - within.top - within.bottom) / 2 / within.height;
	})()`, JsString(selector)))
}

// Pictures have their place before they are loaded: the line above the unread messages, and a message that was
// searched for, stay in the middle of the window while pictures arrive around them.
func picturesThatArriveLateMoveNothing(t *testing.T, v Visited) {
	began := time.Now().Add(-time.Hour)
	at := func(i int) simnet.SendOption { return simnet.At(began.Add(time.Duration(i) * time.Second)) }
	pictures := make(map[uint32][]byte) // by their widths
	picture := func(i int, width, height uint32, declared bool) {
		if pictures[width] == nil {
			pictures[width] = demo.Picture(int(width), int(height))
		}
		file := simnet.Media{Data: pictures[width], Mimetype: "image/png", Caption: fmt.Sprintf("picture %d", i)}
		if declared {
			file.Width, file.Height = width, height
		}
		Must(v.Ben.SendImage(Within(t), v.Owner.PN(), file, at(i)))(t)
	}
	var wanted string
	for i := range 40 {
		switch i % 8 {
		case 1:
			picture(i, 640, 480, true)
		case 3:
			picture(i, 300, 900, i < 20)
		case 5:
			picture(i, 80, 40, true)
		default:
			id := Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i), at(i))
			if i == 18 {
				wanted = id
				v.WantStored(v.Ben, "line 18.")
				v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(200)
			}
		}
	}
	v.WantStored(v.Ben, "line 39.")
	chat := "/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped()
	for _, width := range []int64{1440, 390} {
		v.Resize(width, 844, false)
		for selector, address := range map[string]string{"#unread": chat, ".msg.found": chat + "?at=" + wanted} {
			arrive := v.HoldPictures()
			v.Run(`window.isLeft = true; location.assign(` + JsString(v.Base+address) + `)`) // Open would wait for the pictures, too
			v.WaitFor(`!window.isLeft && document.querySelector(` + JsString(selector) + `) && document.documentElement.matches(".js")`)
			before := middleOf(v.Browser, selector)
			arrive()
			v.WaitFor(`document.readyState === "complete" && [...document.querySelectorAll(".msg img")].filter(one => { const box = one.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; }).every(one => one.complete && one.naturalWidth)`)
			// The place is corrected in the frame of the last picture, before it is painted.
			Evaluate[bool](v.Browser, `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))`)
			if after := middleOf(v.Browser, selector); math.Abs(before) > 0.05 || math.Abs(after) > 0.05 {
				t.Errorf("at %d, %s is %.2f of the height off the middle before the pictures, and %.2f with them", width, selector, before, after)
			}
		}
	}
}

// On a phone the list of chats is where it was after a look at a chat.
func theListKeepsItsPlaceOnAPhone(t *testing.T, v Visited) {
	v.Resize(390, 844, false)
	v.Open("/console/chats")
	v.WaitFor(`document.readyState === "complete" && document.querySelectorAll(".chat-list .chat-row").length === 30`)
	v.Run(`document.querySelector("#chats").scrollTop = 700`)
	v.WaitFor(`Object.entries(sessionStorage).some(([name, place]) => name.startsWith("list ") && JSON.parse(place).top === 700)`) // before the page is left
	v.ClickIt(`[...document.querySelectorAll(".chat-list .chat-row")].find(row => row.getBoundingClientRect().top > 400)`)
	v.Do(Loads("#messages"))
	v.ClickOn(".chat-head .back")
	v.WaitFor(`document.readyState === "complete" && Math.abs(document.querySelector("#chats")?.scrollTop - 700) < 2`)
}

// A long message opens downwards, and one that was searched for is open at the searched word, which is marked.
func longMessagesOpenWhereTheyAreRead(t *testing.T, v Visited) {
	for i := range 20 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i))
	}
	id := Say(t, v.Ben, v.Owner.PN(), strings.Repeat("word ", 800)+"*we* meet at the Straße "+strings.Repeat("word ", 400))
	v.WantStored(v.Ben, "word word")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(200)
	for _, width := range []int64{1440, 390} {
		v.Resize(width, 844, false)
		v.OpenChat(v.Ben.PN())
		v.WaitFor(`document.readyState === "complete"`)
		top := fmt.Sprintf(`document.querySelector('.msg[data-id=%q]').getBoundingClientRect().top`, id)
		v.Run(`document.querySelector(".more").scrollIntoView({block: "center"})`)
		before := Evaluate[float64](v.Browser, top)
		v.ClickOn(".more summary")
		v.WaitFor(`document.querySelector(".more").open`)
		if after := Evaluate[float64](v.Browser, top); math.Abs(after-before) > 1 {
			t.Errorf("at %d the message that opened moved from %v to %v", width, before, after)
		}
		v.Open("/console/search?q=strasse")
		v.ClickOn(".hits a")
		v.Do(Loads(".msg.found mark"))
		if marked := v.Text(".msg.found mark"); marked != "Straße" {
			t.Errorf("marked %q", marked)
		}
		v.WaitFor(`document.querySelector(".found .more").open`)
		if off := middleOf(v.Browser, ".msg.found mark"); math.Abs(off) > 0.4 {
			t.Errorf("at %d the searched word is %.2f of the height off the middle", width, off)
		}
	}
}
