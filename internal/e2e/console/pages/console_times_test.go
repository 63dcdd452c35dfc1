package pages

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
)

var filledStores = flag.String("stores", "", "measure the console's pages with the stores that go run ./bench --dir has filled here")

// TestConsole_PageTimes measures the pages of large stores: at the server, from the
// request to the last byte; in a browser, from opening the page to the first and the last
// large paint; and how large they are, alone and with all that they load.
func TestConsole_PageTimes(t *testing.T) {
	if *filledStores == "" {
		t.Skip("times are measured with -args -stores DIRECTORY, on a quiet machine")
	}
	stores, err := filepath.Glob(filepath.Join(*filledStores, "messages-*"))
	if err != nil || len(stores) == 0 {
		t.Fatalf("no stores: %v", err)
	}
	for _, dir := range stores {
		measureConsole(t, dir)
	}
}

func measureConsole(t *testing.T, dir string) {
	b := OpenBrowser(t, "http://127.0.0.1")
	p := StartBridge(t, NewNetwork(t), "DATA_DIR="+dir, "LOG_LEVEL=info", "RETENTION_DAYS=0", "EVENTS_MAX_AGE=0", "EVENTS_MAX_COUNT=0")
	b.At(p)
	b.Resize(1280, 800, false)
	page, err := p.API.Chats(t.Context(), bridge.ChatQuery{Limit: 2})
	if err != nil || len(page.Items) < 2 {
		t.Fatalf("fewer than two chats: %v", err)
	}
	const plain = "/healthz" // a line of text, to compare with
	chat, other := "/console/chats/"+page.Items[0].JID.Escaped(), "/console/chats/"+page.Items[1].JID.Escaped()
	pages := []struct{ name, path, from string }{
		{"a line of text", plain, plain + "?before"},
		{"overview", "/console/", plain},
		{"list of chats", "/console/chats", plain},
		{"chat, newest 50", chat, plain},
		{"a chat's files", chat + "/media", plain},
		{"search", "/console/search?q=the", plain},
		{"contacts", "/console/contacts", plain},
		{"new chat", "/console/new", plain},
		{"calls", "/console/calls", plain},
		{"events", "/console/events", plain},
		{"webhooks", "/console/webhooks", plain},
		{"API", "/console/api", plain},
		{"settings", "/console/settings", plain},
	}
	inPlace := chat + "?part=chat" // what the script loads
	pages = append(pages, struct{ name, path, from string }{"from chat to chat", inPlace, other})
	older := regexp.MustCompile(`href="([^"]+)" data-older`).FindStringSubmatch(pageText(t, p, chat))
	if older != nil {
		pages = append(pages, struct{ name, path, from string }{"chat, 50 older", strings.ReplaceAll(older[1], "&amp;", "&"), chat})
	}
	fmt.Printf("%s\n%-18s %9s %9s %15s %14s %9s %9s\n", filepath.Base(dir), "", "p50 ms", "p99 ms", "first paint ms", "last paint ms", "HTML KB", "all KB")
	browser := browserOf(t, p)
	for _, one := range pages {
		var times []time.Duration
		var size int
		for range 100 {
			began := time.Now()
			size = len(fetchPage(t, browser, p, one.path))
			times = append(times, time.Since(began))
		}
		var first, last []float64
		var seen painted
		for range 7 {
			if one.path == inPlace {
				seen = paintInPlace(b, other, chat)
				seen.HTML = float64(size)
			} else {
				seen = paint(b, one.from, one.path)
			}
			first, last = append(first, seen.First), append(last, seen.Last)
		}
		slices.Sort(times)
		slices.Sort(first)
		slices.Sort(last)
		fmt.Printf("%-18s %9.1f %9.1f %15.0f %14.0f %9.1f %9.1f\n", one.name, milliseconds(times[50]), milliseconds(times[98]), first[3], last[3], seen.HTML/1024, seen.All/1024)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// painted is how a page came: milliseconds from opening it to its first paint and to the
// last large one, and bytes as they are sent.
type painted struct{ First, Last, HTML, All float64 }

// paint opens a page from another one of the same site, as a browser does that has been here before.
func paint(b *Browser, from, to string) painted {
	b.T.Helper()
	b.Do(chromedp.Navigate(b.Base + from))
	Evaluate[bool](b, `new Promise(done => setTimeout(() => done(true), 300))`) // the first page is at rest
	Evaluate[string](b, `location.href = "`+to+`"`)
	b.WaitFor(`location.pathname + location.search === "` + to + `" && document.readyState === "complete"`)
	return Evaluate[painted](b, `new Promise(done => {
		let last = 0;
		new PerformanceObserver(list => { for (const one of list.getEntries()) last = Math.max(last, one.startTime); })
			.observe({ type: "largest-contentful-paint", buffered: true });
		const bytes = (kind) => performance.getEntriesByType(kind).reduce((sum, one) => sum + one.encodedBodySize, 0);
		const shown = () => ({ First: performance.getEntriesByName("first-contentful-paint")[0].startTime, Last: last, HTML: bytes("navigation"), All: bytes("navigation") + bytes("resource") });
		const wait = () => document.readyState === "complete" ? setTimeout(() => done(shown()), 300) : setTimeout(wait, 20);
		wait();
	})`)
}

// paintInPlace opens a chat from the list next to another one, which it replaces on its page. The time is from the click to
// the first paint of the chat's name; that of the newest message is the last one.
func paintInPlace(b *Browser, from, to string) (times painted) {
	b.T.Helper()
	b.Do(chromedp.Navigate(b.Base + from))
	Evaluate[bool](b, `new Promise(done => setTimeout(() => done(true), 300))`) // the chat is at rest
	at := Evaluate[[]float64](b, `new Promise(done => {
		const [{ pathname }, painted] = [new URL("`+to+`", location), {}];
		const asked = performance.now();
		new PerformanceObserver(list => {
			for (const one of list.getEntries()) painted[one.identifier] = one.renderTime - asked;
			if (painted.name && painted.newest) done([painted.name, painted.newest]);
		}).observe({ type: "element" });
		new MutationObserver((changes, observer) => {
			if (location.pathname !== pathname) return;
			observer.disconnect();
			document.querySelector(".chat-title h1").setAttribute("elementtiming", "name");
			[...document.querySelectorAll(".msg .text")].at(-1).setAttribute("elementtiming", "newest");
		}).observe(document.querySelector(".split"), { childList: true });
		[...document.querySelectorAll("#chats .chat-row")].find(one => one.pathname === pathname).click();
	})`)
	return painted{First: at[0], Last: at[1]}
}

// browserOf returns a logged-in client.
func browserOf(t *testing.T, p *Process) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	c := &http.Client{Jar: jar, Transport: transport}
	form := url.Values{"token": {TestToken}}
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(fetchPage(t, c, p, "/login"))
	if csrf == nil {
		t.Fatal("the login has no form")
	}
	form.Set("csrf", csrf[1])
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.Address+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("log in: %d, %v", resp.StatusCode, err)
	}
	return c
}

func fetchPage(t *testing.T, c *http.Client, p *Process, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return string(body)
}

// pageText returns the HTML of a page.
func pageText(t *testing.T, p *Process, path string) string {
	t.Helper()
	return fetchPage(t, browserOf(t, p), p, path)
}
