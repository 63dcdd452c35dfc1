package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/demo"
	"bridged/internal/simnet"
)

// onTouch makes the browser a phone with a touch screen.
func (b *browser) onTouch(width int64) {
	b.t.Helper()
	callBrowser(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 1})
	b.resize(width, 844, false)
}

// finger moves a finger over the screen: down at the first place, up after the last.
func (b *browser) finger(held func(), places ...[2]float64) {
	b.t.Helper()
	kind := input.DispatchTouchEventTypeTouchStart
	for _, at := range places {
		callBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}})
		kind = input.DispatchTouchEventTypeTouchMove
	}
	if held != nil {
		held()
	}
	callBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// middle returns the middle of the first element that matches a selector.
func (b *browser) middle(selector string) [2]float64 {
	b.t.Helper()
	place := evaluate[[]float64](b, fmt.Sprintf(`(() => { const box = document.querySelector(%s).getBoundingClientRect(); return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]; })()`, jsString(selector)))
	return [2]float64{place[0], place[1]}
}

// press presses keys where the focus is.
func (b *browser) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// run evaluates a script for what it does.
func (b *browser) run(script string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](script))
}

// inMessage returns an expression for an element within the message that contains a text.
func inMessage(text, selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".msg")].find(one => one.textContent.includes(%s))?.querySelector(%s)`, jsString(text), jsString(selector))
}

// wantInside reports elements that leave the window at a side.
func (b *browser) wantInside(what, selector string) {
	b.t.Helper()
	outside := evaluate[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%s)].filter(one => one.getClientRects().length).filter(one => {
		const box = one.getBoundingClientRect();
		return box.left < -0.5 || box.right > innerWidth + 0.5;
	}).map(one => one.outerHTML.slice(0, 120))`, jsString(selector)))
	if len(outside) > 0 {
		b.t.Errorf("%s: outside of the window: %q", what, outside)
	}
	if wide := evaluate[int](b, `Math.max(document.documentElement.scrollWidth - innerWidth, (document.querySelector("#history")?.scrollWidth ?? 0) - (document.querySelector("#history")?.clientWidth ?? 0))`); wide > 0 {
		b.t.Errorf("%s: %d pixels too wide", what, wide)
	}
}

// tone returns a WAV file of a sound that swells and fades.
func tone(seconds int) []byte {
	const rate = 8000
	var b bytes.Buffer
	size := uint32(seconds * rate * 2)
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, 36+size) // writing to a bytes.Buffer cannot fail
	b.WriteString("WAVEfmt ")
	for _, field := range []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16)} {
		_ = binary.Write(&b, binary.LittleEndian, field)
	}
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, size)
	for i := range seconds * rate {
		at := float64(i) / rate
		_ = binary.Write(&b, binary.LittleEndian, int16(8000*math.Sin(at*2*math.Pi*300)*math.Abs(math.Sin(at*2))))
	}
	return b.Bytes()
}

// voice sends a voice note to the account.
func voice(v visited, seconds int) simnet.MessageID {
	v.browser.t.Helper()
	return must(v.ben.SendAudio(within(v.browser.t), v.owner.PN(), simnet.Media{Data: tone(seconds), Mimetype: "audio/wav", Seconds: uint32(seconds), Voice: true}))(v.browser.t)
}

