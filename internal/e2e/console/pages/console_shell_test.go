package pages

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
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// top returns where an element begins on the page.
func top(b *Browser, selector string) float64 {
	b.T.Helper()
	return Evaluate[float64](b, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().top`, selector))
}

// tap touches the middle of an element.
func tap(b *Browser, selector string) {
	b.T.Helper()
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%s).scrollIntoView({block: "center"})`, JsString(selector))))
	at := b.Middle(selector)
	CallBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}})
	CallBrowser(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// pressRaw presses keys as keyboards do: a page that takes one keeps its character from the
// browser, which chromedp sends by itself.
func pressRaw(b *Browser, keys ...string) {
	b.T.Helper()
	for _, key := range keys {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
			CallBrowser(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: key})
		}
	}
}

// A phone cannot scan its own screen: there the code to type comes first. The page is the
// overview of a bridge without an account, and becomes one with it.
func TestConsole_AnUnlinkedOverviewLinks(t *testing.T) {
	t.Parallel()
	b := OpenBrowser(t, "http://127.0.0.1")
	c := NewCast(t)
	b.At(c.Bridge)
	for width, codeFirst := range map[int64]bool{1280: false, 390: true} {
		b.Resize(width, 844, codeFirst)
		b.Open("/console/")
		b.WaitFor(`document.querySelector("svg.qr")`)
		if code, qr := top(b, ".pair-by-code"), top(b, ".pair-by-qr"); codeFirst != (code < qr) {
			t.Errorf("at %d the code is at %v, the QR code at %v", width, code, qr)
		}
	}
	// A wrong number is explained beside it, while the page renews itself.
	b.Do(chromedp.SendKeys(chromedp.CSS("input[name=phone]"), "0171 555"+kb.Enter))
	b.WaitFor(`document.querySelector(".pair-by-code .wrong")?.textContent.includes("country code")`)
	const drawn = `document.querySelector("svg.qr path").getAttribute("d")`
	picture := Evaluate[string](b, drawn)
	if _, err := c.Owner.ScanQR(Within(t), scanned(b)); err == nil {
		t.Fatal("the network took the first scan: the picture does not change")
	}
	b.WaitFor(fmt.Sprintf(drawn+` !== %q`, picture))
	if kept := Evaluate[string](b, `document.querySelector("input[name=phone]").value + "|" + document.querySelector("input[name=phone]").getAttribute("aria-invalid") + "|" + document.querySelectorAll(".wrong").length`); kept != "0171 555|true|1" {
		t.Errorf("after the page was renewed: %s", kept)
	}
	Must(c.Owner.ScanQR(Within(t), scanned(b)))(t)
	b.WaitFor(`document.querySelector(".linked")`)
	b.Open("/console/")
	b.WaitFor(`document.querySelector(".hero.good")`)
	b.FaultsOf(http.StatusBadRequest)
	b.WantNoFaults()
}

// An overview whose account is unlinked on the phone offers to link one, without a click.
func TestConsole_TheOverviewNoticesThatItIsUnlinked(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.Open("/console/")
	v.WaitFor(`document.querySelector(".rail .state.good")?.textContent.includes("Connected")`)
	v.Owner.Unlink(v.Device)
	v.Do(Loads("svg.qr"), Loads(".rail .state.bad"))
	v.WantNoFaults()
}

