package operations

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness"
	"bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// watched is a bridge whose requests pass through a proxy that compares their cookies with those that
// the bridge has set.
type watched struct {
	*Process
	name  string
	front *httptest.Server

	mu      sync.Mutex
	own     []string // the cookies that it has set, as name=value
	foreign []string // the cookies that it received and did not set
}

// watch starts a bridge with a token of its own below /a/name.
func watch(t *testing.T, network *simnet.Network, name string, settings ...string) *watched {
	t.Helper()
	w := &watched{name: name}
	w.Process = StartBridge(t, network, append(settings, "BRIDGE_TOKEN="+w.token(), "BASE_PATH=/a/"+name)...)
	to := Must(url.Parse("http://" + w.Address))(t)
	w.front = httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			w.received(r.In.Cookies())
		},
		ModifyResponse: func(r *http.Response) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, cookie := range r.Cookies() {
				w.own = append(w.own, cookie.Name+"="+cookie.Value)
			}
			return nil
		},
	})
	t.Cleanup(w.stop)
	return w
}

func (w *watched) token() string { return "the-token-of-the-account-" + w.name }

// received notes the cookies of a request.
func (w *watched) received(cookies []*http.Cookie) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, cookie := range cookies {
		if pair := cookie.Name + "=" + cookie.Value; !slices.Contains(w.own, pair) {
			w.foreign = append(w.foreign, pair)
		}
	}
}

// stop closes the address that Caddy knows, with streams of events that are under way.
func (w *watched) stop() {
	_ = w.front.Config.Close() // the listener may be closed already
	w.front.Close()
}

// address returns the host and port that Caddy knows.
func (w *watched) address() string { return strings.TrimPrefix(w.front.URL, "http://") }

// Three accounts at one address, as deploy/accounts has them: each console shows the state of all that
// the browser may see, and no bridge ever receives the session of another one.
func TestProxies_Accounts(t *testing.T) {
	t.Parallel()
	program(t, "caddy")
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	const list = "ACCOUNTS=Anna=/a/anna,Shop=/a/shop,Desk=/a/desk,Berlin=https://berlin.example.com"
	anna, shop, desk := watch(t, network, "anna", list), watch(t, network, "shop", list), watch(t, network, "desk", list)
	Pair(t, anna.Process, owner)
	port := FreePort(t)
	_, said := startCaddy(t, "accounts/Caddyfile", "HOME_NAME=http://127.0.0.1:"+port, "ANNA="+anna.address(), "SHOP="+shop.address(), "DESK="+desk.address())
	address := "http://127.0.0.1:" + port
	Eventually(t, func() error {
		resp, err := http.Get(address + "/a/anna/healthz")
		if err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
		return resp.Body.Close()
	})

	b := browser.OpenBrowser(t, address) // it closes first: Caddy waits for its streams of events
	b.Resize(1280, 900, false)
	b.Open("/") // leads to the first account
	b.WaitFor(`location.pathname === "/a/anna/login"`)
	logInTo(b, anna)
	wantStates(b, "Anna", "Connected", "Not logged in", "Not logged in", "berlin.example.com")
	choose(b, "Shop")
	b.WaitFor(`location.pathname === "/a/shop/login"`)
	logInTo(b, shop)
	wantStates(b, "Shop", "Connected", "Not linked", "Not logged in", "berlin.example.com")
	b.WaitFor(`!document.querySelector(".account i[data-account-alert]:not([hidden])")`) // its own state is in the page

	desk.Kill()
	desk.stop()
	choose(b, "Anna") // the session is still there
	b.Do(browser.Loads(".rail"))
	wantStates(b, "Anna", "Connected", "Not linked", "Can’t be reached", "berlin.example.com")
	b.WaitFor(`document.querySelector(".account i[data-account-alert]:not([hidden])")`)
	b.FaultsOf(http.StatusBadGateway)
	b.WantNoFaults()

	b.Open("/a/shop/console/settings")
	b.Do(browser.Clicks("main [action='/a/shop/console/logout'] button"))
	b.LoggedOut()
	b.Open("/a/anna/console/settings")
	wantStates(b, "Anna", "Connected", "Not logged in", "Can’t be reached", "berlin.example.com")
	b.FaultsOf(http.StatusBadGateway)
	b.WantNoFaults()
	for _, w := range []*watched{anna, shop, desk} {
		w.mu.Lock()
		if len(w.foreign) > 0 || w != desk && len(w.own) == 0 {
			t.Errorf("%s received the cookies %q of others; it has set %d", w.name, w.foreign, len(w.own))
		}
		w.mu.Unlock()
		for _, other := range []*watched{anna, shop, desk} {
			if other != w && strings.Contains(w.Log.String(), other.token()) {
				t.Errorf("the log of %s has the token of %s", w.name, other.name)
			}
		}
	}
}

// logInTo logs in at the form that is open.
func logInTo(b *browser.Browser, w *watched) {
	b.T.Helper()
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), w.token()+"\r"), browser.Loads(".rail"))
}

// wantStates opens the switch and waits for the account that it shows as this one and for the states of
// all.
func wantStates(b *browser.Browser, own string, states ...string) {
	b.T.Helper()
	b.Do(browser.Clicks(".account"))
	b.WaitFor(`document.querySelector("#accounts:popover-open")`)
	b.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("#accounts [data-account-state]")].map(e => e.textContent).join("|") === %s`, JsString(strings.Join(states, "|"))))
	b.WaitFor(fmt.Sprintf(`document.querySelector("#accounts [aria-current] bdi").textContent === %s`, JsString(own)))
}

// choose follows the link to an account in the open switch.
func choose(b *browser.Browser, name string) {
	b.T.Helper()
	b.ClickIt(fmt.Sprintf(`[...document.querySelectorAll("#accounts a")].find(a => a.querySelector("bdi").textContent === %s)`, JsString(name)))
}