// Pictures open in front of the page, at a click and with a finger, and one goes through
// all of the chat that are on the page.
func TestConsole_PicturesOpenInFront(t *testing.T) {
	t.Parallel()
	v := visit(t)
	for i := 1; i <= 3; i++ {
		picture := simnet.Media{Data: demo.Picture(300+i, 200), Mimetype: "image/png", Caption: fmt.Sprintf("picture %d", i), Width: uint32(300 + i), Height: 200}
		must(v.ben.SendImage(within(t), v.owner.PN(), picture))(t)
	}
	must(v.ben.SendVideo(within(t), v.owner.PN(), simnet.Media{Data: film(), Mimetype: "video/mp4", Caption: "a film", Width: 320, Height: 240, Seconds: 7}))(t)
	v.wantStored(v.ben, "a film")
	v.resize(1280, 800, false)
	v.openChat(v.ben.PN())
	v.waitFor(`document.querySelectorAll("[data-view]").length === 4`)
	shows := func(count, caption string) {
		t.Helper()
		v.waitFor(fmt.Sprintf(`document.querySelector("#viewer[open] [data-count]").textContent === %q && document.querySelector("#viewer [data-caption]").textContent === %q`, count, caption))
	}
	v.run(inMessage("picture 2", ".picture") + `.click()`)
	shows("2 of 4", "picture 2")
	v.waitFor(`document.querySelector("#viewer .shown img").naturalWidth === 302`)
	if by := v.text("#viewer [data-sender]"); by != "Ben" {
		t.Errorf("the picture is by %q", by)
	}
	if when := v.text("#viewer [data-when]"); !strings.HasPrefix(when, "Today, ") {
		t.Errorf("the picture was sent %q", when)
	}
	if save := evaluate[string](v.browser, `document.querySelector("#viewer [data-save]").href`); !strings.HasSuffix(save, "?save") {
		t.Errorf("it is downloaded from %q", save)
	}
	v.press(kb.ArrowRight)
	shows("3 of 4", "picture 3")
	say(t, v.ben, v.owner.PN(), "Which one do you like?")
	v.wantText("Which one do you like?")
	shows("3 of 4", "picture 3")
	v.press(kb.ArrowRight)
	shows("4 of 4", "a film")
	v.waitFor(`document.querySelector("#viewer [data-step='1']").disabled`)
	v.press(kb.ArrowLeft + kb.ArrowLeft + kb.ArrowLeft)
	shows("1 of 4", "picture 1")
	v.press(kb.Escape)
	v.waitFor(`!document.querySelector("#viewer").open && document.activeElement === ` + inMessage("picture 1", ".picture"))

	v.onTouch(390)
	v.openChat(v.ben.PN())
	v.waitFor(`document.querySelectorAll("[data-view]").length === 4`)
	v.run(inMessage("picture 2", ".picture") + `.scrollIntoView({block: "center"})`)
	v.run(inMessage("picture 2", ".picture") + `.click()`)
	shows("2 of 4", "picture 2")
	v.finger(nil, [2]float64{300, 400}, [2]float64{200, 402}, [2]float64{90, 404})
	shows("3 of 4", "picture 3")
	v.finger(nil, [2]float64{90, 400}, [2]float64{200, 402}, [2]float64{300, 404})
	shows("2 of 4", "picture 2")
	v.wantInside("the viewer", "#viewer *")
	v.finger(nil, [2]float64{200, 300}, [2]float64{202, 400}, [2]float64{204, 520})
	v.waitFor(`!document.querySelector("#viewer").open`)
	v.wantNoFaults()
}

// A voice note plays on while the page is renewed and until another one does, from the
// keyboard too, at the speed that was chosen.
func TestConsole_VoiceNotesPlay(t *testing.T) {
	t.Parallel()
	v := visit(t)
	first, second := voice(v, 60), voice(v, 10)
	v.wantStored(v.ben, second)
	v.resize(1280, 800, false)
	v.openChat(v.ben.PN())
	in := func(id simnet.MessageID, selector string) string {
		return fmt.Sprintf(`document.querySelector(%q)`, `.msg[data-id="`+id+`"] `+selector)
	}
	v.waitFor(in(second, ".track path") + `?.getAttribute("d").length > 300`) // the waveform
	if length := evaluate[string](v.browser, in(first, ".at")+`.textContent`); length != "1:00" {
		t.Errorf("the first one is of %q", length)
	}
	v.run(in(first, "[data-play]") + `.focus()`)
	v.press(kb.Enter)
	v.waitFor(in(first, ".voice-player.playing") + ` && ` + in(first, "input") + `.value > 0`)
	v.run(in(first, "input") + `.focus()`)
	v.press(kb.ArrowRight + kb.ArrowRight)
	v.waitFor(in(first, "input") + `.value > 9`)
	v.run(in(first, "[data-speed]") + `.click()`)
	v.waitFor(in(second, "[data-speed]") + `.textContent === "1.5×"`)
	say(t, v.ben, v.owner.PN(), "Did you hear it?")
	must(v.ben.ReactTo(within(t), v.owner.PN(), v.ben.PN(), first, "🎧"))(t)
	v.wantText("Did you hear it?")
	v.waitFor(in(first, ".mark"))
	v.waitFor(in(first, ".voice-player.playing") + ` && ` + in(first, "input") + `.value > 9`)
	v.run(in(second, "[data-play]") + `.click()`)
	v.waitFor(in(second, ".voice-player.playing") + ` && !` + in(first, ".voice-player.playing"))
	v.run(in(second, "input") + `.focus()`)
	v.press(" ")
	v.waitFor(`!` + in(second, ".voice-player.playing"))
	v.onTouch(320)
	v.wantInside("a voice note", ".voice-player *")
	v.wantNoFaults()
}