// Chats of a token are chosen by name, with keys and by touch; who logs in with it is
// told its limits, and logs out.
func TestConsole_ChatsAreChosenByName(t *testing.T) {
	t.Parallel()
	v := Visit(t, "ENABLE_SEND=true")
	Say(t, v.Ben, v.Owner.PN(), "Hello")
	v.WantStored(v.Ben, "Hello")
	Say(t, v.Carla, v.Owner.PN(), "Good morning")
	v.WantStored(v.Carla, "Good morning")
	v.Resize(1280, 800, false)
	v.Open("/console/tokens")
	v.WaitFor(`document.body.dataset.zone === Intl.DateTimeFormat().resolvedOptions().timeZone`) // until when the page is loaded again
	v.Do(chromedp.SendKeys(chromedp.CSS("[name=name]"), "Desk"), chromedp.SendKeys(chromedp.CSS("#choose-chats"), "be"))
	v.WaitFor(`document.querySelector(".suggestions [role=option]")?.textContent.startsWith("Ben")`)
	pressRaw(v.Browser, "ArrowDown", "Enter")
	chips := func() string {
		return Evaluate[string](v.Browser, `[...document.querySelectorAll(".picked")].map(one => one.textContent.trim()).join()`)
	}
	if chips() != "Ben" || Evaluate[string](v.Browser, `document.querySelector("#choose-chats").value`) != "" {
		t.Errorf("chosen by keys: %q", chips())
	}
	v.Do(chromedp.SendKeys(chromedp.CSS("#choose-chats"), kb.Backspace))
	if chips() != "" {
		t.Errorf("after Backspace: %q", chips())
	}
	v.Resize(390, 844, true)
	v.Do(chromedp.SendKeys(chromedp.CSS("#choose-chats"), "be"))
	v.WaitFor(`document.querySelector(".suggestions [role=option]")?.textContent.startsWith("Ben")`)
	tap(v.Browser, ".suggestions [role=option]")
	v.WaitFor(`document.querySelector(".picked input")`)
	v.Do(chromedp.SendKeys(chromedp.CSS("[name=expires]"), "01012020"), chromedp.Submit(chromedp.CSS("[action='/console/tokens'] [name=name]")), Loads("main .wrong"))
	if wrong := v.Text("main .wrong"); wrong != "Choose a day in the future." || chips() != "Ben" || Evaluate[string](v.Browser, `document.querySelector("[name=name]").value`) != "Desk" {
		t.Errorf("after a day in the past: %q, %q", wrong, chips())
	}
	v.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[name=expires]").value = ""`), chromedp.Submit(chromedp.CSS("[action='/console/tokens'] [name=name]")), Loads("#secret"))
	secret := v.Text("#secret")
	if listed := v.Text("table.hooks"); !strings.Contains(listed, "Desk") || !strings.Contains(listed, "Ben") {
		t.Errorf("the list of tokens: %s", listed)
	}
	logOutOnAPhone(v.Browser)
	v.Do(chromedp.SendKeys(chromedp.CSS("#token"), secret+"\r"), Loads(".chat-list"))
	if shown := v.Text("main"); !strings.Contains(shown, "You have access to one chat. Your token doesn’t allow sending.") || strings.Contains(shown, "Carla") {
		t.Errorf("a reader's first page: %s", shown)
	}
	v.OpenChat(v.Ben.PN())
	if why := v.Text(".composer"); why != "Your token doesn’t allow sending." {
		t.Errorf("in place of the composer: %q", why)
	}
	v.Open("/console/chats") // a chat fills the screen of a phone
	logOutOnAPhone(v.Browser)
	v.FaultsOf(http.StatusBadRequest)
	v.WantNoFaults()
}

// logOutOnAPhone opens the sheet with the other pages, which has the way out.
func logOutOnAPhone(b *Browser) {
	b.T.Helper()
	tap(b, ".rail-more")
	b.WaitFor(`document.querySelector("#more").matches(":popover-open")`)
	tap(b, "#more [action='/console/logout'] button")
	b.LoggedOut()
}

