package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// visited is a cast whose bridge is open in a browser.
type visited struct {
	*cast
	*browser
}

// visit opens the console of a paired account, logged in.
func visit(t *testing.T, settings ...string) visited {
	t.Helper()
	b := openBrowser(t, "http://127.0.0.1")
	c := pairedCast(t, settings...)
	b.at(c.bridge)
	return visited{c, b}
}

// at logs in to the console of a bridge.
func (b *browser) at(p *process) {
	b.t.Helper()
	b.mu.Lock()
	b.base = "http://" + p.address
	b.mu.Unlock()
	b.logIn()
}

// openChat opens the page of a chat.
func (v visited) openChat(chat simnet.JID) {
	v.browser.t.Helper()
	v.open("/console/chats/" + bridge.JID(chat.String()).Escaped())
}

// wantText waits until the messages of the open chat contain a text.
func (b *browser) wantText(text string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`document.querySelector("#messages").textContent.includes(%q)`, text))
}

// A phone scans the picture on the page from its bytes, as a camera would. The
// network then voids it, and the picture of the new code takes its place, even
// while a person types a number beside it.
func TestConsole_PairsByItsQRPicture(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, "http://127.0.0.1")
	c := newCast(t)
	b.at(c.bridge)
	b.open("/console/pair")
	b.resize(1280, 900, false)
	b.waitFor(`document.querySelector("svg.qr")`)
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=phone]"), "4915"))
	const drawn = `document.querySelector("svg.qr path").getAttribute("d")`
	void, picture := scanned(t, got(b, chromedp.ScreenshotScale(chromedp.CSS("svg.qr"), 2))), evaluate[string](b, drawn)
	if _, err := c.owner.ScanQR(within(t), void); !errors.Is(err, simnet.ErrCheckConnection) {
		t.Fatalf("the first scan: %v, want ErrCheckConnection", err)
	}
	b.waitFor(drawn + ` !== ` + strconv.Quote(picture))
	text := scanned(t, got(b, chromedp.ScreenshotScale(chromedp.CSS("svg.qr"), 2)))
	if withoutSecret(text) != withoutSecret(void) {
		t.Errorf("after the rotation the page shows %s, before %s", text, void)
	}
	if typed := evaluate[string](b, `document.querySelector("input[name=phone]").value`); typed != "4915" {
		t.Errorf("of the number that was typed %q is left", typed)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	must(c.owner.ScanQR(within(t), text))(t)
	b.waitFor(`document.querySelector(".linked")`)
	if shown := b.text(".linked"); !strings.Contains(shown, c.owner.Number()) { // the name may come later
		t.Errorf("the page shows %q", shown)
	}
	b.wantNoFaults()
}

// Enter in the number's field shows the code below it, and a region in which somebody
// types is renewed all the same.
func TestConsole_PairsByACodeFromTheKeyboard(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			b := openBrowser(t, "http://127.0.0.1")
			c := newCast(t)
			b.at(c.bridge)
			b.resize(width, 900, width < 600)
			b.open("/console/pair")
			b.waitFor(`document.querySelector("svg.qr")`)
			b.do(chromedp.SendKeys(chromedp.CSS("input[name=phone]"), c.owner.Number()+kb.Enter))
			b.waitFor(`document.querySelector(".pair-code")`)
			if focused := evaluate[string](b, `document.activeElement.name + " " + document.activeElement.value`); focused != "phone "+c.owner.Number() {
				t.Errorf("the focus is on %q", focused)
			}
			// At once: the page is renewed between two questions of the browser's protocol.
			textOf := func(selector string) string {
				return evaluate[string](b, `document.querySelector(`+strconv.Quote(selector)+`).textContent`)
			}
			if button := textOf("form[action='/console/pair'] button"); button != "Get a new code" {
				t.Errorf("the button says %q", button)
			}
			must(c.owner.EnterPairingCode(within(t), strings.ReplaceAll(textOf(".pair-code"), "-", "")))(t)
			b.waitFor(`document.querySelector(".linked")`)
			b.wantNoFaults()
		})
	}
}

// scanned reads a QR code in a picture.
func scanned(t *testing.T, picture []byte) string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	text, err := readQR(img)
	if err != nil {
		t.Fatalf("no QR code is in the picture: %v", err)
	}
	return text
}

// A conversation: what either side writes appears on the other without reloading
// the page.
func TestConsole_AConversationIsLive(t *testing.T) {
	t.Parallel()
	v := visit(t)
	say(t, v.ben, v.owner.PN(), "Are you there?")
	v.wantStored(v.ben, "Are you there?")
	v.openChat(v.ben.PN())
	v.wantText("Are you there?")
	v.do(chromedp.Evaluate[chromedp.Void](`window.stays = true`))

	v.do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "Yes, *I am*\r"))
	v.wantText("Yes, I am")
	received := must(v.ben.ReceivedText(within(t), "Yes, *I am*"))(t)
	must(v.ben.SendText(within(t), v.owner.PN(), "Good!", simnet.Quoting(received)))(t)
	v.wantText("Good!")
	v.waitFor(`document.querySelector(".quote") && document.querySelector(".out .tick")`)
	if !evaluate[bool](v.browser, `window.stays === true`) {
		t.Error("the page was loaded again")
	}
	v.wantNoFaults()
}

