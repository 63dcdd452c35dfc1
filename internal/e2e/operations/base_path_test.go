package operations

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
	. "bridged/internal/e2e/harness/browser"
)

// panel is a page of Home Assistant that shows an add-on: a frame of the same origin.
const panel = `<!DOCTYPE html><title>panel</title><link rel="icon" href="data:,"><iframe src="/bridged/console/" style="width:100%;height:90vh"></iframe>`

// behindProxy returns p as callers reach it through a reverse proxy, below /bridged. A proxy
// that strips the path takes it off before it asks.
func behindProxy(t *testing.T, p *Process, strips bool) *Process {
	t.Helper()
	to := Must(url.Parse("http://" + p.Address))(t)
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
	return behind(p, t, strings.TrimPrefix(server.URL, "http://"))
}

// behind returns p as callers reach it below /bridged at a proxy.
func behind(p *Process, t *testing.T, proxy string) *Process {
	t.Helper()
	behind := *p
	behind.Address = proxy + "/bridged"
	behind.API = client.New("http://"+behind.Address, p.Env["BRIDGE_TOKEN"])
	t.Cleanup(behind.API.Close)
	return &behind
}

// Below BASE_PATH everything works behind a reverse proxy that strips the path and behind one
// that does not: the console in a browser, whose requests all stay below it, calls, streams,
// incoming webhooks, compatibility APIs and agents. Commands on the same machine do without it.
func TestBasePath_BehindReverseProxies(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t, "BASE_PATH=/bridged", "COMPAT=cloud,waha", "MCP=read")
	direct := *s.Process
	isAlive(&direct, t)
	t.Run("stripped", func(t *testing.T) {
		through := s
		through.Process = behindProxy(t, &direct, true)
		everything(through, t)
		logsOut(t, console(through, t))
	})
	t.Run("kept", func(t *testing.T) {
		through := s
		through.Process = behindProxy(t, &direct, false)
		everything(through, t)
		b := console(through, t)
		staysBelow(t, b)
		logsOut(t, b)
		b.At(through.Process)
		b.Mu.Lock() // the panel is beside the path
		b.Base = strings.TrimSuffix(b.Base, "/bridged")
		b.Mu.Unlock()
		b.Open("/")
		b.WaitFor(`frames[0]?.document.querySelector(".rail")`)
		b.WantNoFaults()
	})
	t.Run("Caddy", func(t *testing.T) { behindCaddy(t, s) })
}

// everything tries what is not in a browser.
func everything(s CompatScene, t *testing.T) {
	t.Helper()
	callsAndStreams(s, t)
	hook(s, t)
	uploads(s, t)
	for way, agent := range map[string]Agent{
		"over HTTP": Must(Connect(s.Process, t, s.Full, nil))(t), "by bridged mcp": Must(Relay(s.Process, t, WithoutSessions, s.Full, nil))(t),
	} {
		if len(agent.Tools()) == 0 {
			t.Errorf("agents find no tools %s", way)
		}
	}
}

// isAlive runs the check of containers.
func isAlive(p *Process, t *testing.T) {
	t.Helper()
	if out, err := Bridged("healthcheck", "--address", "http://"+p.Address).CombinedOutput(); err != nil {
		t.Errorf("bridged healthcheck: %v\n%s", err, out)
	}
}

// callsAndStreams calls the API, and follows its events while a message comes in.
func callsAndStreams(s CompatScene, t *testing.T) {
	t.Helper()
	isAlive(s.Process, t)
	var document struct{ Servers []struct{ URL string } }
	if err := s.API.Call(Within(t), http.MethodGet, "/openapi.json", nil, &document); err != nil || len(document.Servers) != 1 || document.Servers[0].URL != "/bridged" {
		t.Errorf("the document names the servers %v, %v", document.Servers, err)
	}
	last := Must(s.API.LastEvent(Within(t)))(t)
	Say(t, s.Friend, s.Owner.PN(), "through the proxy")
	for event, err := range s.API.Events(Within(t), client.EventQuery{After: last, Types: []bridge.EventType{bridge.EventMessageCreated}}) {
		if err != nil {
			t.Fatal(err)
		}
		if text := string(Must(json.Marshal(event))(t)); !strings.Contains(text, "through the proxy") {
			t.Errorf("the stream has %s", text)
		}
		return
	}
	t.Error("the stream ended")
}

