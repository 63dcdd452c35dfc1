package console_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/console"
)

const grace = "15550100301@s.whatsapp.net"

// apiCall is a call that the API received.
type apiCall struct {
	path   string
	header http.Header
	body   string
	method string
}

// overAPI returns a console over answers by path, and the calls that it makes.
func overAPI(t *testing.T, answers map[string]http.HandlerFunc, change ...func(*console.Options)) (*site, *[]apiCall) {
	t.Helper()
	var all []apiCall
	var s *site
	s = newSite(t, func(o *console.Options) {
		o.EnableSend = true
		for _, c := range change {
			c(o)
		}
		o.API = bearing(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			all = append(all, apiCall{r.URL.Path, r.Header, string(body), r.Method})
			path := r.URL.Path
			if strings.Contains(path, "/messages") && r.URL.Query().Has("pinned") {
				path += "?pinned"
			}
			if answer := answers[path]; answer != nil {
				answer(w, r)
				return
			}
			s.api(w, r)
		})
	})
	return s, &all
}

func replies(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func TestSend_RetainsItsKey(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{"/api/messages/send": replies(`{"ok":true,"msgId":"M1","chatJid":"` + grace + `"}`)})
	form := url.Values{"csrf": {s.logIn().csrf()}, "kind": {"text"}, "key": {"key-1"}, "reply": {"Q1"}, "text": {"one\r\ntwo"}}
	s.do(http.MethodPost, "/console/chats/"+grace+"/send", form).want(t, http.StatusSeeOther, "/console/chats/"+url.PathEscape("15550100301")+"%40s.whatsapp.net")
	s.header.Set("Accept", "application/json")
	s.do(http.MethodPost, "/console/chats/"+grace+"/send", form).want(t, http.StatusOK, "")
	sent := 0
	for _, one := range *all {
		if one.path != "/api/messages/send" {
			continue
		}
		sent++
		if one.header.Get("Idempotency-Key") != "key-1" || one.body != `{"jid":"`+grace+`","text":"one\ntwo","quotedMsgId":"Q1"}` {
			t.Errorf("sent %s with %q", one.body, one.header.Get("Idempotency-Key"))
		}
	}
	if sent != 2 {
		t.Errorf("%d calls", sent)
	}
}

// Every form becomes one call of the API.
func TestSend_EveryKind(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, nil)
	token := s.logIn().csrf()
	for _, c := range []struct{ form, path, body string }{
		{"kind=place&coordinates=52.5,+13.25&name=Here", "send-location", `{"jid":"` + grace + `","latitude":52.5,"longitude":13.25,"name":"Here"}`},
		{"kind=poll&question=When%3F&options=a%0Ab%0A%0A", "send-poll", `{"jid":"` + grace + `","name":"When?","values":["a","b"],"selectableCount":1}`},
		{"kind=poll&question=Q&options=a%0Ab&several=yes", "send-poll", `{"jid":"` + grace + `","name":"Q","values":["a","b"],"selectableCount":0}`},
		{"kind=reaction&react=M1&emoji=%F0%9F%91%8D", "react", `{"chatJid":"` + grace + `","msgId":"M1","emoji":"👍"}`},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		form.Set("csrf", token)
		*all = nil
		s.do(http.MethodPost, "/console/chats/"+grace+"/send", form)
		if len(*all) == 0 || (*all)[0].path != "/api/messages/"+c.path || (*all)[0].body != c.body || !strings.HasPrefix((*all)[0].header.Get("Idempotency-Key"), "console-") {
			t.Errorf("%s: %+v", c.form, *all)
		}
	}
	for _, wrong := range []string{"kind=place&coordinates=here", "kind=nothing", "kind=place&coordinates=NaN,NaN"} {
		form, err := url.ParseQuery(wrong)
		if err != nil {
			t.Fatal(err)
		}
		form.Set("csrf", token)
		s.do(http.MethodPost, "/console/chats/"+grace+"/send", form).want(t, http.StatusBadRequest, "")
	}
}

