package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// top returns where an element begins on the page.
func (b *browser) top(selector string) float64 {
	b.t.Helper()
	return evaluate[float64](b, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().top`, selector))
}

// tap touches the middle of an element.
func (b *browser) tap(selector string) {
	b.t.Helper()
	callBrowser(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%s).scrollIntoView({block: "center"})`, jsString(selector))))
	at := b.middle(selector)
	callBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}})
	callBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// pressRaw presses keys as keyboards do: a page that takes one keeps its character from the
// browser, which chromedp sends by itself.
func (b *browser) pressRaw(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
			callBrowser(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: key})
		}
	}
}

// A phone cannot scan its own screen: there the code to type comes first. The page is the
// overview of a bridge without an account, and becomes one with it.
func TestConsole_AnUnlinkedOverviewLinks(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, "http://127.0.0.1")
	c := newCast(t)
	b.at(c.bridge)
	for width, codeFirst := range map[int64]bool{1280: false, 390: true} {
		b.resize(width, 844, codeFirst)
		b.open("/console/")
		b.waitFor(`document.querySelector("svg.qr")`)
		if code, qr := b.top(".pair-by-code"), b.top(".pair-by-qr"); codeFirst != (code < qr) {
			t.Errorf("at %d the code is at %v, the QR code at %v", width, code, qr)
		}
	}
	// A wrong number is explained beside it, while the page renews itself.
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=phone]"), "0171 555"+kb.Enter))
	b.waitFor(`document.querySelector(".pair-by-code .wrong")?.textContent.includes("country code")`)
	const drawn = `document.querySelector("svg.qr path").getAttribute("d")`
	picture := evaluate[string](b, drawn)
	if _, err := c.owner.ScanQR(within(t), scanned(t, got(b, chromedp.ScreenshotScale(chromedp.CSS("svg.qr"), 2)))); err == nil {
		t.Fatal("the network took the first scan: the picture does not change")
	}
	b.waitFor(fmt.Sprintf(drawn+` !== %q`, picture))
	if kept := evaluate[string](b, `document.querySelector("input[name=phone]").value + "|" + document.querySelector("input[name=phone]").getAttribute("aria-invalid") + "|" + document.querySelectorAll(".wrong").length`); kept != "0171 555|true|1" {
		t.Errorf("after the page was renewed: %s", kept)
	}
	must(c.owner.ScanQR(within(t), scanned(t, got(b, chromedp.ScreenshotScale(chromedp.CSS("svg.qr"), 2)))))(t)
	b.waitFor(`document.querySelector(".linked")`)
	b.open("/console/")
	b.waitFor(`document.querySelector(".hero.good")`)
	b.faultsOf(http.StatusBadRequest)
	b.wantNoFaults()
}

// An overview whose account is unlinked on the phone offers to link one, without a click.
func TestConsole_TheOverviewNoticesThatItIsUnlinked(t *testing.T) {
	t.Parallel()
	v := visit(t)
	v.open("/console/")
	v.waitFor(`document.querySelector(".rail .state.good")?.textContent.includes("Connected")`)
	v.owner.Unlink(v.device)
	v.do(loads("svg.qr"), loads(".rail .state.bad"))
	v.wantNoFaults()
}