// What is unread begins below a line, which is in sight when the chat is opened, and stays
// as it is while the page is open.
func TestConsole_UnreadMessagesStandBelowALine(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			v := visit(t)
			for i := range 12 {
				say(t, v.ben, v.owner.PN(), fmt.Sprintf("old %d", i))
			}
			v.wantStored(v.ben, "old 11")
			v.bridge.Post(path("/api/chats/%s/read", v.ben.PN()), object{}).Want(200)
			for i := range 30 {
				say(t, v.ben, v.owner.PN(), fmt.Sprintf("new %d", i))
			}
			v.wantStored(v.ben, "new 29")
			v.resize(width, 844, false)
			v.openChat(v.ben.PN())
			const line = `document.querySelector("#unread span")`
			v.waitFor(line + `?.textContent === "30 unread messages"`)
			const inSight = `(() => { const box = ` + line + `.getBoundingClientRect(); return box.top > 60 && box.bottom < innerHeight - 60; })()`
			v.waitFor(inSight)
			if next := evaluate[string](v.browser, line+`.closest("#unread").nextElementSibling.textContent`); !strings.Contains(next, "new 0") {
				t.Errorf("below the line stands %q", next)
			}
			place := evaluate[float64](v.browser, line+`.getBoundingClientRect().top`)
			say(t, v.ben, v.owner.PN(), "one more")
			v.wantText("one more")
			if now := evaluate[float64](v.browser, line+`.getBoundingClientRect().top`); math.Abs(now-place) > 1 {
				t.Errorf("the line moved from %v to %v", place, now)
			}
			v.bridge.Post(path("/api/chats/%s/read", v.ben.PN()), object{}).Want(200)
			say(t, v.ben, v.owner.PN(), "and another")
			v.wantText("and another")
			v.waitFor(line + `?.textContent === "30 unread messages"`)
			v.openChat(v.ben.PN())
			v.waitFor(line + `?.textContent === "1 unread message"`)
			v.wantNoFaults()
		})
	}
}

// A change of a message that is not among the newest ones is seen, too.
func TestConsole_OldMessagesAreRenewed(t *testing.T) {
	t.Parallel()
	v := visit(t)
	id := say(t, v.ben, v.owner.PN(), "the oldest")
	for i := range 60 {
		say(t, v.ben, v.owner.PN(), fmt.Sprintf("line %d.", i))
	}
	v.wantStored(v.ben, "line 59.")
	v.bridge.Post(path("/api/chats/%s/read", v.ben.PN()), object{}).Want(200)
	v.openChat(v.ben.PN())
	v.wantText("line 59.")
	v.run(`document.querySelector("#history").scrollTo(0, -100000)`)
	v.wantText("the oldest")
	must(v.ben.ReactTo(within(t), v.owner.PN(), v.ben.PN(), id, "🦖"))(t)
	v.waitFor(inMessage("the oldest", ".mark"))
	if left := evaluate[int](v.browser, `document.querySelectorAll(".msg").length`); left != 61 {
		t.Errorf("%d messages are shown", left)
	}
	v.wantNoFaults()
}