// wantStored waits until the bridge shows a message.
func (v visited) wantStored(from *simnet.Phone, text string) {
	t := v.browser.t
	t.Helper()
	eventually(t, func() error {
		found := v.bridge.Get(path("/api/messages/individual/%s", from.PN()))
		if !strings.Contains(string(found.Body), strings.Trim(fmt.Sprintf("%q", text), `"`)) {
			return fmt.Errorf("%q is not stored", text)
		}
		return nil
	})
}

func TestConsole_SearchJumpsToTheMessage(t *testing.T) {
	t.Parallel()
	v := visit(t)
	say(t, v.ben, v.owner.PN(), "We meet in the Hauptstraße")
	v.wantStored(v.ben, "Hauptstraße")
	v.open("/console/search?q=STRASSE")
	if marked := v.text(".hits mark"); marked != "straße" {
		t.Errorf("marked %q", marked)
	}
	v.do(chromedp.Click(chromedp.CSS(".hits a")), loads(".msg.found"))
	v.wantText("Hauptstraße")
	v.wantNoFaults()
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
	b := openBrowser(t, "http://127.0.0.1")
	c := pairedCast(t)
	eve := newPhone(t, c.network, simnet.PhoneOptions{Number: "491510000066", Name: `"><img src=x onerror=window.hacked=1>'`})
	for _, text := range hostileTexts {
		say(t, eve, c.owner.PN(), text)
	}
	must(eve.SendDocument(within(t), c.owner.PN(), simnet.Media{Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"/>`), Mimetype: "image/svg+xml", FileName: `"><script>window.hacked=1</script>.svg`}))(t)
	say(t, eve, c.owner.PN(), "the last line")
	b.at(c.bridge)
	v := visited{c, b}
	v.wantStored(eve, "the last line")
	chat := "/console/chats/" + bridge.JID(eve.PN().String()).Escaped()
	for _, address := range []string{chat, "/console/", "/console/chats", "/console/events", "/console/search?q=" + "%3Cscript%3E%22%27", "/console/search?q=hacked"} {
		b.open(address)
		b.waitFor(`document.readyState == "complete"`)
		if evaluate[bool](b, `window.hacked !== undefined || document.querySelector("script:not([src]), [onerror], [onload], [onmouseover], style, main img[src='x'], main b") !== null`) {
			t.Errorf("%s: a person's text became a part of the page", address)
		}
		if wide := evaluate[int](b, `document.documentElement.scrollWidth - window.innerWidth`); wide > 0 {
			t.Errorf("%s: the page is %d pixels too wide", address, wide)
		}
	}
	b.open(chat)
	for _, text := range hostileTexts {
		if !evaluate[bool](b, fmt.Sprintf(`[...document.querySelectorAll(".msg .text")].some(one => one.textContent.startsWith(%s))`, jsString(text))) {
			t.Errorf("not shown as it is: %.60q", text)
		}
	}
	if links := evaluate[string](b, `[...document.querySelectorAll("#messages .text a")].map(a => a.protocol).join()`); links != "https:" {
		t.Errorf("links of %q", links)
	}
	b.wantNoFaults()
}

// jsString returns a text as a JavaScript string literal.
func jsString(text string) string {
	encoded, err := bridge.EncodeJSON(text)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// Unlinking asks for the number; afterwards the overview links one again.
func TestConsole_LogsOut(t *testing.T) {
	t.Parallel()
	v := visit(t)
	v.open("/console/settings")
	v.do(chromedp.SendKeys(chromedp.CSS("[name=number]"), "+"+v.owner.Number()+"\r"), loads("svg.qr"))
	if len(v.owner.LinkedDevices()) != 0 {
		t.Error("the phone still has the device")
	}
	v.wantNoFaults()
}

// Without the script, pages can be read and texts sent.
func TestConsole_WorksWithoutScript(t *testing.T) {
	t.Parallel()
	v := visit(t)
	say(t, v.ben, v.owner.PN(), "Hello")
	v.wantStored(v.ben, "Hello")
	callBrowser(v.browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.openChat(v.ben.PN())
	v.do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "by form"), chromedp.Click(chromedp.CSS(".say button.primary")),
		chromedp.WaitReady(chromedp.CSS(".msg.out")))
	if shown := v.text(".msg.out .text"); !strings.Contains(shown, "by form") {
		t.Errorf("shown %q", shown)
	}
	v.wantNoFaults()
}

// CONSOLE=false removes all of it.
func TestConsole_CanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	b := startBridge(t, newNetwork(t), "CONSOLE=false")
	for _, address := range []string{"/", "/login", "/console/", "/console/assets/console.css", "/favicon.ico"} {
		b.Get(address).Want(http.StatusNotFound)
	}
}