// Chats of a token are chosen by name, with keys and by touch; who logs in with it is
// told its limits, and logs out.
func TestConsole_ChatsAreChosenByName(t *testing.T) {
	t.Parallel()
	v := visit(t, "ENABLE_SEND=true")
	say(t, v.ben, v.owner.PN(), "Hello")
	v.wantStored(v.ben, "Hello")
	say(t, v.carla, v.owner.PN(), "Good morning")
	v.wantStored(v.carla, "Good morning")
	v.resize(1280, 800, false)
	v.open("/console/tokens")
	v.waitFor(`document.body.dataset.zone === Intl.DateTimeFormat().resolvedOptions().timeZone`) // until when the page is loaded again
	v.do(chromedp.SendKeys(chromedp.CSS("[name=name]"), "Desk"), chromedp.SendKeys(chromedp.CSS("#choose-chats"), "be"))
	v.waitFor(`document.querySelector(".suggestions [role=option]")?.textContent.startsWith("Ben")`)
	v.pressRaw("ArrowDown", "Enter")
	chips := func() string {
		return evaluate[string](v.browser, `[...document.querySelectorAll(".picked")].map(one => one.textContent.trim()).join()`)
	}
	if chips() != "Ben" || evaluate[string](v.browser, `document.querySelector("#choose-chats").value`) != "" {
		t.Errorf("chosen by keys: %q", chips())
	}
	v.do(chromedp.SendKeys(chromedp.CSS("#choose-chats"), kb.Backspace))
	if chips() != "" {
		t.Errorf("after Backspace: %q", chips())
	}
	v.resize(390, 844, true)
	v.do(chromedp.SendKeys(chromedp.CSS("#choose-chats"), "be"))
	v.waitFor(`document.querySelector(".suggestions [role=option]")?.textContent.startsWith("Ben")`)
	v.tap(".suggestions [role=option]")
	v.waitFor(`document.querySelector(".picked input")`)
	v.do(chromedp.SendKeys(chromedp.CSS("[name=expires]"), "01012020"), chromedp.Submit(chromedp.CSS("[action='/console/tokens'] [name=name]")), loads("main .wrong"))
	if wrong := v.text("main .wrong"); wrong != "Choose a day in the future." || chips() != "Ben" || evaluate[string](v.browser, `document.querySelector("[name=name]").value`) != "Desk" {
		t.Errorf("after a day in the past: %q, %q", wrong, chips())
	}
	v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[name=expires]").value = ""`), chromedp.Submit(chromedp.CSS("[action='/console/tokens'] [name=name]")), loads("#secret"))
	secret := v.text("#secret")
	if listed := v.text("table.hooks"); !strings.Contains(listed, "Desk") || !strings.Contains(listed, "Ben") {
		t.Errorf("the list of tokens: %s", listed)
	}
	v.logOutOnAPhone()
	v.do(chromedp.SendKeys(chromedp.CSS("#token"), secret+"\r"), loads(".chat-list"))
	if shown := v.text("main"); !strings.Contains(shown, "You can read one chat. Your token doesn’t allow sending.") || strings.Contains(shown, "Carla") {
		t.Errorf("a reader's first page: %s", shown)
	}
	v.openChat(v.ben.PN())
	if why := v.text(".composer"); why != "Your token doesn’t allow sending." {
		t.Errorf("in place of the composer: %q", why)
	}
	v.open("/console/chats") // a chat fills the screen of a phone
	v.logOutOnAPhone()
	v.faultsOf(http.StatusBadRequest)
	v.wantNoFaults()
}

// logOutOnAPhone opens the sheet with the other pages, which has the way out.
func (b *browser) logOutOnAPhone() {
	b.t.Helper()
	b.tap(".rail-more")
	b.waitFor(`document.querySelector("#more").matches(":popover-open")`)
	b.tap("#more [action='/console/logout'] button")
	b.loggedOut()
}