// upload posts a form with fields and then files, a.txt unless names are given.
func (s *site) upload(t *testing.T, path string, fields [][2]string, names ...string) answer {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, field := range fields {
		if err := w.WriteField(field[0], field[1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) == 0 {
		names = []string{"a.txt"}
	}
	for _, name := range names {
		part, err := w.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(part, "the bytes")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+path, &body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {w.FormDataContentType()}, "Sec-Fetch-Site": {"same-origin"}}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp, string(page)}
}

func TestSendFile_ForwardsTheFile(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{"/api/messages/send-file": replies(`{"ok":true,"msgId":"M1","chatJid":"` + grace + `"}`)})
	token := s.logIn().csrf()
	upload := func(csrf string) answer {
		return s.upload(t, "/console/chats/"+grace+"/file", [][2]string{{"csrf", csrf}, {"caption", "look"}, {"key", "key-1"}})
	}
	upload("guessed").want(t, http.StatusForbidden, "")
	for _, one := range *all {
		if one.path == "/api/messages/send-file" {
			t.Error("sent without the session's token")
		}
	}
	upload(token).want(t, http.StatusSeeOther, "/console/chats/15550100301%40s.whatsapp.net")
	last := (*all)[len(*all)-1]
	if last.path != "/api/messages/send-file" || !strings.Contains(last.body, "the bytes") || !strings.Contains(last.body, "look") || strings.Contains(last.body, token) || last.header.Get("Idempotency-Key") != "key-1" {
		t.Errorf("sent %+v", last)
	}
}

// Several files are an album, with the caption on the first. What the API refuses of it is said with the file's name.
func TestSendFile_SeveralAreAnAlbum(t *testing.T) {
	t.Parallel()
	status, reply := http.StatusOK, `{"ok":true,"msgId":"M1","chatJid":"`+grace+`","items":[]}`
	s, all := overAPI(t, map[string]http.HandlerFunc{"/api/messages/send-album": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}})
	token := s.logIn().csrf()
	upload := func(kinds string, names ...string) answer {
		return s.upload(t, "/console/chats/"+grace+"/file", [][2]string{{"csrf", token}, {"caption", "look"}, {"key", "key-1"}, {"reply", "M0"}, {"at", "2026-12-01T09:30"}, {"album", kinds}}, names...)
	}
	upload("image video", "a.png", "b.mp4").want(t, http.StatusSeeOther, "/console/chats/15550100301%40s.whatsapp.net")
	done := writes(*all)
	if len(done) != 1 || done[0].path != "/api/messages/send-album" || done[0].header.Get("Idempotency-Key") != "key-1" || strings.Count(done[0].body, "the bytes") != 2 ||
		!strings.Contains(done[0].body, `[{"part":"file1","type":"image","caption":"look"},{"part":"file2","type":"video"}]`) || !strings.Contains(done[0].body, "M0") || !strings.Contains(done[0].body, "2026-12-01T08:30:00.000Z") {
		t.Errorf("sent %+v", done)
	}
	if page := upload(strings.Repeat("image ", bridge.MaxAlbum+1), "a.png").want(t, http.StatusBadRequest, "").body; !strings.Contains(page, "up to 30 photos and videos") {
		t.Error(page)
	}
	for said, want := range map[string]string{
		"items[1]: the file is text/plain": "“b.mp4”: WhatsApp can’t show this file.",
		"items[7]: the file is text/plain": ">WhatsApp can’t show this file.",
		"the network accepted 1 of the 2 pictures and videos of the album, and then: the file is text/plain; a call with the same Idempotency-Key sends the rest": "1 of 2 photos and videos was sent. Trying again sends the rest.",
	} {
		status, reply = http.StatusBadRequest, `{"error":"`+said+`","code":"unsupported_media"}`
		if page := upload("image video", "a.png", "b.mp4").want(t, http.StatusBadRequest, "").body; !strings.Contains(page, want) {
			t.Errorf("%q is not said:\n%s", want, page)
		}
	}
}

