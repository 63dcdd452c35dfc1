package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness"
)

// Browser is a tab of a real browser. It records the faults of pages: errors in the console, which include
// violations of the content security policy, dialogs, and requests to other sites.
type Browser struct {
	T    testing.TB
	ctx  context.Context
	Base string // the only origin that pages may load from

	Mu     sync.Mutex // guards faults
	Faults []string
}

// browserNames lists Chromium's names. The headless shell is first, because it needs half the time for a page.
var browserNames = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// chromium is the process that all tests share. Each test has its own window, cookies and storage.
var chromium struct {
	once sync.Once
	ctx  context.Context
	err  error
}

// openWindows limits the tests that use the browser at the same time. More would not be faster.
var openWindows = make(chan struct{}, 3)

// startChromium starts the browser. It returns exec.ErrNotFound if none is installed.
func startChromium() (context.Context, error) {
	chromium.once.Do(func() {
		var program string
		for _, name := range browserNames {
			if path, err := exec.LookPath(name); err == nil {
				program = path
				break
			}
		}
		if program == "" {
			chromium.err = exec.ErrNotFound
			return
		}
		dir, err := os.MkdirTemp("", "bridged-e2e-browser-*")
		if err != nil {
			chromium.err = err
			return
		}
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
			chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(dir),
			chromedp.DisableGPU, // drawing without GL takes less processor time
			chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true), // a microphone that beeps
			chromedp.Flag("blink-settings", "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"), // a mouse
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.*, EXCLUDE *localhost"),                               // a request to another site is an error
			chromedp.Flag("lang", "en-GB"), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
			chromedp.Env("HOME="+dir))
		allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, endTab := chromedp.NewContext(allocator)
		chromium.ctx = ctx
		AtEnd(func() error {
			err := chromedp.Cancel(ctx)
			endTab()
			endAllocator()
			return errors.Join(err, os.RemoveAll(dir))
		})
		chromium.err = chromedp.Do(ctx)
	})
	return chromium.ctx, chromium.err
}

// OpenBrowser opens a window. It skips the test if no browser is installed.
func OpenBrowser(t testing.TB, base string) *Browser {
	t.Helper()
	shared, err := startChromium()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no browser is installed: the console's pages are tried in Debian's chromium-headless-shell or chromium")
	}
	if err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	openWindows <- struct{}{}
	ctx, endWindow := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	b := &Browser{T: t, ctx: ctx, Base: strings.TrimSuffix(base, "/")}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("close the window: %v", err)
		}
		endWindow()
		<-openWindows
	})
	if err := chromedp.Listen(ctx, b.notice); err != nil {
		t.Fatalf("open a window: %v", err)
	}
	// chromedp has enabled the events of requests and of style sheets, which take a third of a page's processor time.
	CallBrowser(b, network.Disable, cdp.Empty{})
	CallBrowser(b, css.Disable, cdp.Empty{})
	CallBrowser(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return b
}

// CallBrowser calls a command of the browser's protocol.
func CallBrowser[P, R any](b *Browser, command cdp.Command[P, R], params P) R {
	b.T.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.T.Fatalf("in the browser: %v", err)
	}
	return result
}

// notice records a page's faults.
func (b *Browser) notice(event any) {
	var fault string
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			fault = fmt.Sprintf("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		fault = fmt.Sprintf("%s (%s, line %d)", e.ExceptionDetails.Text, e.ExceptionDetails.URL, e.ExceptionDetails.LineNumber+1)
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			fault += ": " + thrown.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			fault = fmt.Sprintf("console: %v", e.Args)
		}
	case *page.EventJavascriptDialogOpening:
		fault = fmt.Sprintf("a dialog (%s) at %s: %s", e.Type, e.URL, e.Message)
		go func() { // outside of the goroutine that delivers events
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}) // it is a fault already
		}()
	case *inspector.EventTargetCrashed:
		fault = "the page has crashed"
	case *page.EventFrameNavigated: // requests of the page that leave its origin are errors in the console
		if at := e.Frame.URL; at != b.Base && !strings.HasPrefix(at, b.Base+"/") && !strings.HasPrefix(at, "data:") && at != "about:blank" {
			fault = "a page of " + at
		}
	}
	if fault != "" {
		b.Mu.Lock()
		defer b.Mu.Unlock()
		b.Faults = append(b.Faults, fault)
	}
}

