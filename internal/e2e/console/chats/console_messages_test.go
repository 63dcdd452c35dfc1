package chats

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// finger moves a finger over the screen: down at the first place, up after the last.
func finger(b *Browser, held func(), places ...[2]float64) {
	b.T.Helper()
	kind := input.DispatchTouchEventTypeTouchStart
	for _, at := range places {
		CallBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}})
		kind = input.DispatchTouchEventTypeTouchMove
	}
	if held != nil {
		held()
	}
	CallBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// inMessage returns an expression for an element within the message that contains a text.
func inMessage(text, selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".msg")].find(one => one.textContent.includes(%s))?.querySelector(%s)`, JsString(text), JsString(selector))
}

// voice sends a voice note to the account.
func voice(v Visited, seconds int) simnet.MessageID {
	v.Browser.T.Helper()
	return Must(v.Ben.SendAudio(Within(v.Browser.T), v.Owner.PN(), simnet.Media{Data: Tone(seconds), Mimetype: "audio/wav", Seconds: uint32(seconds), Voice: true}))(v.Browser.T)
}

// Pictures open in front of the page, at a click and with a finger, and one goes through
// all of the chat that are on the page.
func picturesOpenInFront(t *testing.T, v Visited) {
	for i := 1; i <= 3; i++ {
		picture := simnet.Media{Data: demo.Picture(300+i, 200), Mimetype: "image/png", Caption: fmt.Sprintf("picture %d", i), Width: uint32(300 + i), Height: 200}
		Must(v.Ben.SendImage(Within(t), v.Owner.PN(), picture))(t)
	}
	Must(v.Ben.SendVideo(Within(t), v.Owner.PN(), simnet.Media{Data: Film(), Mimetype: "video/mp4", Caption: "a film", Width: 320, Height: 240, Seconds: 7}))(t)
	v.WantStored(v.Ben, "a film")
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll("[data-view]").length === 4`)
	shows := func(count, caption string) {
		t.Helper()
		v.WaitFor(fmt.Sprintf(`document.querySelector("#viewer[open] [data-count]").textContent === %q && document.querySelector("#viewer [data-caption]").textContent === %q`, count, caption))
	}
	v.ClickIt(inMessage("picture 2", ".picture"))
	shows("2 of 4", "picture 2")
	v.WaitFor(`document.querySelector("#viewer .shown img").naturalWidth === 302`)
	if by := v.Text("#viewer [data-sender]"); by != "Ben" {
		t.Errorf("the picture is by %q", by)
	}
	if when := v.Text("#viewer [data-when]"); !strings.HasPrefix(when, "Today, ") {
		t.Errorf("the picture was sent %q", when)
	}
	if save := Evaluate[string](v.Browser, `document.querySelector("#viewer [data-save]").href`); !strings.HasSuffix(save, "?save") {
		t.Errorf("it is downloaded from %q", save)
	}
	v.Key(kb.ArrowRight)
	shows("3 of 4", "picture 3")
	Say(t, v.Ben, v.Owner.PN(), "Which one do you like?")
	v.WantText("Which one do you like?")
	shows("3 of 4", "picture 3")
	v.Key(kb.ArrowRight)
	shows("4 of 4", "a film")
	v.WaitFor(`document.querySelector("#viewer [data-step='1']").disabled`)
	v.Key(kb.ArrowLeft + kb.ArrowLeft + kb.ArrowLeft)
	shows("1 of 4", "picture 1")
	v.Key(kb.Escape)
	v.WaitFor(`!document.querySelector("#viewer").open && document.activeElement === ` + inMessage("picture 1", ".picture"))

	v.Resize(390, 844, false)
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll("[data-view]").length === 4`)
	v.Run(inMessage("picture 2", ".picture") + `.scrollIntoView({block: "center"})`)
	v.ClickIt(inMessage("picture 2", ".picture"))
	shows("2 of 4", "picture 2")
	finger(v.Browser, nil, [2]float64{300, 400}, [2]float64{200, 402}, [2]float64{90, 404})
	shows("3 of 4", "picture 3")
	finger(v.Browser, nil, [2]float64{90, 400}, [2]float64{200, 402}, [2]float64{300, 404})
	shows("2 of 4", "picture 2")
	v.WantInside("the viewer", "#viewer *")
	finger(v.Browser, nil, [2]float64{200, 300}, [2]float64{202, 400}, [2]float64{204, 520})
	v.WaitFor(`!document.querySelector("#viewer").open`)
}

// A voice note plays on while the page is renewed and until another one does, from the
// keyboard too, at the speed that was chosen.
func voiceNotesPlay(t *testing.T, v Visited) {
	first, second := voice(v, 60), voice(v, 10)
	v.WantStored(v.Ben, second)
	v.OpenChat(v.Ben.PN())
	in := func(id simnet.MessageID, selector string) string {
		return fmt.Sprintf(`document.querySelector(%q)`, `.msg[data-id="`+id+`"] `+selector)
	}
	v.WaitFor(in(second, ".track path") + `?.getAttribute("d").length > 300`) // the waveform
	if length := Evaluate[string](v.Browser, in(first, ".at")+`.textContent`); length != "1:00" {
		t.Errorf("the first one is of %q", length)
	}
	v.Run(in(first, "[data-play]") + `.focus()`)
	v.Key(kb.Enter)
	v.WaitFor(in(first, ".voice-player.playing") + ` && ` + in(first, "input") + `.value > 0`)
	v.Run(in(first, "input") + `.focus()`)
	v.Key(kb.ArrowRight + kb.ArrowRight)
	v.WaitFor(in(first, "input") + `.value > 9`)
	v.ClickIt(in(first, "[data-speed]"))
	v.WaitFor(in(second, "[data-speed]") + `.textContent === "1.5×"`)
	Say(t, v.Ben, v.Owner.PN(), "Did you hear it?")
	Must(v.Ben.ReactTo(Within(t), v.Owner.PN(), v.Ben.PN(), first, "🎧"))(t)
	v.WantText("Did you hear it?")
	v.WaitFor(in(first, ".mark"))
	v.WaitFor(in(first, ".voice-player.playing") + ` && ` + in(first, "input") + `.value > 9`)
	v.ClickIt(in(second, "[data-play]"))
	v.WaitFor(in(second, ".voice-player.playing") + ` && !` + in(first, ".voice-player.playing"))
	v.Run(in(second, "input") + `.focus()`)
	v.Key(" ")
	v.WaitFor(`!` + in(second, ".voice-player.playing"))
	v.Resize(320, 844, false)
	v.WantInside("a voice note", ".voice-player *")
}

// What is unread begins below a line, which is in sight when the chat is opened, and stays
// as it is while the page is open.
func unreadMessagesStandBelowALine(t *testing.T, v Visited) {
	for i := range 12 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("old %d", i))
	}
	v.WantStored(v.Ben, "old 11")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(200)
	for i := range 30 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("new %d", i))
	}
	v.WantStored(v.Ben, "new 29")
	v.OpenChat(v.Ben.PN())
	const line = `document.querySelector("#unread span")`
	v.WaitFor(line + `?.textContent === "30 unread messages"`)
	const inSight = `(() => { const box = ` + line + `.getBoundingClientRect(); return box.top > 60 && box.bottom < innerHeight - 60; })()`
	v.WaitFor(inSight)
	if next := Evaluate[string](v.Browser, line+`.closest("#unread").nextElementSibling.textContent`); !strings.Contains(next, "new 0") {
		t.Errorf("below the line stands %q", next)
	}
	place := Evaluate[float64](v.Browser, line+`.getBoundingClientRect().top`)
	Say(t, v.Ben, v.Owner.PN(), "one more")
	v.WantText("one more")
	if now := Evaluate[float64](v.Browser, line+`.getBoundingClientRect().top`); math.Abs(now-place) > 1 {
		t.Errorf("the line moved from %v to %v", place, now)
	}
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(200)
	Say(t, v.Ben, v.Owner.PN(), "and another")
	v.WantText("and another")
	v.WaitFor(line + `?.textContent === "30 unread messages"`)
	v.OpenChat(v.Ben.PN())
	v.WaitFor(line + `?.textContent === "1 unread message"`)
}

// A change of a message that is not among the newest ones is seen, too.
func oldMessagesAreRenewed(t *testing.T, v Visited) {
	id := Say(t, v.Ben, v.Owner.PN(), "the oldest")
	for i := range 60 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i))
	}
	v.WantStored(v.Ben, "line 59.")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(200)
	v.OpenChat(v.Ben.PN())
	v.WantText("line 59.")
	v.Run(`document.querySelector("#history").scrollTo(0, -100000)`)
	v.WantText("the oldest")
	Must(v.Ben.ReactTo(Within(t), v.Owner.PN(), v.Ben.PN(), id, "🦖"))(t)
	v.WaitFor(inMessage("the oldest", ".mark"))
	if left := Evaluate[int](v.Browser, `document.querySelectorAll(".msg").length`); left != 61 {
		t.Errorf("%d messages are shown", left)
	}
}

// While one scrolls, the name of one day is in sight, not those of several. At rest, none covers messages.
func daysStickOneAtATime(t *testing.T, v Visited) {
	year, month, today := time.Now().Date()
	for day := 6; day >= 0; day-- {
		noon := time.Date(year, month, today-1-day, 12, 0, 0, 0, time.Local) // no day ends meanwhile
		for i := range 8 {
			Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("day %d, line %d.", day, i), simnet.At(noon.Add(time.Duration(i)*time.Second)))
		}
	}
	v.WantStored(v.Ben, "day 0, line 7.")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(200)
	v.Resize(390, 844, false)
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll(".day").length > 5`)
	heights := Evaluate[int](v.Browser, `document.querySelector("#history").scrollHeight`)
	for at := 0; at < heights; at += 130 {
		overlaps := Evaluate[int](v.Browser, fmt.Sprintf(`(() => {
			const history = document.querySelector("#history");
			history.scrollTop = -%d;
			const top = history.getBoundingClientRect().top;
			const boxes = [...document.querySelectorAll(".day")].map(one => one.getBoundingClientRect());
			return boxes.filter((one, i) => boxes.some((other, j) => i < j && one.bottom > top && one.bottom > other.top + 1 && other.bottom > one.top + 1)).length;
		})()`, at))
		if overlaps > 0 {
			t.Errorf("%d pixels up, %d days overlap", at, overlaps)
		}
	}
	const covering = `getComputedStyle(document.querySelector(".at-edge .day")).opacity`
	v.Run(`document.querySelector("#history").scrollTop = -260`)
	v.WaitFor(`document.querySelectorAll(".at-edge").length === 1 && ` + covering + ` === "0"`)
	// The end of the scroll before may still come: scroll until it has.
	v.WaitFor(`document.querySelector("#history").dispatchEvent(new Event("scroll")) && ` + covering + ` === "1"`)
	if named := Evaluate[int](v.Browser, `new Set([...document.querySelectorAll(".day")].map(one => one.textContent)).size`); named != 7 {
		t.Errorf("%d days have names, want 7", named)
	}
}