// An album whose form ends early is refused, and one is passed on while it arrives: the API has the first picture before
// the second is sent.
func TestSendFile_AnAlbumIsStreamed(t *testing.T) {
	t.Parallel()
	arrived := make(chan string)
	var s *site
	s = newSite(t, func(o *console.Options) {
		o.EnableSend = true
		o.API = bearing(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/messages/send-album" {
				s.api(w, r)
				return
			}
			parts, err := r.MultipartReader()
			for err == nil {
				var part *multipart.Part
				if part, err = parts.NextPart(); err == nil && strings.HasPrefix(part.FormName(), "file") {
					piece := make([]byte, 5)
					if _, err = io.ReadFull(part, piece); err == nil {
						arrived <- string(piece)
					}
				}
			}
			if errors.Is(err, io.EOF) {
				_, _ = io.WriteString(w, `{"ok":true,"msgId":"M1","items":[]}`)
			} else {
				arrived <- "broken off"
			}
		})
	})
	token := s.logIn().csrf()
	for _, isWhole := range []bool{true, false} {
		body, to := io.Pipe()
		form := multipart.NewWriter(to)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+"/console/chats/"+grace+"/file", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {form.FormDataContentType()}, "Sec-Fetch-Site": {"same-origin"}, "Accept": {"application/json"}, "X-Csrf-Token": {token}}
		answered := make(chan string)
		go func() {
			resp, err := s.client.Do(req)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer resp.Body.Close()
			page, _ := io.ReadAll(resp.Body) //nolint:errcheck // a broken answer is not the expected one
			answered <- string(page)
		}()
		write := func(name, text string) {
			t.Helper()
			part, err := form.CreateFormFile("file", name)
			if err == nil {
				_, err = io.WriteString(part, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := form.WriteField("album", "image image"); err != nil {
			t.Fatal(err)
		}
		write("a.png", "first"+strings.Repeat(" ", 64<<10))
		if got := <-arrived; got != "first" {
			t.Fatalf("arrived: %q", got)
		}
		if isWhole {
			write("b.png", "other")
		}
		if err := errors.Join(form.Close(), to.Close()); err != nil {
			t.Fatal(err)
		}
		if got, want := <-arrived, map[bool]string{true: "other", false: "broken off"}[isWhole]; got != want {
			t.Errorf("whole %v: arrived %q", isWhole, got)
		}
		if got, want := <-answered, map[bool]string{true: `"msgId":"M1"`, false: "Choose a file"}[isWhole]; !strings.Contains(got, want) {
			t.Errorf("whole %v: %s", isWhole, got)
		}
	}
}

func TestMedia_ShowsOnlySafeTypes(t *testing.T) {
	t.Parallel()
	kind := ""
	s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/messages/media/" + grace + "/M1": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Disposition", `inline; filename="a.html"; filename*=UTF-8''%C3%A4.html`)
		w.Header().Set("Set-Cookie", "a=b")
		_, _ = io.WriteString(w, "<script>1</script>")
	}})
	s.logIn()
	for given, want := range map[string]string{
		"image/jpeg": "image/jpeg", "video/mp4": "video/mp4", "audio/ogg; codecs=opus": "audio/ogg", "image/png": "image/png",
		"text/html": "", "image/svg+xml": "", "application/xhtml+xml": "", "text/xml": "", "application/pdf": "", "text/plain": "", "application/javascript": "", "nonsense": "", "": "",
	} {
		kind = given
		got := s.get("/console/media/"+grace+"/M1").want(t, http.StatusOK, "")
		disposition := `inline; filename="a.html"; filename*=UTF-8''%C3%A4.html`
		if want == "" {
			want, disposition = "application/octet-stream", "attachment"+strings.TrimPrefix(disposition, "inline")
		}
		if got.Header.Get("Content-Type") != want || got.Header.Get("Content-Disposition") != disposition {
			t.Errorf("%q: %q, %q", given, got.Header.Get("Content-Type"), got.Header.Get("Content-Disposition"))
		}
		if got.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q: headers %v", given, got.Header)
		}
	}
}

