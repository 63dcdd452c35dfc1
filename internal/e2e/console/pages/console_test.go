package pages

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// A phone scans the picture on the page from its bytes, as a camera would. The
// network then voids it, and the picture of the new code takes its place, even
// while a person types a number beside it.
func TestConsole_PairsByItsQRPicture(t *testing.T) {
	t.Parallel()
	b := OpenBrowser(t, "http://127.0.0.1")
	c := NewCast(t)
	b.At(c.Bridge)
	b.Open("/console/pair")
	b.Resize(1280, 900, false)
	b.WaitFor(`document.querySelector("svg.qr")`)
	b.Do(chromedp.SendKeys(chromedp.CSS("input[name=phone]"), "4915"))
	const drawn = `document.querySelector("svg.qr path").getAttribute("d")`
	void, picture := scanned(b), Evaluate[string](b, drawn)
	if _, err := c.Owner.ScanQR(Within(t), void); !errors.Is(err, simnet.ErrCheckConnection) {
		t.Fatalf("the first scan: %v, want ErrCheckConnection", err)
	}
	b.WaitFor(drawn + ` !== ` + strconv.Quote(picture))
	text := scanned(b)
	if WithoutSecret(text) != WithoutSecret(void) {
		t.Errorf("after the rotation the page shows %s, before %s", text, void)
	}
	if typed := Evaluate[string](b, `document.querySelector("input[name=phone]").value`); typed != "4915" {
		t.Errorf("of the number that was typed %q is left", typed)
	}
	b.Do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	pairsWithPasskey(b, c)
	if shown := b.Text(".linked"); !strings.Contains(strings.ReplaceAll(shown, " ", ""), c.Owner.Number()) { // the name may come later
		t.Errorf("the page shows %q", shown)
	}
	b.WantNoFaults()
}

// scanned reads the QR code on the page as a camera does, until a picture has all of it.
func scanned(b *Browser) (text string) {
	b.T.Helper()
	Eventually(b.T, func() (err error) {
		text, err = ReadQRPicture(Got(b, chromedp.ScreenshotScale(chromedp.CSS("svg.qr"), 2)))
		return err
	})
	return text
}

// pairsWithPasskey scans the QR code with a phone whose account has a passkey, and takes the page's steps: its script runs on
// WhatsApp's site in a browser that has the passkey, and the page gets the script's answer. The first time, linking is
// begun again, and the phone scans the next code.
func pairsWithPasskey(b *Browser, c *Cast) {
	b.T.Helper()
	c.Owner.RequirePasskey(true)
	linked := make(chan error, 1)
	var away atomic.Bool // whether the phone is held elsewhere
	go func() {
		_, err := c.Owner.HoldTo(b.T.Context(), func() string {
			if away.Load() {
				return ""
			}
			return c.Bridge.QR()
		})
		linked <- err
	}()
	b.WaitFor(`document.querySelector(".steps")`)
	if left := b.Text(".notice [data-until]"); !regexp.MustCompile(`^for another [45]:\d\d$`).MatchString(left) {
		b.T.Errorf("the request is valid %q", left)
	}
	away.Store(true)
	b.ClickOn("form[action='/console/logout-account'] button")
	b.WantOnPage("Linking was stopped.")
	away.Store(false)
	b.WaitFor(`document.querySelector(".steps")`)
	const copies = `navigator.clipboard.writeText = async (text) => (window.copied = text)`
	b.Run(copies)
	b.ClickOn(".steps [data-copy]")
	b.WaitFor(`window.copied`)
	script := Evaluate[string](b, `window.copied`)

	leave := b.AtWhatsApp(c.Owner.Passkey())
	b.Run(copies + ";" + script)
	b.ClickOn("dialog button")
	b.WaitFor(`document.querySelector("dialog button").textContent === "Copy answer"`)
	b.ClickOn("dialog button")
	b.WaitFor(`document.querySelector("dialog button").textContent === "Close"`)
	answer := Evaluate[string](b, `window.copied`)
	b.ClickOn("dialog button")
	b.WaitFor(`!document.querySelector("dialog")`)
	leave()

	b.Open("/console/pair")
	b.Run(`const sent = window.fetch;
		window.fetch = async (...request) => { // events may renew the form while it is sent
			const answer = await sent(...request);
			if (request[1]?.method === "POST") {
				const form = document.querySelector("form[action='/console/pair/passkey']"), fresh = form.cloneNode(true);
				fresh.querySelector("button").disabled = false;
				form.replaceWith(fresh);
			}
			return answer;
		};`)
	b.Fill("[name=credential]", answer[1:])
	b.ClickOn("form[action='/console/pair/passkey'] button")
	b.WaitFor(`document.querySelector(".wrong")?.textContent.includes("from the first {")`)
	b.FaultsOf(http.StatusBadRequest)
	b.Fill("[name=credential]", answer)
	b.ClickOn("form[action='/console/pair/passkey'] button")
	b.WaitFor(`document.querySelector(".linked")`)
	if err := <-linked; err != nil {
		b.T.Fatal(err)
	}
}