// Whatever a message has, it stays on the screens of phones.
func nothingIsWiderThanAPhone(t *testing.T, v Visited) {
	for _, text := range []string{
		strings.Repeat("Donaudampfschifffahrt", 20), "https://example.org/" + strings.Repeat("x", 400), "```\n" + strings.Repeat("| column ", 40) + "\n```",
		"`" + strings.Repeat("code", 60) + "`", "- " + strings.Repeat("item", 80) + "\n- two", "123. " + strings.Repeat("number", 60), "> " + strings.Repeat("quote", 80), strings.Repeat("👩‍👩‍👧‍👦", 40),
		strings.Repeat("W", 30) + "\u202e" + strings.Repeat("א", 200), "the last one",
	} {
		Say(t, v.Ben, v.Owner.PN(), text)
	}
	Must(v.Ben.SendPoll(Within(t), v.Owner.PN(), strings.Repeat("question", 40), []string{strings.Repeat("a", 90), "b"}, 1))(t)
	Must(v.Ben.SendContacts(Within(t), v.Owner.PN(), []simnet.Card{simnet.NewCard(strings.Repeat("name", 60), "+4915100009999")}))(t)
	Must(v.Ben.SendDocument(Within(t), v.Owner.PN(), simnet.Media{Data: []byte("x"), Mimetype: "application/pdf", FileName: strings.Repeat("file", 60) + ".pdf"}))(t)
	Must(v.Ben.SendImage(Within(t), v.Owner.PN(), simnet.Media{Data: demo.Picture(900, 90), Mimetype: "image/png", Width: 900, Height: 90}))(t)
	voice(v, 5)
	id := Say(t, v.Ben, v.Owner.PN(), "last of all")
	Must(v.Ben.ReactTo(Within(t), v.Owner.PN(), v.Ben.PN(), id, "👍"))(t)
	v.WantStored(v.Ben, "last of all")
	for _, width := range []int64{768, 390, 320} {
		v.Resize(width, 844, false)
		v.OpenChat(v.Ben.PN())
		v.WantText("last of all")
		v.WaitFor(`document.querySelector(".voice-player")`)
		v.WantInside(fmt.Sprintf("%d pixels", width), "#messages *:not(.vh, .vh *, svg *, .menu-box, .menu-box *)")
	}
	if href := Evaluate[string](v.Browser, `document.querySelector(".card-part a").getAttribute("href")`); href != "/console/new?phone=4915100009999" {
		t.Errorf("the number of a card leads to %q", href)
	}
}