// WantNoFaults reports the recorded faults.
func (b *Browser) WantNoFaults() {
	b.T.Helper()
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for _, fault := range b.Faults {
		b.T.Error(fault)
	}
	b.Faults = nil
}

// FaultsOf removes the recorded answers with a status that the page expected.
func (b *Browser) FaultsOf(status int) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	kept := b.Faults[:0]
	for _, fault := range b.Faults {
		if !strings.Contains(fault, fmt.Sprintf("status of %d", status)) {
			kept = append(kept, fault)
		}
	}
	b.Faults = kept
}

// LoggedOut agrees to the question after a click on log out, and waits for the login page. The old page's stream
// may be refused before that, because the session ends first.
func (b *Browser) LoggedOut() {
	b.T.Helper()
	b.Do(Clicks("dialog.ask .danger"), Loads("#token"))
	b.FaultsOf(http.StatusUnauthorized)
}

// Do runs actions with the tests' time limit.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	for _, action := range actions {
		if _, err := inBrowser(b, action); err != nil {
			b.T.Fatalf("in the browser: %v\n%s", err, b.describe())
		}
	}
}

// inBrowser runs an action with the tests' time limit. It repeats an action whose element the page replaced,
// because the action had no effect.
func inBrowser[T any](b *Browser, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, TestTimeout)
	defer cancel()
	for {
		value, err := chromedp.Run(ctx, action)
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "ode with given id") {
			return value, err
		}
	}
}

// Got returns the value of an action.
func Got[T any](b *Browser, action chromedp.Action[T]) T {
	b.T.Helper()
	value, err := inBrowser(b, action)
	if err != nil {
		b.T.Fatalf("in the browser: %v\n%s", err, b.describe())
	}
	return value
}

// describe returns the page's faults, its address and text, for failures.
func (b *Browser) describe() string {
	text, err := inBrowser(b, chromedp.Evaluate[string]("location.href + '\\nthe focus: ' + document.activeElement?.cloneNode().outerHTML + '\\n' + document.body.innerText.slice(0, 2000)"))
	if err != nil {
		text = err.Error()
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return strings.Join(append(slices.Clone(b.Faults), text), "\n")
}

// Open loads a page and waits until it is ready.
func (b *Browser) Open(path string) {
	b.T.Helper()
	b.Do(chromedp.Navigate(b.Base+path), chromedp.WaitReady(chromedp.CSS("body")))
}

// Text returns the visible text of the first element that matches a selector.
func (b *Browser) Text(selector string) string {
	b.T.Helper()
	return Got(b, chromedp.Text(chromedp.CSS(selector)))
}

// WaitFor waits until a JavaScript expression is true.
func (b *Browser) WaitFor(expression string) {
	b.T.Helper()
	b.Do(Becomes(expression))
}

// Becomes waits until a JavaScript expression is true, in this page or in one that replaces it.
func Becomes(expression string) chromedp.Action[chromedp.Void] {
	poll := chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingTimeout(TestTimeout), chromedp.WithPollingInterval(20*time.Millisecond))
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := untilLoaded(poll)(ctx, t)
		return err
	})
}

// Loads waits until a page with an element that matches a selector is loaded. The page must allow scripts.
func Loads(selector string) chromedp.Action[chromedp.Void] {
	return Becomes(fmt.Sprintf(`document.readyState === "complete" && document.querySelector(%q)`, selector))
}

// Evaluate returns the value of a JavaScript expression, after awaiting its
// promises.
func Evaluate[T any](b *Browser, expression string) T {
	b.T.Helper()
	return Got(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Resize gives the window the size of a device. A narrow one is a phone, whose touch screen replaces the mouse.
func (b *Browser) Resize(width, height int64, dark bool) {
	b.T.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	CallBrowser(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600,
	})
	CallBrowser(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: width < 600, MaxTouchPoints: 1})
	CallBrowser(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// Picture saves a screenshot of the window.
func (b *Browser) Picture(file string) {
	b.T.Helper()
	if err := os.WriteFile(file, Got(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		b.T.Fatal(err)
	}
}