func TestUnlink_AsksForTheNumber(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/auth/status": replies(`{"status":"open","hasSession":true,"user":{"jid":"15550100200@s.whatsapp.net","phone":"15550100200"},"since":"2026-11-21T08:15:30.000Z"}`),
		"/api/auth/logout": replies(`{"ok":true,"unlinked":true}`),
	})
	token := s.logIn().csrf()
	calls := func() (n int) {
		for _, one := range *all {
			if one.path == "/api/auth/logout" {
				n++
			}
		}
		return n
	}
	for _, wrong := range []string{"", "15550100201", "yes"} {
		s.do(http.MethodPost, "/console/logout-account", url.Values{"csrf": {token}, "number": {wrong}}).want(t, http.StatusBadRequest, "")
	}
	if calls() != 0 {
		t.Error("unlinked without the number")
	}
	s.do(http.MethodPost, "/console/logout-account", url.Values{"csrf": {token}, "number": {"+1 555 010-0200"}}).want(t, http.StatusSeeOther, "/console/")
	if calls() != 1 {
		t.Errorf("%d calls", calls())
	}
	if page := s.get("/console/").body; !strings.Contains(page, "The account was unlinked.") {
		t.Error("nothing is said of it")
	}
}

// A page shows the sentence of the API's refusal. An unknown address is not found.
func TestPages_NotFound(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, nil)
	s.logIn()
	for _, path := range []string{"/console/nowhere", "/console/chats/x", "/console/chats/" + grace, "/console/webhooks/x", "/console/media/x/y"} {
		if got := s.get(path); got.StatusCode != http.StatusNotFound || !strings.Contains(got.body, "<h1>") {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

func TestTokens_AreMadeAndRevoked(t *testing.T) {
	t.Parallel()
	var made, revoked string
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/tokens": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, `{"id":7,"name":"<desk>","scopes":["read"],"chats":null,"expiresAt":null,"createdAt":"2026-11-21T08:15:30.000Z","lastUsedAt":null,"secret":"brt_SHOWNONCE"}`)
				return
			}
			_, _ = io.WriteString(w, `{"count":1,"tokens":[{"id":7,"name":"<desk>","scopes":["read"],"chats":["`+grace+`"],"expiresAt":null,"createdAt":"2026-11-21T08:15:30.000Z","lastUsedAt":null}]}`)
		},
		"/api/tokens/7": func(w http.ResponseWriter, r *http.Request) {
			revoked = r.Method
			_, _ = io.WriteString(w, `{"ok":true}`)
		},
	})
	csrf := s.logIn().csrf()
	form := url.Values{"csrf": {csrf}, "name": {"desk"}, "scope": {"read", "send"}, "chats": {grace + ", 1@g.us"}, "expires": {"2027-01-31"}}
	page := s.create("/console/tokens", form)
	if !strings.Contains(page.body, "brt_SHOWNONCE") || !strings.Contains(page.body, "&lt;desk&gt;") || strings.Contains(page.body, "<desk>") {
		t.Errorf("the page of a new token:\n%s", page.body)
	}
	for _, one := range *all {
		if one.path == "/api/tokens" && one.body != "" {
			made = one.body
		}
	}
	if want := `{"name":"desk","scopes":["read","send"],"chats":["` + grace + `","1@g.us"],"expiresAt":"2027-01-31T22:59:59.999Z"}`; made != want {
		t.Errorf("asked for %s, want %s", made, want)
	}
	if again := s.get("/console/tokens"); strings.Contains(again.body, "brt_SHOWNONCE") || !strings.Contains(again.body, "1 555 010 0301</bdi>") {
		t.Errorf("the list:\n%s", again.body)
	}
	s.do(http.MethodPost, "/console/tokens/7", url.Values{"csrf": {csrf}}).want(t, http.StatusSeeOther, "/console/tokens")
	if revoked != http.MethodDelete {
		t.Errorf("revoked by %q", revoked)
	}
}