// Enter in the number's field shows the code below it, and a region in which somebody
// types is renewed all the same.
func TestConsole_PairsByACodeFromTheKeyboard(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			b := OpenBrowser(t, "http://127.0.0.1")
			c := NewCast(t)
			b.At(c.Bridge)
			b.Resize(width, 900, width < 600)
			b.Open("/console/pair")
			b.WaitFor(`document.querySelector("svg.qr")`)
			b.Do(chromedp.SendKeys(chromedp.CSS("input[name=phone]"), c.Owner.Number()+kb.Enter))
			b.WaitFor(`document.querySelector(".pair-code")`)
			if focused := Evaluate[string](b, `document.activeElement.name + " " + document.activeElement.value`); focused != "phone "+c.Owner.Number() {
				t.Errorf("the focus is on %q", focused)
			}
			// At once: the page is renewed between two questions of the browser's protocol.
			textOf := func(selector string) string {
				return Evaluate[string](b, `document.querySelector(`+strconv.Quote(selector)+`).textContent`)
			}
			if valid := textOf("[data-until]"); !regexp.MustCompile(`^for another \d:[0-5]\d$`).MatchString(valid) {
				t.Errorf("the code is valid %q", valid)
			}
			if button := textOf("form[action='/console/pair'] button"); button != "Get a new code" {
				t.Errorf("the button says %q", button)
			}
			Must(c.Owner.EnterPairingCode(Within(t), strings.ReplaceAll(textOf(".pair-code"), "-", "")))(t)
			b.WaitFor(`document.querySelector(".linked") && !document.querySelector("[data-live=pair]").dataset.every`) // nothing changes any more
			b.WantNoFaults()
		})
	}
}