// Without the script chats are typed, and what was chosen can be removed.
func TestConsole_ChatsAreChosenWithoutScript(t *testing.T) {
	t.Parallel()
	v := visit(t)
	say(t, v.ben, v.owner.PN(), "Hello")
	v.wantStored(v.ben, "Hello")
	callBrowser(v.browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.open("/console/webhooks")
	v.do(chromedp.SendKeys(chromedp.CSS("[name=url]"), "https://hooks.example.com/x"), chromedp.SendKeys(chromedp.CSS("#choose-chats"), "Nobody here\r"), chromedp.WaitReady(chromedp.CSS(".wrong")))
	v.do(chromedp.SetValue(chromedp.CSS("#choose-chats"), "ben"), chromedp.SetValue(chromedp.CSS("[name=url]"), "https://user@hooks.example.com/x"), chromedp.Submit(chromedp.CSS("#choose-chats")), chromedp.WaitReady(chromedp.CSS(".picked")))
	if shown := v.text(".picked bdi"); shown != "Ben" {
		t.Errorf("chosen: %q", shown)
	}
	if wrong := v.text(".wrong"); !strings.HasPrefix(wrong, "The address must not contain a user name") {
		t.Errorf("beside the address: %q", wrong)
	}
	v.faultsOf(http.StatusBadRequest)
	v.wantNoFaults()
}

// A theme is chosen without the script, and is there at the first paint.
func TestConsole_TheThemeIsChosen(t *testing.T) {
	t.Parallel()
	v := visit(t)
	v.resize(1280, 800, false)
	v.open("/console/settings")
	background := func() string {
		return evaluate[string](v.browser, `getComputedStyle(document.documentElement).backgroundColor`)
	}
	light := background()
	for _, step := range []struct {
		theme string
		dark  bool // the system's
		same  bool // as the system's light one
	}{{"dark", false, false}, {"light", true, true}, {"system", true, false}, {"system", false, true}} {
		v.resize(1280, 800, step.dark)
		v.do(chromedp.Evaluate[chromedp.Void](`window.before = true`), chromedp.Click(chromedp.CSS("[name=theme][value="+step.theme+"]")), becomes("!window.before"), loads("[name=theme][value="+step.theme+"][aria-pressed=true]"))
		if (background() == light) != step.same {
			t.Errorf("%s with a system that is dark (%v): %s, light is %s", step.theme, step.dark, background(), light)
		}
	}
	v.wantNoFaults()
}

// Calls of the API are found, filled in and run, on a desktop and on a phone.
func TestConsole_TriesCallsOfTheAPI(t *testing.T) {
	t.Parallel()
	v := visit(t, "ENABLE_SEND=true")
	say(t, v.ben, v.owner.PN(), "Hello from Ben")
	v.wantStored(v.ben, "Hello from Ben")
	for _, width := range []int64{1280, 390} {
		v.resize(width, 844, width < 600)
		v.open("/console/api")
		if path := v.text("#listIndividualMessages code"); path != "/api/messages/individual/{jid}" {
			t.Errorf("at %d the list has %q", width, path)
		}
		v.do(chromedp.Click(chromedp.CSS("#listIndividualMessages a")), loads("#try .picked"))
		v.do(chromedp.Click(chromedp.CSS("#try button.primary")), loads("#result .badge.good"))
		if answer := v.text("#result"); !strings.Contains(answer, "200 OK") || !strings.Contains(answer, "Hello from Ben") {
			t.Errorf("at %d the answer is %s", width, answer)
		}
		if wide := evaluate[int](v.browser, `document.documentElement.scrollWidth - window.innerWidth`); wide > 0 {
			t.Errorf("at %d the page is %d pixels too wide", width, wide)
		}
	}
	v.open("/console/api/sendText")
	body := fmt.Sprintf(`{"jid": %q, "text": "by the console"}`, v.ben.PN())
	v.do(chromedp.SetValue(chromedp.CSS("#try textarea"), body), chromedp.Click(chromedp.CSS("#try [name=confirm]")),
		chromedp.Click(chromedp.CSS("#try button.primary")), loads("#result .badge.good"))
	must(v.ben.ReceivedText(within(t), "by the console"))(t)
	v.triesACallWithAFile(t)
	v.wantNoFaults()
}

// triesACallWithAFile fills in the form of a call that takes a file. It is sent to the chat
// that is chosen by name.
func (v visited) triesACallWithAFile(t *testing.T) {
	t.Helper()
	dir := written(t, map[string][]byte{"notes.txt": []byte("the notes")})
	v.open("/console/api/sendFile")
	v.do(loads("#try [type=file]"), chromedp.SendKeys(chromedp.CSS("#try [name='form.jid']:not([type=checkbox])"), v.ben.Name()),
		chromedp.SetValue(chromedp.CSS("#try [name='form.caption']"), "As agreed"), chromedp.SetUploadFiles(chromedp.CSS("#try [type=file]"), []string{filepath.Join(dir, "notes.txt")}),
		chromedp.Click(chromedp.CSS("#try [name=confirm]")), chromedp.Click(chromedp.CSS("#try button.primary")), loads("#result .badge.good"))
	got := must(v.ben.Received(within(t), func(r *simnet.Received) bool { return r.Message.Message.GetDocumentMessage() != nil }))(t)
	if document := got.Message.Message.GetDocumentMessage(); document.GetFileName() != "notes.txt" || document.GetCaption() != "As agreed" {
		t.Errorf("arrived: %v", document)
	}
	if file := must(v.ben.Show(within(t), got))(t); string(file) != "the notes" {
		t.Errorf("the file is %q", file)
	}
}

// A call runs with no more rights than the visitor has.
func TestConsole_TriesCallsWithTheVisitorsRights(t *testing.T) {
	t.Parallel()
	v := visit(t, "ENABLE_SEND=true")
	say(t, v.ben, v.owner.PN(), "Hello")
	v.wantStored(v.ben, "Hello")
	made := must(v.bridge.api.CreateToken(within(t), client.NewToken{Name: "reader", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{bridge.JID(v.ben.PN().String())}}))(t)
	v.do(chromedp.Click(chromedp.CSS(".rail-end [action='/console/logout'] button")))
	v.loggedOut()
	v.do(chromedp.SendKeys(chromedp.CSS("#token"), made.Secret+"\r"), loads(".chat-list"))
	v.open("/console/api/sendText")
	v.do(chromedp.Click(chromedp.CSS("#try [name=confirm]")), chromedp.Click(chromedp.CSS("#try button.primary")), loads("#result .badge.bad"))
	if answer := v.text("#result"); !strings.Contains(answer, "403 Forbidden") {
		t.Errorf("the answer is %s", answer)
	}
	v.wantNoFaults()
}