// A hook is created, with its address shown once, tested, changed and deleted.
func TestHooks_AreManaged(t *testing.T) {
	t.Parallel()
	const hook = `{"id":7,"name":"<b>pushes","chatJid":"` + grace + `","template":"gitea","hasSecret":true,"enabled":true,"lastDeliveryAt":null,"lastFailedAt":null,` +
		`"lastError":"the signature is <i>wrong</i>","createdAt":"2026-11-21T08:15:30.000Z","updatedAt":"2026-11-21T08:15:30.000Z"`
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/hooks": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, hook+`,"url":"http://in-process/hooks/7.SHOWNONCE","path":"/hooks/7.SHOWNONCE"}`)
				return
			}
			_, _ = io.WriteString(w, `{"count":1,"hooks":[`+hook+`}]}`)
		},
		"/api/hooks/7": func(w http.ResponseWriter, r *http.Request) {
			path := ""
			if r.Method == http.MethodPatch {
				path = `,"path":"/hooks/7.ROTATED"`
			}
			_, _ = io.WriteString(w, hook+path+`}`)
		},
		"/api/hooks/7/preview": replies(`{"text":"*mill*\n<i>ada</i> pushed"}`),
	})
	csrf := s.logIn().csrf()
	post := func(path string, form url.Values) answer {
		form.Set("csrf", csrf)
		return s.do(http.MethodPost, path, form)
	}
	made := s.create("/console/hooks", url.Values{"csrf": {csrf}, "name": {"pushes"}, "chat": {grace}, "template": {"gitea"}, "own": {" "}, "secret": {"hush"}})
	if address := s.server.URL + "/hooks/7.SHOWNONCE"; !strings.Contains(made.body, ">"+address+"<") {
		t.Errorf("the address is not shown:\n%s", made.body)
	}
	for _, path := range []string{"/console/hooks", "/console/hooks/7"} {
		page := s.get(path)
		page.want(t, http.StatusOK, "")
		if strings.Contains(page.body, "SHOWNONCE") || strings.Contains(page.body, "<b>pushes") || strings.Contains(page.body, "<i>wrong</i>") || !strings.Contains(page.body, "1 555 010 0301</bdi>") {
			t.Errorf("%s:\n%s", path, page.body)
		}
	}
	tried := post("/console/hooks/7", url.Values{"do": {"preview"}, "payload": {`{"ref":"main"}`}, "event": {"push"}})
	tried.want(t, http.StatusOK, "")
	if !strings.Contains(tried.body, "*mill*\n&lt;i&gt;ada&lt;/i&gt; pushed") || !strings.Contains(tried.body, "{&#34;ref&#34;:&#34;main&#34;}") {
		t.Errorf("the preview:\n%s", tried.body)
	}
	post("/console/hooks/7", url.Values{"do": {"preview"}, "payload": {"a text"}})
	if rotated := s.create("/console/hooks/7", url.Values{"csrf": {csrf}, "do": {"rotate"}}); !strings.Contains(rotated.body, "/hooks/7.ROTATED<") {
		t.Error("the new address is not shown")
	}
	for _, form := range []url.Values{{"do": {"off"}}, {"do": {"on"}}, {"do": {"save"}, "name": {"news"}, "chat": {grace}, "template": {"json"}, "own": {"{{.payload.x}}"}}} {
		post("/console/hooks/7", form).want(t, http.StatusSeeOther, "/console/hooks/7")
	}
	post("/console/hooks/7", url.Values{"do": {"delete"}}).want(t, http.StatusSeeOther, "/console/hooks")
	post("/console/hooks/7", url.Values{"do": {"else"}}).want(t, http.StatusForbidden, "")
	var bodies []string
	for _, one := range *all {
		if strings.HasPrefix(one.path, "/api/hooks") && one.body != "" {
			bodies = append(bodies, one.body)
		}
	}
	for _, want := range []string{
		`{"name":"pushes","chatJid":"` + grace + `","template":"gitea","secret":"hush"}`, `{"payload":{"ref":"main"},"headers":{"X-Gitea-Event":"push"}}`,
		`{"payload":"a text","headers":{}}`, `{"rotateKey":true}`, `{"enabled":false}`, `{"name":"news","chatJid":"` + grace + `","template":"{{.payload.x}}","secret":""}`,
	} {
		if !slices.Contains(bodies, want) {
			t.Errorf("no call with %s among %q", want, bodies)
		}
	}
}

