package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

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

// browserNames lists Chromium's names.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// openBrowser opens a tab. It skips the test if no browser is installed.
func openBrowser(t testing.TB, base string) *browser {
	t.Helper()
	var program string
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no browser is installed: the console's pages are tried in Debian's chromium")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true), // a microphone that beeps
		chromedp.Flag("lang", "en-GB"), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
		chromedp.Env("HOME="+t.TempDir()))
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endTab := chromedp.NewContext(allocator, chromedp.WithErrorf(t.Logf))
	b := &browser{t: t, ctx: ctx, base: strings.TrimSuffix(base, "/")}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("close the browser: %v", err)
		}
		endTab()
		endAllocator()
	})
	if err := chromedp.Listen(ctx, b.notice); err != nil {
		t.Fatalf("open a browser: %v", err)
	}
	for _, enable := range []cdp.Command[cdp.Empty, cdp.Empty]{log.Enable, runtime.Enable} {
		if _, err := chromedp.Call(ctx, enable, cdp.Empty{}); err != nil {
			t.Fatal(err)
		}
	}
	callBrowser(b, network.Enable, network.EnableParams{})
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

// do runs actions with the tests' time limit.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, action := range actions {
		_, err := inBrowser(b, action)
		for tries := 0; err != nil && isGone(err) && tries < 5; tries++ {
			_, err = inBrowser(b, action)
		}
		if err != nil {
			b.t.Fatalf("in the browser: %v\n%s", err, b.describe())
		}
	}
}

// isGone reports whether an action found an element that the page has renewed before it
// was acted on.
func isGone(err error) bool {
	return strings.Contains(err.Error(), "ode with given id")
}

// inBrowser runs an action with the tests' time limit.
func inBrowser[T any](b *browser, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, testPatience)
	defer cancel()
	return chromedp.Run(ctx, action)
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
	for {
		_, err := inBrowser(b, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingTimeout(testPatience)))
		switch {
		case err == nil:
			return
		case !strings.Contains(err.Error(), "Cannot find context") && !strings.Contains(err.Error(), "navigated or closed"):
			b.t.Fatalf("in the browser: %v\n%s", err, b.describe())
		}
	} // the page was left: the next one is waited for
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
