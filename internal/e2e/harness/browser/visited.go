package browser

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Visited is a cast with the console of its bridge in a browser.
type Visited struct {
	*Cast
	*Browser
}

// Visit opens the console of a paired account, logged in.
func Visit(t *testing.T, settings ...string) Visited {
	t.Helper()
	b := OpenBrowser(t, "http://127.0.0.1")
	c := PairedCast(t, settings...)
	b.At(c.Bridge)
	return Visited{c, b}
}

// At logs in to the console of a bridge.
func (b *Browser) At(p *Process) {
	b.T.Helper()
	b.Mu.Lock()
	b.Base = "http://" + p.Address
	b.Mu.Unlock()
	b.LogIn()
}

// OpenChat opens the page of a chat.
func (v Visited) OpenChat(chat simnet.JID) {
	v.Browser.T.Helper()
	v.Open("/console/chats/" + bridge.JID(chat.String()).Escaped())
}

// WantText waits until the messages of the open chat contain a text.
func (b *Browser) WantText(text string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`document.querySelector("#messages").textContent.includes(%q)`, text))
}

// WantStored waits until the bridge shows a message.
func (v Visited) WantStored(from *simnet.Phone, text string) {
	t := v.Browser.T
	t.Helper()
	Eventually(t, func() error {
		found := v.Bridge.Get(Path("/api/messages/individual/%s", from.PN()))
		if !strings.Contains(string(found.Body), strings.Trim(fmt.Sprintf("%q", text), `"`)) {
			return fmt.Errorf("%q is not stored", text)
		}
		return nil
	})
}

// AtBothSizes runs a test in a window and on a phone, light and dark, each with a bridge.
func AtBothSizes(t *testing.T, test func(t *testing.T, v Visited)) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			v := Visit(t)
			v.Resize(width, 844, width < 600)
			test(t, v)
			v.WantNoFaults()
		})
	}
}

// Subtest runs a subtest with the same bridge in the same window, which is 1280 pixels wide and light. What other subtests have
// changed in the account is there, but Anna, Ben and Carla are other people of these names, and the browser's storage is empty.
func (v Visited) Subtest(t *testing.T, name string, test func(t *testing.T, v Visited)) {
	v.subtest(t, name, 1280, test)
}

// SubtestAtBothSizes is [Visited.Subtest] in the window and on a phone, light and dark.
func (v Visited) SubtestAtBothSizes(t *testing.T, name string, test func(t *testing.T, v Visited)) {
	t.Run(name, func(t *testing.T) {
		for _, width := range []int64{1280, 390} {
			v.subtest(t, strconv.FormatInt(width, 10), width, test)
		}
	})
}

func (v Visited) subtest(t *testing.T, name string, width int64, test func(t *testing.T, v Visited)) {
	t.Run(name, func(t *testing.T) {
		b, outer := v.Browser, v.Browser.T
		b.T = t
		defer func() { b.T = outer }()
		defer b.WantNoFaults()
		v.Cast = v.WithOthers(t)
		v.Resize(width, 844, width < 600)
		if Evaluate[string](b, "location.origin") == b.Base { // an empty window has no storage
			v.Run(`localStorage.clear(); sessionStorage.clear()`)
		}
		test(t, v)
	})
}

// WantOnPage waits until the page shows a text.
func (b *Browser) WantOnPage(text string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`document.querySelector("main")?.innerText.includes(%q)`, text))
}

// Fill replaces the text of a field by typing.
func (b *Browser) Fill(selector, text string) {
	b.T.Helper()
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Paste replaces the text of a field at once. Long texts take a tenth of the time of keys.
func (b *Browser) Paste(selector, text string) {
	b.T.Helper()
	b.Do(chromedp.Focus(chromedp.CSS(selector)), Does(fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)))
	CallBrowser(b, input.InsertText, input.InsertTextParams{Text: text})
}

// Arrives waits until a page with an element that matches a selector is loaded.
func (b *Browser) Arrives(selector string) {
	b.T.Helper()
	b.Do(Loads(selector))
}

// Chats opens the chat with Ben, who has written.
func (v Visited) Chats() {
	v.Browser.T.Helper()
	Say(v.Browser.T, v.Ben, v.Owner.PN(), "Are you there?")
	v.WantStored(v.Ben, "Are you there?")
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.readyState === "complete"`)
}

// Write writes a text into the composer, and sends it by the button.
func (b *Browser) Write(text string) {
	b.T.Helper()
	b.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), text), Clicks("[data-say]"))
}

// HoldUploads opens pages through a proxy that passes only the beginning of large bodies, so that an upload is
// never complete. Files must be larger than the buffers of a connection, such as 20 MB.
func (b *Browser) HoldUploads() {
	b.T.Helper()
	const beginning = 64 << 10
	to := Must(url.Parse(b.Base))(b.T)
	ctx, end := context.WithCancel(context.Background())
	proxy := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		if r.In.ContentLength > beginning {
			r.Out.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(r.In.Body, beginning), stalled{ctx}), r.In.Body}
		}
	}, ErrorLog: stdlog.New(io.Discard, "", 0)})
	proxy.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = conn.(*net.TCPConn).SetReadBuffer(beginning)
		}
	}
	proxy.Start()
	b.T.Cleanup(func() {
		end()
		proxy.CloseClientConnections() // of streams of events
		proxy.Close()
	})
	b.setBase(proxy.URL)
	b.LogIn()
}

// stalled is a reader that has nothing to read until its context ends.
type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// WantOwn waits until the chat shows exactly these own texts, all of them sent and stored.
func (b *Browser) WantOwn(texts ...string) {
	b.T.Helper()
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = JsString(text)
	}
	b.WaitFor(`document.querySelectorAll(".unsent").length === 0 && (() => {
		const want = [` + strings.Join(list, ",") + `];
		const own = [...document.querySelectorAll(".msg.out:not([hidden]) .text")].map(one => one.firstChild.textContent);
		return own.length === want.length && own.every((text, i) => text.startsWith(want[i]));
	})()`)
}
