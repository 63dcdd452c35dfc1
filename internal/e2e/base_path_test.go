package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
)

// panel is a page of Home Assistant that shows an add-on: a frame of the same origin.
const panel = `<!DOCTYPE html><title>panel</title><link rel="icon" href="data:,"><iframe src="/bridged/console/" style="width:100%;height:90vh"></iframe>`

// behindProxy returns p as callers reach it through a reverse proxy, below /bridged. A proxy
// that strips the path takes it off before it asks.
func behindProxy(t *testing.T, p *process, strips bool) *process {
	t.Helper()
	to := must(url.Parse("http://" + p.address))(t)
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
		if strips {
			r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.Path, "/bridged"), strings.TrimPrefix(r.Out.URL.RawPath, "/bridged")
		}
	}}
	mux := http.NewServeMux()
	mux.Handle("/bridged/", proxy)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, panel)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return p.behind(t, strings.TrimPrefix(server.URL, "http://"))
}

// behind returns p as callers reach it below /bridged at a proxy.
func (p *process) behind(t *testing.T, proxy string) *process {
	t.Helper()
	behind := *p
	behind.address = proxy + "/bridged"
	behind.api = client.New("http://"+behind.address, p.env["BRIDGE_TOKEN"])
	t.Cleanup(behind.api.Close)
	return &behind
}

// Below BASE_PATH everything works behind a reverse proxy that strips the path and behind one
// that does not: the console in a browser, whose requests all stay below it, calls, streams,
// hooks, doors and agents. Commands on the same machine do without it.
func TestBasePath_BehindReverseProxies(t *testing.T) {
	t.Parallel()
	s := newDoorScene(t, "BASE_PATH=/bridged", "COMPAT=cloud,waha", "MCP=read")
	direct := *s.process
	direct.isAlive(t)
	for name, strips := range map[string]bool{"kept": false, "stripped": true} {
		t.Run(name, func(t *testing.T) {
			through := s
			through.process = behindProxy(t, &direct, strips)
			through.everything(t)
			b := through.console(t)
			b.at(through.process)
			b.mu.Lock() // the panel is beside the path
			b.base = strings.TrimSuffix(b.base, "/bridged")
			b.mu.Unlock()
			b.open("/")
			b.waitFor(`frames[0]?.document.querySelector(".rail")`)
			b.wantNoFaults()
		})
	}
}

// everything tries what is not in a browser.
func (s doorScene) everything(t *testing.T) {
	t.Helper()
	s.callsAndStreams(t)
	s.hook(t)
	s.doors(t)
	for way, agent := range map[string]agent{
		"over HTTP": must(s.connect(t, s.full, nil))(t), "by bridged mcp": must(s.relay(t, withoutSessions, s.full, nil))(t),
	} {
		if len(agent.tools()) == 0 {
			t.Errorf("agents find no tools %s", way)
		}
	}
}

// isAlive runs the check of containers.
func (p *process) isAlive(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("bridged", "healthcheck", "--address", "http://"+p.address).CombinedOutput(); err != nil {
		t.Errorf("bridged healthcheck: %v\n%s", err, out)
	}
}

// callsAndStreams calls the API, and follows its events while a message comes in.
func (s doorScene) callsAndStreams(t *testing.T) {
	t.Helper()
	s.isAlive(t)
	var document struct{ Servers []struct{ URL string } }
	if err := s.api.Call(within(t), http.MethodGet, "/openapi.json", nil, &document); err != nil || len(document.Servers) != 1 || document.Servers[0].URL != "/bridged" {
		t.Errorf("the document names the servers %v, %v", document.Servers, err)
	}
	last := must(s.api.LastEvent(within(t)))(t)
	say(t, s.friend, s.owner.PN(), "through the proxy")
	for event, err := range s.api.Events(within(t), client.EventQuery{After: last, Types: []bridge.EventType{bridge.EventMessageCreated}}) {
		if err != nil {
			t.Fatal(err)
		}
		if text := string(must(json.Marshal(event))(t)); !strings.Contains(text, "through the proxy") {
			t.Errorf("the stream has %s", text)
		}
		return
	}
	t.Error("the stream ended")
}

// hook posts to the address of a hook, as a service does.
func (s doorScene) hook(t *testing.T) {
	t.Helper()
	name, chat, template := "alarm", s.friend.PN().String(), "{{.payload.text}}"
	made := must(s.api.CreateHook(within(t), client.HookChange{Name: &name, ChatJID: &chat, Template: &template}))(t)
	s.secrets = append(s.secrets, made.Path[strings.Index(made.Path, ".")+1:])
	if !strings.HasPrefix(made.URL, "http://"+s.address+"/hooks/") {
		t.Fatalf("the hook is at %s", made.URL)
	}
	text := "posted to " + s.address
	resp := must(http.Post(made.URL, "application/json", strings.NewReader(`{"text":"`+text+`"}`)))(t)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the hook answers %d", resp.StatusCode)
	}
	must(s.friend.ReceivedText(within(t), text))(t)
}

// doors uploads a file to the Cloud door and fetches it from the address that the door names.
func (s doorScene) doors(t *testing.T) {
	t.Helper()
	picture := demo.Picture(20, 20)
	id := s.uploadTo(t, "a.png", picture)
	_, answer := s.ask(t, doorRequest{"GET", s.address + "/cloud/v21.0/" + id, bearer(s.full), ""})
	address, _ := at(answer, "url").(string)
	if !strings.HasPrefix(address, "http://"+s.address+"/cloud/") {
		t.Fatalf("the file is at %v", answer)
	}
	req := must(http.NewRequestWithContext(within(t), http.MethodGet, address, nil))(t)
	req.Header.Set("Authorization", "Bearer "+s.full)
	resp := must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	if got := must(io.ReadAll(resp.Body))(t); resp.StatusCode != http.StatusOK || len(got) == 0 {
		t.Errorf("the file: %d, %d bytes", resp.StatusCode, len(got))
	}
}

// console uses the pages in a browser: none asks for anything outside the path.
func (s doorScene) console(t *testing.T) *browser {
	t.Helper()
	b := openBrowser(t, "http://"+s.address)
	b.resize(1280, 900, false)
	b.at(s.process)
	b.open("/console/chats/" + bridge.JID(s.friend.PN().String()).Escaped())
	b.wantText("through the proxy")
	text := "written at " + s.address
	b.write(text)
	must(s.friend.ReceivedText(within(t), text))(t)
	say(t, s.friend, s.owner.PN(), "answered at "+s.address)
	b.wantText("answered at " + s.address) // over the stream of events
	for _, page := range []string{"", "search?q=proxy", "contacts", "new", "hooks", "webhooks", "tokens", "settings", "api", "api/sendText", "events", "calls"} {
		b.open("/console/" + page)
		b.waitFor(`document.readyState === "complete"`)
		if outside := evaluate[[]string](b, `[...document.querySelectorAll("*")].flatMap(e => [...e.attributes]).filter(a => a.name !== "value" && /^\/(console|login|openapi)/.test(a.value)).map(a => a.name + "=" + a.value)`); len(outside) > 0 {
			t.Errorf("%s leads out of the path: %q", page, outside)
		}
	}
	b.do(chromedp.Navigate("http://"+s.address+"/console?x"), loads(".rail"))
	b.open("/console/settings")
	b.wantNoFaults()
	b.do(chromedp.Click(chromedp.CSS("main [action='/bridged/console/logout'] button")))
	b.loggedOut()
	if at := evaluate[string](b, "location.pathname"); at != "/bridged/login" {
		t.Errorf("after the logout the page is %s", at)
	}
	b.wantNoFaults()
	return b
}