// hook posts to the address of a hook, as a service does.
func hook(s CompatScene, t *testing.T) {
	t.Helper()
	name, chat, template := "alarm", s.Friend.PN().String(), "{{.payload.text}}"
	made := Must(s.API.CreateHook(Within(t), client.HookChange{Name: &name, ChatJID: &chat, Template: &template}))(t)
	s.Secrets = append(s.Secrets, made.Path[strings.Index(made.Path, ".")+1:])
	if !strings.HasPrefix(made.URL, "http://"+s.Address+"/hooks/") {
		t.Fatalf("the hook is at %s", made.URL)
	}
	text := "posted to " + s.Address
	resp := Must(http.Post(made.URL, "application/json", strings.NewReader(`{"text":"`+text+`"}`)))(t)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the hook answers %d", resp.StatusCode)
	}
	Must(s.Friend.ReceivedText(Within(t), text))(t)
}

// uploads sends a file to the API for clients of the Cloud API and fetches it from the address in the answer.
func uploads(s CompatScene, t *testing.T) {
	t.Helper()
	picture := demo.Picture(20, 20)
	id := s.UploadTo(t, "a.png", picture)
	_, answer := s.Ask(t, CompatRequest{Method: "GET", Address: s.Address + "/cloud/v21.0/" + id, Header: Bearer(s.Full), Body: ""})
	address, _ := At(answer, "url").(string)
	if !strings.HasPrefix(address, "http://"+s.Address+"/cloud/") {
		t.Fatalf("the file is at %v", answer)
	}
	req := Must(http.NewRequestWithContext(Within(t), http.MethodGet, address, nil))(t)
	req.Header.Set("Authorization", "Bearer "+s.Full)
	resp := Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	if got := Must(io.ReadAll(resp.Body))(t); resp.StatusCode != http.StatusOK || len(got) == 0 {
		t.Errorf("the file: %d, %d bytes", resp.StatusCode, len(got))
	}
}

// console writes and reads in a browser.
func console(s CompatScene, t *testing.T) *Browser {
	t.Helper()
	b := OpenBrowser(t, "http://"+s.Address)
	b.Resize(1280, 900, false)
	b.At(s.Process)
	b.Open("/console/chats/" + bridge.JID(s.Friend.PN().String()).Escaped())
	b.WantText("through the proxy")
	text := "written at " + s.Address
	b.Write(text)
	Must(s.Friend.ReceivedText(Within(t), text))(t)
	Say(t, s.Friend, s.Owner.PN(), "answered at "+s.Address)
	b.WantText("answered at " + s.Address) // over the stream of events
	b.WantNoFaults()
	return b
}

// staysBelow opens the console's pages: none leads out of the path.
func staysBelow(t *testing.T, b *Browser) {
	t.Helper()
	for _, page := range []string{"", "search?q=proxy", "contacts", "new", "hooks", "webhooks", "tokens", "settings", "api", "api/sendText", "events", "calls"} {
		b.Open("/console/" + page)
		b.WaitFor(`document.readyState === "complete"`)
		if outside := Evaluate[[]string](b, `[...document.querySelectorAll("*")].flatMap(e => [...e.attributes]).filter(a => a.name !== "value" && /^\/(console|login|openapi)/.test(a.value)).map(a => a.name + "=" + a.value)`); len(outside) > 0 {
			t.Errorf("%s leads out of the path: %q", page, outside)
		}
	}
	b.WantNoFaults()
}

// logsOut logs out, and expects the login page below the path.
func logsOut(t *testing.T, b *Browser) {
	t.Helper()
	b.Open("/console?x")
	b.Do(Loads(".rail"))
	b.Open("/console/settings")
	b.Do(Clicks("main [action='/bridged/console/logout'] button"))
	b.LoggedOut()
	if at := Evaluate[string](b, "location.pathname"); at != "/bridged/login" {
		t.Errorf("after the logout the page is %s", at)
	}
	b.WantNoFaults()
}