// A conversation: what either side writes appears on the other without reloading
// the page. It is printed without the rest of the page.
func TestConsole_AConversationIsLive(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	Say(t, v.Ben, v.Owner.PN(), "Are you there?")
	v.WantStored(v.Ben, "Are you there?")
	v.OpenChat(v.Ben.PN())
	v.WantText("Are you there?")
	v.Do(chromedp.Evaluate[chromedp.Void](`window.stays = true`))

	v.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "Yes, *I am*\r"))
	v.WantText("Yes, I am")
	received := Must(v.Ben.ReceivedText(Within(t), "Yes, *I am*"))(t)
	Must(v.Ben.SendText(Within(t), v.Owner.PN(), "Good!", simnet.Quoting(received)))(t)
	v.WantText("Good!")
	v.WaitFor(`document.querySelector(".quote") && document.querySelector(".out .tick")`)
	if !Evaluate[bool](v.Browser, `window.stays === true`) {
		t.Error("the page was loaded again")
	}
	CallBrowser(v.Browser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	v.WaitFor(`[...document.querySelectorAll("nav, .pane, #composer")].every(one => !one.checkVisibility()) && document.querySelector("#messages").checkVisibility() && getComputedStyle(document.querySelector("#history")).overflow === "visible"`)
	CallBrowser(v.Browser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	logsEventsLive(t, v)
	v.WantNoFaults()
}

// logsEventsLive: the row of an event says the same when it comes as after the page is loaded again.
func logsEventsLive(t *testing.T, v Visited) {
	t.Helper()
	v.Open("/console/events")
	v.WaitFor(`document.readyState === "complete" && !document.querySelector("#pause").hidden`)
	newest := `document.querySelector("#event-log li .event-text").textContent`
	Must(v.Ben.SendImage(Within(t), v.Owner.PN(), simnet.Media{Data: []byte("a picture"), Mimetype: "image/png"}))(t)
	v.WaitFor(newest + ` === "Ben: Photo"`)
	v.Bridge.Post("/api/messages/send", Object{"jid": v.Ben.PN().String(), "text": "see you", "sendAt": time.Now().Add(time.Hour).Format(time.RFC3339)}).Want(http.StatusOK)
	v.WaitFor(newest + ` === "Scheduled · see you"`)
	shown := `[...document.querySelectorAll("#event-log summary")].map(one => one.innerText).join("\n")`
	rows := Evaluate[string](v.Browser, shown)
	v.Open("/console/events")
	if again := Evaluate[string](v.Browser, shown); again != rows {
		t.Errorf("the rows are\n%s\nloaded again\n%s", rows, again)
	}
	v.ClickOn("#pause")
	for range 110 { // a page of the log has 100
		Say(t, v.Ben, v.Owner.PN(), "meanwhile")
	}
	Say(t, v.Ben, v.Owner.PN(), "while it pauses")
	v.WantStored(v.Ben, "while it pauses")
	v.WaitFor(`document.querySelector("#pause").innerText.includes("(") && !document.querySelector("#event-log").textContent.includes("while it pauses")`)
	v.ClickOn("#pause")
	v.WaitFor(newest + `.includes("while it pauses")`)
	if gaps := Evaluate[int](v.Browser, `[...document.querySelectorAll("#event-log li")].filter((row, i, rows) => i && rows[i - 1].dataset.id - row.dataset.id !== 1).length`); gaps > 0 {
		t.Errorf("%d gaps in the rows after a pause", gaps)
	}
}

func TestConsole_SearchJumpsToTheMessage(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	Say(t, v.Ben, v.Owner.PN(), "We meet in the Hauptstraße")
	v.WantStored(v.Ben, "Hauptstraße")
	v.Open("/console/search?q=STRASSE")
	if marked := v.Text(".hits mark"); marked != "straße" {
		t.Errorf("marked %q", marked)
	}
	v.Do(Clicks(".hits a"), Loads(".msg.found"))
	v.WantText("Hauptstraße")
	v.WantNoFaults()
}

// hostileTexts are texts that strangers may write.
var hostileTexts = []string{
	`<script>window.hacked = 1</script>`, `<img src=x onerror="window.hacked = 1">`, `"><svg onload="window.hacked = 1">`, `</title></textarea><b>bold</b>`,
	`{{.CSRF}} ${1} javascript:alert(1)`, "\u202etxt.exe\u202c \u2066x", strings.Repeat("Z\u0310\u0320\u0351\u0353\u0489", 300), strings.Repeat("long ", 13000) + strings.Repeat("x", 536),
	`https://example.org/"onmouseover="window.hacked=1`, `javascript://example.org/%0Awindow.hacked=1`, "'\"`&<>", "&lt;script&gt;",
}

// Anything that people write, even as their own name, is text on every page.
func TestConsole_HostileContentIsText(t *testing.T) {
	t.Parallel()
	b := OpenBrowser(t, "http://127.0.0.1")
	c := PairedCast(t)
	eve := NewPhone(t, c.Network, simnet.PhoneOptions{Number: "491510000066", Name: `"><img src=x onerror=window.hacked=1>'`})
	for _, text := range hostileTexts {
		Say(t, eve, c.Owner.PN(), text)
	}
	Must(eve.SendDocument(Within(t), c.Owner.PN(), simnet.Media{Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"/>`), Mimetype: "image/svg+xml", FileName: `"><script>window.hacked=1</script>.svg`}))(t)
	Say(t, eve, c.Owner.PN(), "the last line")
	b.At(c.Bridge)
	v := Visited{Cast: c, Browser: b}
	v.WantStored(eve, "the last line")
	chat := "/console/chats/" + bridge.JID(eve.PN().String()).Escaped()
	for _, address := range []string{chat, "/console/", "/console/chats", "/console/events", "/console/search?q=" + "%3Cscript%3E%22%27", "/console/search?q=hacked"} {
		b.Open(address)
		b.WaitFor(`document.readyState == "complete"`)
		if Evaluate[bool](b, `window.hacked !== undefined || document.querySelector("script:not([src]), [onerror], [onload], [onmouseover], style, main img[src='x'], main b") !== null`) {
			t.Errorf("%s: a person's text became a part of the page", address)
		}
		if wide := Evaluate[int](b, `document.documentElement.scrollWidth - window.innerWidth`); wide > 0 {
			t.Errorf("%s: the page is %d pixels too wide", address, wide)
		}
	}
	b.Open(chat)
	for _, text := range hostileTexts {
		if !Evaluate[bool](b, fmt.Sprintf(`[...document.querySelectorAll(".msg .text")].some(one => one.textContent.startsWith(%s))`, JsString(text))) {
			t.Errorf("not shown as it is: %.60q", text)
		}
	}
	if links := Evaluate[string](b, `[...document.querySelectorAll("#messages .text a")].map(a => a.protocol).join()`); links != "https:" {
		t.Errorf("links of %q", links)
	}
	b.WantNoFaults()
}

// Unlinking asks for the number; afterwards the overview links one again.
func TestConsole_LogsOut(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.Open("/console/settings")
	v.Do(chromedp.SendKeys(chromedp.CSS("[name=number]"), "+"+v.Owner.Number()+"\r"), Loads("svg.qr"))
	if len(v.Owner.LinkedDevices()) != 0 {
		t.Error("the phone still has the device")
	}
	v.WantNoFaults()
}

// Without the script, pages can be read and texts sent.
func TestConsole_WorksWithoutScript(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	Say(t, v.Ben, v.Owner.PN(), "Hello")
	v.WantStored(v.Ben, "Hello")
	CallBrowser(v.Browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.OpenChat(v.Ben.PN())
	v.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "by form"), chromedp.Click(chromedp.CSS(".say button.primary")),
		chromedp.WaitReady(chromedp.CSS(".msg.out")))
	if shown := v.Text(".msg.out .text"); !strings.Contains(shown, "by form") {
		t.Errorf("shown %q", shown)
	}
	v.WantNoFaults()
}

// CONSOLE=false removes all of it.
func TestConsole_CanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t), "CONSOLE=false")
	for _, address := range []string{"/", "/login", "/console/", "/console/assets/console.css", "/favicon.ico"} {
		b.Get(address).Want(http.StatusNotFound)
	}
}
