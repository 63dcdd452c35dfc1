package e2e

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
)

var filledStores = flag.String("stores", "", "measure the console's pages with the stores that go run ./bench --dir has filled here")

// TestConsole_PageTimes measures the pages of large stores: at the server, from the
// request to the last byte, and in a browser, from opening the page to the last
// large paint.
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
	b := openBrowser(t, "http://127.0.0.1")
	p := startBridge(t, newNetwork(t), "DATA_DIR="+dir, "LOG_LEVEL=info", "RETENTION_DAYS=0", "EVENTS_MAX_AGE=0", "EVENTS_MAX_COUNT=0")
	b.at(p)
	b.resize(1280, 800, false)
	page, err := p.api.Chats(t.Context(), bridge.ChatQuery{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		t.Fatalf("no chats: %v", err)
	}
	chat := "/console/chats/" + page.Items[0].JID.Escaped()
	pages := []struct{ name, path string }{
		{"overview", "/console/"}, {"list of chats", "/console/chats"}, {"chat, newest 50", chat}, {"events", "/console/events"},
	}
	older := regexp.MustCompile(`href="([^"]+)" data-older`).FindStringSubmatch(pageText(t, p, chat))
	if older != nil {
		pages = append(pages, struct{ name, path string }{"chat, 50 older", strings.ReplaceAll(older[1], "&amp;", "&")})
	}
	fmt.Printf("%s\n%-18s %9s %9s %12s\n", filepath.Base(dir), "", "p50 ms", "p99 ms", "paint p50 ms")
	browser := browserOf(t, p)
	for _, one := range pages {
		var times []time.Duration
		for range 100 {
			began := time.Now()
			fetchPage(t, browser, p, one.path)
			times = append(times, time.Since(began))
		}
		var paints []float64
		for range 7 {
			paints = append(paints, b.paint(one.path))
		}
		slices.Sort(times)
		slices.Sort(paints)
		fmt.Printf("%-18s %9.1f %9.1f %12.0f\n", one.name, milliseconds(times[50]), milliseconds(times[98]), paints[3])
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// paint opens a page and returns the milliseconds from the click to its last large
// paint.
func (b *browser) paint(path string) float64 {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"))
	b.do(chromedp.Navigate(b.base + path))
	return evaluate[float64](b, `new Promise(done => {
		let last = 0;
		new PerformanceObserver(list => { for (const one of list.getEntries()) last = Math.max(last, one.startTime); })
			.observe({ type: "largest-contentful-paint", buffered: true });
		const wait = () => document.readyState === "complete" ? setTimeout(() => done(last), 300) : setTimeout(wait, 20);
		wait();
	})`)
}

// browserOf returns a logged-in client.
func browserOf(t *testing.T, p *process) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	c := &http.Client{Jar: jar, Transport: transport}
	form := url.Values{"token": {testToken}}
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(fetchPage(t, c, p, "/login"))
	if csrf == nil {
		t.Fatal("the login has no form")
	}
	form.Set("csrf", csrf[1])
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.address+"/login", strings.NewReader(form.Encode()))
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

func fetchPage(t *testing.T, c *http.Client, p *process, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address+path, nil)
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
func pageText(t *testing.T, p *process, path string) string {
	t.Helper()
	return fetchPage(t, browserOf(t, p), p, path)
}