// Without the script chats are typed, and what was chosen can be removed.
func TestConsole_ChatsAreChosenWithoutScript(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	Say(t, v.Ben, v.Owner.PN(), "Hello")
	v.WantStored(v.Ben, "Hello")
	CallBrowser(v.Browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.Open("/console/webhooks")
	v.Do(chromedp.SendKeys(chromedp.CSS("[name=url]"), "https://hooks.example.com/x"), chromedp.SendKeys(chromedp.CSS("#choose-chats"), "Nobody here\r"), chromedp.WaitReady(chromedp.CSS(".wrong")))
	v.Do(chromedp.SetValue(chromedp.CSS("#choose-chats"), "ben"), chromedp.SetValue(chromedp.CSS("[name=url]"), "https://user@hooks.example.com/x"), chromedp.Submit(chromedp.CSS("#choose-chats")), chromedp.WaitReady(chromedp.CSS(".picked")))
	if shown := v.Text(".picked bdi"); shown != "Ben" {
		t.Errorf("chosen: %q", shown)
	}
	if wrong := v.Text(".wrong"); !strings.HasPrefix(wrong, "The address must not contain a user name") {
		t.Errorf("beside the address: %q", wrong)
	}
	v.FaultsOf(http.StatusBadRequest)
	v.WantNoFaults()
}

// A theme is chosen without the script, and is there at the first paint.
func TestConsole_TheThemeIsChosen(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.Resize(1280, 800, false)
	v.Open("/console/settings")
	background := func() string {
		return Evaluate[string](v.Browser, `getComputedStyle(document.documentElement).backgroundColor`)
	}
	light := background()
	for _, step := range []struct {
		theme string
		dark  bool // the system's
		same  bool // as the system's light one
	}{{"dark", false, false}, {"light", true, true}, {"system", true, false}, {"system", false, true}} {
		v.Resize(1280, 800, step.dark)
		v.Do(chromedp.Evaluate[chromedp.Void](`window.before = true`), Clicks("[name=theme][value="+step.theme+"]"), Becomes("!window.before"), Loads("[name=theme][value="+step.theme+"][aria-pressed=true]"))
		if (background() == light) != step.same {
			t.Errorf("%s with a system that is dark (%v): %s, light is %s", step.theme, step.dark, background(), light)
		}
	}
	logsOutElsewhere(t, v)
	v.WantNoFaults()
}

// logsOutElsewhere lists the sessions on the page of the settings, and ends others after a question.
func logsOutElsewhere(t *testing.T, v Visited) {
	t.Helper()
	var others []*Visitor
	for range 3 {
		other := NewVisitor(t, "http://"+v.Bridge.Address)
		other.LogIn(TestToken)
		others = append(others, other)
	}
	out := func() (count int) {
		for _, other := range others {
			if _, page := other.Get("/console/settings"); strings.Contains(page, `id="token"`) {
				count++
			}
		}
		return count
	}
	v.Resize(390, 844, false)
	v.Open("/console/settings")
	v.WaitFor(`document.querySelectorAll(".sessions li").length === 4 && document.readyState === "complete"`)
	if first := v.Text(".sessions li"); !strings.Contains(first, "Chrome on Linux") || !strings.Contains(first, "This browser") {
		t.Errorf("the first session is %q", first)
	}
	v.WantFit("the sessions")
	v.WantInside("the sessions", "#sessions *:not(.vh, svg *)")
	v.ClickOn(".sessions form button")
	v.ClickIt(`document.querySelectorAll("dialog.ask button")[1]`) // Cancel
	v.WaitFor(`!document.querySelector("dialog.ask")`)
	if count := out(); count != 0 {
		t.Errorf("%d are logged out without an answer", count)
	}
	v.ClickOn(".sessions form button")
	agree(v.Browser)
	v.WaitFor(`document.querySelectorAll(".sessions li").length === 3 && document.readyState === "complete"`)
	if count := out(); count != 1 {
		t.Errorf("%d are logged out, want 1", count)
	}
	v.ClickOn("#sessions [action='/console/sessions'] button")
	agree(v.Browser)
	v.WaitFor(`document.querySelectorAll(".sessions li").length === 1`)
	if count := out(); count != 3 {
		t.Errorf("%d are logged out, want 3", count)
	}
	v.ClickOn("main [action='/console/logout'] button")
	v.LoggedOut()
}

// Calls of the API are found, filled in and run, on a desktop and on a phone.
func TestConsole_TriesCallsOfTheAPI(t *testing.T) {
	t.Parallel()
	v := Visit(t, "ENABLE_SEND=true")
	Say(t, v.Ben, v.Owner.PN(), "Hello from Ben")
	v.WantStored(v.Ben, "Hello from Ben")
	for _, width := range []int64{1280, 390} {
		v.Resize(width, 844, width < 600)
		v.Open("/console/api")
		if path := v.Text("#listIndividualMessages code"); path != "/api/messages/individual/{jid}" {
			t.Errorf("at %d the list has %q", width, path)
		}
		v.Do(Clicks("#listIndividualMessages a"), Loads("#try .picked"))
		v.Do(Clicks("#try button.primary"), Loads("#result .badge.good"))
		if answer := v.Text("#result"); !strings.Contains(answer, "200 OK") || !strings.Contains(answer, "Hello from Ben") {
			t.Errorf("at %d the answer is %s", width, answer)
		}
		if wide := Evaluate[int](v.Browser, `document.documentElement.scrollWidth - window.innerWidth`); wide > 0 {
			t.Errorf("at %d the page is %d pixels too wide", width, wide)
		}
	}
	v.Open("/console/api/sendText")
	body := fmt.Sprintf(`{"jid": %q, "text": "by the console"}`, v.Ben.PN())
	v.Do(chromedp.SetValue(chromedp.CSS("#try textarea"), body), Clicks("#try [name=confirm]"),
		Clicks("#try button.primary"), Loads("#result .badge.good"))
	Must(v.Ben.ReceivedText(Within(t), "by the console"))(t)
	triesACallWithAFile(v, t)
	v.WantNoFaults()
}

// triesACallWithAFile fills in the form of a call that takes a file. It is sent to the chat
// that is chosen by name.
func triesACallWithAFile(v Visited, t *testing.T) {
	t.Helper()
	dir := Written(t, map[string][]byte{"notes.txt": []byte("the notes")})
	v.Open("/console/api/sendFile")
	v.Do(Loads("#try [type=file]"), chromedp.SendKeys(chromedp.CSS("#try [name='form.jid']:not([type=checkbox])"), v.Ben.Name()),
		chromedp.SetValue(chromedp.CSS("#try [name='form.caption']"), "As agreed"), chromedp.SetUploadFiles(chromedp.CSS("#try [type=file]"), []string{filepath.Join(dir, "notes.txt")}),
		Clicks("#try [name=confirm]"), Clicks("#try button.primary"), Loads("#result .badge.good"))
	got := Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.GetDocumentMessage() != nil }))(t)
	if document := got.Message.Message.GetDocumentMessage(); document.GetFileName() != "notes.txt" || document.GetCaption() != "As agreed" {
		t.Errorf("arrived: %v", document)
	}
	if file := Must(v.Ben.Show(Within(t), got))(t); string(file) != "the notes" {
		t.Errorf("the file is %q", file)
	}
}

// A call runs with no more rights than the visitor has.
func TestConsole_TriesCallsWithTheVisitorsRights(t *testing.T) {
	t.Parallel()
	v := Visit(t, "ENABLE_SEND=true")
	Say(t, v.Ben, v.Owner.PN(), "Hello")
	v.WantStored(v.Ben, "Hello")
	made := Must(v.Bridge.API.CreateToken(Within(t), client.NewToken{Name: "reader", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{bridge.JID(v.Ben.PN().String())}}))(t)
	v.Open("/console/settings")
	v.Do(Clicks(".rail-end [action='/console/logout'] button"))
	v.LoggedOut()
	v.Do(chromedp.SendKeys(chromedp.CSS("#token"), made.Secret+"\r"), Loads(".chat-list"))
	v.Open("/console/api/sendText")
	v.Do(Clicks("#try [name=confirm]"), Clicks("#try button.primary"), Loads("#result .badge.bad"))
	if answer := v.Text("#result"); !strings.Contains(answer, "403 Forbidden") {
		t.Errorf("the answer is %s", answer)
	}
	v.WantNoFaults()
}