// A chat's pictures, files and links are found from its menu, by month, and lead back to
// their messages.
func theGalleryOfAChat(t *testing.T, v Visited) {
	month := time.Now().AddDate(0, -2, 0)
	for i := range 62 {
		picture := simnet.Media{Data: demo.Picture(60+i, 40), Mimetype: "image/png", Caption: fmt.Sprintf("picture %d.", i), Width: uint32(60 + i), Height: 40}
		Must(v.Ben.SendImage(Within(t), v.Owner.PN(), picture, simnet.At(month.Add(time.Duration(i)*24*time.Hour/2))))(t)
	}
	Must(v.Ben.SendDocument(Within(t), v.Owner.PN(), simnet.Media{Data: demo.PDF(), Mimetype: "application/pdf", FileName: "plan.pdf", Pages: 1}))(t)
	Say(t, v.Ben, v.Owner.PN(), "Read https://example.org/"+strings.Repeat("long", 60))
	v.WantStored(v.Ben, "longlong")
	v.OpenChat(v.Ben.PN())
	v.Do(Clicks(".chat-head .menu > summary"), Clicks(`.chat-head a[href$="/media"]`), Loads("#gallery"))
	v.WaitFor(`document.querySelectorAll(".tile-view").length >= 60`)
	v.Run(`window.stays = true; document.querySelector("#main .pager")?.scrollIntoView()`)
	v.WaitFor(`document.querySelectorAll(".tile-view").length === 62 && window.stays`)
	if months := Evaluate[int](v.Browser, `document.querySelectorAll("#gallery h2").length`); months < 2 || months > 3 {
		t.Errorf("%d months have headings", months)
	}
	fits := func(tab string) {
		t.Helper()
		for _, width := range []int64{390, 320, 1280} {
			v.Resize(width, 844, true)
			v.WantInside(fmt.Sprintf("%s at %d pixels", tab, width), "#gallery *:not(.vh, svg *)")
		}
	}
	fits("pictures")
	v.ClickOn(".tile-view")
	v.WaitFor(`document.querySelector("#viewer[open] [data-caption]").textContent === "picture 61."`)
	v.Key(kb.ArrowRight)
	v.WaitFor(`document.querySelector("#viewer[open] [data-caption]").textContent === "picture 60." && document.querySelector("#viewer [data-count]").textContent === "2 of 62"`)
	v.Do(Clicks("#viewer [data-show]"), Loads(".msg.found"))
	v.WaitFor(`document.querySelector(".msg.found").textContent.includes("picture 60.")`)
	for tab, want := range map[string]string{"files": ".media-file", "links": ".media-file a"} {
		v.Open(Path("/console/chats/%s/media?tab="+tab, v.Ben.PN()))
		v.Do(Loads(want))
		fits(tab)
	}
}