// While one scrolls, the name of one day is in sight, not those of several.
func TestConsole_DaysStickOneAtATime(t *testing.T) {
	t.Parallel()
	v := visit(t)
	year, month, today := time.Now().Date()
	for day := 6; day >= 0; day-- {
		noon := time.Date(year, month, today-1-day, 12, 0, 0, 0, time.Local) // no day ends meanwhile
		for i := range 8 {
			say(t, v.ben, v.owner.PN(), fmt.Sprintf("day %d, line %d.", day, i), simnet.At(noon.Add(time.Duration(i)*time.Second)))
		}
	}
	v.wantStored(v.ben, "day 0, line 7.")
	v.bridge.Post(path("/api/chats/%s/read", v.ben.PN()), object{}).Want(200)
	v.resize(390, 844, false)
	v.openChat(v.ben.PN())
	v.waitFor(`document.querySelectorAll(".day").length > 5`)
	heights := evaluate[int](v.browser, `document.querySelector("#history").scrollHeight`)
	for at := 0; at < heights; at += 130 {
		overlaps := evaluate[int](v.browser, fmt.Sprintf(`(() => {
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
	if named := evaluate[int](v.browser, `new Set([...document.querySelectorAll(".day")].map(one => one.textContent)).size`); named != 7 {
		t.Errorf("%d days have names, want 7", named)
	}
	v.wantNoFaults()
}

// Whatever a message has, it stays on the screens of phones.
func TestConsole_NothingIsWiderThanAPhone(t *testing.T) {
	t.Parallel()
	v := visit(t)
	for _, text := range []string{
		strings.Repeat("Donaudampfschifffahrt", 20), "https://example.org/" + strings.Repeat("x", 400), "```\n" + strings.Repeat("| column ", 40) + "\n```",
		"`" + strings.Repeat("code", 60) + "`", "- " + strings.Repeat("item", 80) + "\n- two", "123. " + strings.Repeat("number", 60), "> " + strings.Repeat("quote", 80), strings.Repeat("👩‍👩‍👧‍👦", 40),
		strings.Repeat("W", 30) + "\u202e" + strings.Repeat("א", 200), "the last one",
	} {
		say(t, v.ben, v.owner.PN(), text)
	}
	must(v.ben.SendPoll(within(t), v.owner.PN(), strings.Repeat("question", 40), []string{strings.Repeat("a", 90), "b"}, 1))(t)
	must(v.ben.SendContacts(within(t), v.owner.PN(), []simnet.Card{simnet.NewCard(strings.Repeat("name", 60), "+4915100009999")}))(t)
	must(v.ben.SendDocument(within(t), v.owner.PN(), simnet.Media{Data: []byte("x"), Mimetype: "application/pdf", FileName: strings.Repeat("file", 60) + ".pdf"}))(t)
	must(v.ben.SendImage(within(t), v.owner.PN(), simnet.Media{Data: demo.Picture(900, 90), Mimetype: "image/png", Width: 900, Height: 90}))(t)
	voice(v, 5)
	id := say(t, v.ben, v.owner.PN(), "last of all")
	must(v.ben.ReactTo(within(t), v.owner.PN(), v.ben.PN(), id, "👍"))(t)
	v.wantStored(v.ben, "last of all")
	for _, width := range []int64{390, 320} {
		v.onTouch(width)
		v.openChat(v.ben.PN())
		v.wantText("last of all")
		v.waitFor(`document.querySelector(".voice-player")`)
		v.wantInside(fmt.Sprintf("%d pixels", width), "#messages *:not(.vh, .vh *, svg *, .menu-box, .menu-box *)")
	}
	if href := evaluate[string](v.browser, `document.querySelector(".card-part a").getAttribute("href")`); href != "/console/new?phone=4915100009999" {
		t.Errorf("the number of a card leads to %q", href)
	}
	v.wantNoFaults()
}

// A chat's pictures, files and links are found from its menu, by month, and lead back to
// their messages.
func TestConsole_TheGalleryOfAChat(t *testing.T) {
	t.Parallel()
	v := visit(t)
	month := time.Now().AddDate(0, -2, 0)
	for i := range 70 {
		picture := simnet.Media{Data: demo.Picture(60+i, 40), Mimetype: "image/png", Caption: fmt.Sprintf("picture %d.", i), Width: uint32(60 + i), Height: 40}
		must(v.ben.SendImage(within(t), v.owner.PN(), picture, simnet.At(month.Add(time.Duration(i)*24*time.Hour/2))))(t)
	}
	must(v.ben.SendDocument(within(t), v.owner.PN(), simnet.Media{Data: demo.PDF(), Mimetype: "application/pdf", FileName: "plan.pdf", Pages: 1}))(t)
	say(t, v.ben, v.owner.PN(), "Read https://example.org/"+strings.Repeat("long", 60))
	v.wantStored(v.ben, "longlong")
	v.resize(1280, 800, false)
	v.openChat(v.ben.PN())
	v.do(chromedp.Click(chromedp.CSS(".chat-head .menu > summary")), chromedp.Click(chromedp.CSS(`.chat-head a[href$="/media"]`)), loads("#gallery"))
	v.waitFor(`document.querySelectorAll(".tile-view").length >= 60`)
	v.run(`window.stays = true; document.querySelector("#main .pager")?.scrollIntoView()`)
	v.waitFor(`document.querySelectorAll(".tile-view").length === 70 && window.stays`)
	if months := evaluate[int](v.browser, `document.querySelectorAll("#gallery h2").length`); months < 2 || months > 3 {
		t.Errorf("%d months have headings", months)
	}
	v.run(`document.querySelector(".tile-view").click()`)
	v.waitFor(`document.querySelector("#viewer[open] [data-caption]").textContent === "picture 69."`)
	v.press(kb.ArrowRight)
	v.waitFor(`document.querySelector("#viewer[open] [data-caption]").textContent === "picture 68." && document.querySelector("#viewer [data-count]").textContent === "2 of 70"`)
	v.do(chromedp.Click(chromedp.CSS("#viewer [data-show]")), loads(".msg.found"))
	v.waitFor(`document.querySelector(".msg.found").textContent.includes("picture 68.")`)
	for _, width := range []int64{1280, 390, 320} {
		v.resize(width, 844, true)
		for tab, want := range map[string]string{"pictures": ".tile-view", "files": ".media-file", "links": ".media-file a"} {
			v.open(path("/console/chats/%s/media?tab="+tab, v.ben.PN()))
			v.do(loads(want))
			v.wantInside(fmt.Sprintf("%s at %d pixels", tab, width), "#gallery *:not(.vh, svg *)")
		}
	}
	v.wantNoFaults()
}