// The page shows the address that services use, even if the visitor uses another one.
func TestHooks_ShowTheAddressForServices(t *testing.T) {
	t.Parallel()
	public := &url.URL{Scheme: "https", Host: "bridge.example.com", Path: "/wa"}
	var s *site
	s = newSite(t, func(o *console.Options) {
		o.PublicURLs = []*url.URL{public}
		o.API = bearing(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/api/hooks") {
				s.api(w, r)
				return
			}
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = io.WriteString(w, `{"id":7,"name":"pushes","chatJid":"`+grace+`","template":"gitea","enabled":true,"url":"https://bridge.example.com/wa/hooks/7.KEY","path":"/hooks/7.KEY"}`)
		})
	})
	made := s.create("/console/hooks", url.Values{"csrf": {s.logIn().csrf()}, "name": {"pushes"}, "chat": {grace}, "template": {"gitea"}})
	if !strings.Contains(made.body, ">https://bridge.example.com/wa/hooks/7.KEY<") || strings.Contains(made.body, s.server.URL+"/hooks") {
		t.Errorf("shown:\n%s", made.body)
	}
}

// A webhook is created, with its secret shown once, tested, changed and deleted. A delivery can be
// sent again, and its event can be read. A webhook that has delivered nothing does not claim to work.
func TestWebhooks_AreManaged(t *testing.T) {
	t.Parallel()
	const hook = `{"id":3,"url":"https://hooks.example.com/<b>","types":[],"chats":["` + grace + `"],"excludeChats":[],"chatType":"individual","fromMe":false,"chat":"` + grace + `","format":"waha","formatOptions":{"events":["message"],"headers":{"X-Flow":"7"}},"allowPrivate":false,"enabled":true,"source":"api","cursor":1,"pending":0,"dead":1,` +
		`"lastDeliveredAt":null,"lastFailedAt":null,"lastError":"the receiver answered <i>500</i>","createdAt":"2026-11-21T08:15:30.000Z","updatedAt":"2026-11-21T08:15:30.000Z"`
	const delivery = `{"id":9,"webhookId":3,"eventId":42,"eventType":"message.created","eventAt":"2026-11-21T08:15:30.000Z","chatJid":"` + grace + `","status":"dead","attempts":866,` +
		`"firstAttemptAt":null,"lastAttemptAt":null,"nextAttemptAt":null,"responseStatus":500,"lastError":null}`
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/webhooks": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, hook+`,"secret":"whsec_SHOWNONCE"}`)
				return
			}
			unused := strings.NewReplacer(`"id":3`, `"id":4`, `"dead":1`, `"dead":0`, `"the receiver answered <i>500</i>"`, "null").Replace(hook)
			used := strings.NewReplacer(`"id":4`, `"id":5`, `"lastDeliveredAt":null`, `"lastDeliveredAt":"2026-11-21T08:15:30.000Z"`).Replace(unused)
			_, _ = io.WriteString(w, `{"count":3,"webhooks":[`+hook+`},`+unused+`},`+used+`}]}`)
		},
		"/api/webhooks/3":                        replies(hook + `,"secret":"whsec_ROTATED"}`),
		"/api/webhooks/3/test":                   replies(`{"ok":true,"responseStatus":204,"error":null,"durationMs":12}`),
		"/api/webhooks/3/deliveries":             replies(`{"count":1,"deliveries":[` + delivery + `],"nextCursor":null}`),
		"/api/webhooks/3/deliveries/9/redeliver": replies(delivery),
		"/api/events":                            replies(`{"count":1,"events":[{"id":42,"type":"chat.updated","timestamp":"2026-11-21T08:15:30.000Z","chatJid":"` + grace + `"}],"nextCursor":"42","reset":false}`),
	})
	csrf := s.logIn().csrf()
	post := func(path string, form url.Values) answer {
		form.Set("csrf", csrf)
		return s.do(http.MethodPost, path, form)
	}
	made := s.create("/console/webhooks", url.Values{
		"csrf": {csrf},
		"url":  {"https://hooks.example.com/x"}, "type": {"message.created"},
		"chats": {grace + "\r\n 120363025246125486@g.us, "}, "chatType": {"group"}, "fromMe": {"true"}, "format": {"cloud"}, "verifyToken": {"a word"},
	})
	if !strings.Contains(made.body, "whsec_SHOWNONCE") {
		t.Error("the secret is not shown")
	}
	page := s.get("/console/webhooks/3")
	page.want(t, http.StatusOK, "")
	if strings.Contains(page.body, "whsec_") || strings.Contains(page.body, "<i>500</i>") || !strings.Contains(page.body, "866") ||
		!strings.Contains(page.body, `name="chats" value="`+grace+`" checked`) || !strings.Contains(page.body, `"individual" selected`) || !strings.Contains(page.body, `"false" selected`) || !strings.Contains(page.body, `"waha" selected`) {
		t.Errorf("the page of a webhook:\n%s", page.body)
	}
	if !strings.Contains(page.body, `<a href="/console/events?event=42">Event 42</a>`) {
		t.Error("the event of a delivery cannot be read")
	}
	if shown := s.get("/console/events?event=42").want(t, http.StatusOK, "").body; !strings.Contains(shown, "<details open>") || !strings.Contains(shown, "&#34;type&#34;: &#34;chat.updated&#34;") {
		t.Errorf("the event:\n%s", shown)
	}
	for _, gone := range []string{"41", "0", "x"} { // the log begins with 42
		s.get("/console/events?event="+gone).want(t, http.StatusNotFound, "")
	}
	for word, want := range map[string]int{"Not used yet": 1, "Working": 1, "1 failed": 1} {
		if got := strings.Count(s.get("/console/webhooks").body, ">"+word+"<"); got != want {
			t.Errorf("%d webhooks are %q, want %d", got, word, want)
		}
	}
	if rotated := s.create("/console/webhooks/3", url.Values{"csrf": {csrf}, "do": {"rotate"}}); !strings.Contains(rotated.body, "whsec_ROTATED") {
		t.Error("the new secret is not shown")
	}
	for _, form := range []url.Values{{"do": {"test"}}, {"do": {"off"}}, {"do": {"save"}, "url": {"https://hooks.example.com/y"}, "excludeChats": {grace}, "fromMe": {""}, "format": {"waha"}}} {
		post("/console/webhooks/3", form).want(t, http.StatusSeeOther, "/console/webhooks/3")
	}
	post("/console/webhooks/3/deliveries/9", url.Values{}).want(t, http.StatusSeeOther, "/console/webhooks/3")
	post("/console/webhooks/3", url.Values{"do": {"delete"}}).want(t, http.StatusSeeOther, "/console/webhooks")
	var bodies []string
	for _, one := range *all {
		if strings.HasPrefix(one.path, "/api/webhooks") && one.body != "" {
			bodies = append(bodies, one.body)
		}
	}
	for _, want := range []string{
		`{"url":"https://hooks.example.com/x","types":["message.created"],"chats":["` + grace + `","120363025246125486@g.us"],"excludeChats":[],"chatType":"group","fromMe":true,"format":"cloud","formatOptions":{"verifyToken":"a word"},"allowPrivate":false}`,
		`{"rotateSecret":true}`, `{"enabled":false}`, `{"url":"https://hooks.example.com/y","types":[],"chats":[],"excludeChats":["` + grace + `"],"chatType":"","fromMe":null,"format":"waha","formatOptions":{"events":["message"],"headers":{"X-Flow":"7"}},"allowPrivate":false}`,
	} {
		if !slices.Contains(bodies, want) {
			t.Errorf("no call with %s among %q", want, bodies)
		}
	}
}
