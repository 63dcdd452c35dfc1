package e2e

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
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a tab of a real browser. It records everything that a page must never
// do: errors in its console, including violations of its policy, and requests to
// other sites.
type browser struct {
	t    testing.TB
	ctx  context.Context
	base string // the only origin that pages may load from

	mu     sync.Mutex // guards faults
	faults []string
}

// browserNames lists Chromium's names. Its headless shell is first: a page costs it half as
// much.
var browserNames = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// chromium is the browser of all tests: they share its process, and each has its own
// window, cookies and storage. It starts with the first test that needs it.
var chromium struct {
	once sync.Once
	ctx  context.Context
	end  func() error // nil as long as it has not been started
	err  error
}

// openWindows bounds how many tests act in the browser at once: more only wait for each
// other's pages.
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
			chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true), // a microphone that beeps
			chromedp.Flag("lang", "en-GB"), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
			chromedp.Env("HOME="+dir))
		allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, endTab := chromedp.NewContext(allocator)
		chromium.ctx = ctx
		chromium.end = func() error {
			err := chromedp.Cancel(ctx)
			endTab()
			endAllocator()
			return errors.Join(err, os.RemoveAll(dir))
		}
		chromium.err = chromedp.Do(ctx)
	})
	return chromium.ctx, chromium.err
}

// stopChromium stops the browser if a test has started it.
func stopChromium() error {
	if chromium.end == nil {
		return nil
	}
	return chromium.end()
}

// openBrowser opens a window. It skips the test if no browser is installed.
func openBrowser(t testing.TB, base string) *browser {
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
	b := &browser{t: t, ctx: ctx, base: strings.TrimSuffix(base, "/")}
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
	for _, enable := range []cdp.Command[cdp.Empty, cdp.Empty]{log.Enable, runtime.Enable} {
		if _, err := chromedp.Call(ctx, enable, cdp.Empty{}); err != nil {
			t.Fatal(err)
		}
	}
	callBrowser(b, network.Enable, network.EnableParams{})
	callBrowser(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return b
}

// callBrowser calls a command of the browser's protocol.
func callBrowser[P, R any](b *browser, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatalf("in the browser: %v", err)
	}
	return result
}

// notice records a page's faults.
func (b *browser) notice(event any) {
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
	case *network.EventRequestWillBeSent:
		at := e.Request.URL
		if at != b.base && !strings.HasPrefix(at, b.base+"/") && !strings.HasPrefix(at, "data:") && at != "about:blank" {
			fault = "a request to " + at
		}
	}
	if fault != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.faults = append(b.faults, fault)
	}
}

// wantNoFaults reports the recorded faults.
func (b *browser) wantNoFaults() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Error(fault)
	}
	b.faults = nil
}

// faultsOf forgets that the browser reported answers of a status, which the page expected.
func (b *browser) faultsOf(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.faults[:0]
	for _, fault := range b.faults {
		if !strings.Contains(fault, fmt.Sprintf("status of %d", status)) {
			kept = append(kept, fault)
		}
	}
	b.faults = kept
}

// loggedOut waits for the login after a click on the way out. The session ends before its page
// is gone, whose stream may be refused in between.
func (b *browser) loggedOut() {
	b.t.Helper()
	b.do(loads("#token"))
	b.faultsOf(http.StatusUnauthorized)
}

// do runs actions with the tests' time limit.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, action := range actions {
		if _, err := inBrowser(b, action); err != nil {
			b.t.Fatalf("in the browser: %v\n%s", err, b.describe())
		}
	}
}

// inBrowser runs an action with the tests' time limit. An action that found an element
// which the page renewed before it was acted on is run again: it did nothing.
func inBrowser[T any](b *browser, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, testPatience)
	defer cancel()
	for {
		value, err := chromedp.Run(ctx, action)
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "ode with given id") {
			return value, err
		}
	}
}

// got returns the value of an action.
func got[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	value, err := inBrowser(b, action)
	if err != nil {
		b.t.Fatalf("in the browser: %v\n%s", err, b.describe())
	}
	return value
}

// describe returns the browser's address and text, for failures.
func (b *browser) describe() string {
	text, err := inBrowser(b, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText.slice(0, 2000)"))
	if err != nil {
		return err.Error()
	}
	return text
}

// open loads a page and waits until it is ready.
func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base+path), chromedp.WaitReady(chromedp.CSS("body")))
}

// text returns the visible text of the first element that matches a selector.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return got(b, chromedp.Text(chromedp.CSS(selector)))
}

// waitFor waits until a JavaScript expression is true.
func (b *browser) waitFor(expression string) {
	b.t.Helper()
	b.do(becomes(expression))
}

// becomes waits until a JavaScript expression is true, also in the next page if this one
// is left meanwhile.
func becomes(expression string) chromedp.Action[chromedp.Void] {
	poll := chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingTimeout(testPatience), chromedp.WithPollingInterval(20*time.Millisecond))
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for {
			_, err := poll(ctx, t)
			if err == nil || !strings.Contains(err.Error(), "Cannot find context") && !strings.Contains(err.Error(), "navigated or closed") {
				return err
			}
		}
	})
}

// loads waits until a page is loaded that has what a selector finds. It needs a page
// whose scripts may run.
func loads(selector string) chromedp.Action[chromedp.Void] {
	return becomes(fmt.Sprintf(`document.readyState === "complete" && document.querySelector(%q)`, selector))
}

// evaluate returns the value of a JavaScript expression, after awaiting its
// promises.
func evaluate[T any](b *browser, expression string) T {
	b.t.Helper()
	return got(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// resize gives the window the size of a device.
func (b *browser) resize(width, height int64, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	callBrowser(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600,
	})
	callBrowser(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// picture saves a screenshot of the window.
func (b *browser) picture(file string) {
	b.t.Helper()
	if err := os.WriteFile(file, got(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		b.t.Fatal(err)
	}
}
