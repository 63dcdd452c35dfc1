package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

// madeHook is the answer to a hook that was made.
type madeHook struct {
	bridge.Hook
	URL, Path string
}

// hook makes a hook to grace's chat; fields replace its own.
func (s *server) hook(fields ...string) (made madeHook) {
	s.t.Helper()
	body := object{"name": "pushes", "chatJid": grace, "template": "json"}
	for i := 0; i < len(fields); i += 2 {
		body[fields[i]] = fields[i+1]
	}
	s.Post("/api/hooks", body).Want(http.StatusCreated).Decode(&made)
	return made
}

func hookRoute(made madeHook) string { return fmt.Sprint("/api/hooks/", made.ID) }

func TestHooks_AreMadeShownChangedAndRemoved(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook("name", " pushes ", "template", "gitea", "secret", "hush")
	if made.Name != "pushes" || made.Chat != grace || made.Template != "gitea" || !made.HasSecret || !made.Enabled || made.LastDeliveryAt != nil {
		t.Errorf("made: %+v", made)
	}
	if !strings.HasPrefix(made.Path, fmt.Sprint("/hooks/", made.ID, ".")) || len(made.Path) < 30 || made.URL != s.url+made.Path {
		t.Errorf("its address is %s, %s", made.URL, made.Path)
	}
	key := made.Path[strings.Index(made.Path, ".")+1:]
	for _, path := range []string{"/api/hooks", hookRoute(made)} {
		got := string(s.Get(path).Want(http.StatusOK).Body)
		if strings.Contains(got, key) || strings.Contains(got, "hush") || !strings.Contains(got, `"hasSecret":true`) {
			t.Errorf("%s: %s", path, got)
		}
	}
	var changed madeHook
	s.Do(http.MethodPatch, hookRoute(made), `{"name":"news","chatJid":"`+string(club)+`","template":"{{.payload.x}}","secret":"","enabled":true}`).
		Want(http.StatusOK).Decode(&changed)
	if changed.Name != "news" || changed.Chat != club || changed.Template != "{{.payload.x}}" || !changed.HasSecret || changed.URL != "" {
		t.Errorf("changed: %+v", changed)
	}
	s.Do(http.MethodPatch, hookRoute(made), `{"secret":null,"rotateKey":true}`).Want(http.StatusOK).Decode(&changed)
	if changed.HasSecret || changed.Path == "" || changed.Path == made.Path {
		t.Errorf("rotated: %+v", changed)
	}
	s.Post(made.Path, `{"x":"old"}`).Want(http.StatusNotFound)
	s.Post(changed.Path, `{"x":"new"}`).Want(http.StatusOK)
	s.Do(http.MethodDelete, hookRoute(made), "").Want(http.StatusOK)
	s.Post(changed.Path, `{"x":"gone"}`).Want(http.StatusNotFound)
	s.Get(hookRoute(made)).Want(http.StatusNotFound)
	s.Get("/api/hooks/x").Want(http.StatusNotFound)
	for _, out := range s.account.sent() {
		if out.To != club || out.Content.(bridge.Text).Text != "new" {
			t.Errorf("sent %+v", out)
		}
	}
}

// The address is where a reverse proxy shows the bridge, if there is one.
func TestHooks_AddressBeginsWithPublicURL(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *api.Options) { o.PublicURL = "https://bridge.example.com/" })
	if made := s.hook(); made.URL != "https://bridge.example.com"+made.Path {
		t.Errorf("its address is %s", made.URL)
	}
}

func TestHooks_RefuseWhatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook()
	ok := object{"name": "x", "chatJid": grace, "template": "json"}
	for _, c := range []struct {
		body     any
		sentence string
	}{
		{`[]`, "must be a JSON object"},
		{`{"name":"x","name":"y"}`, "name is given twice"},
		{with(ok, "chat", grace), "chat is not a field of this request"},
		{with(ok, "name", ""), "name is required"},
		{with(ok, "name", strings.Repeat("ä", 101)), "name is required"},
		{with(ok, "name", "a\nb"), "name is required"},
		{with(ok, "name", 1), "name must be a string"},
		{object{"name": "x", "template": "json"}, "chatJid is required"},
		{with(ok, "chatJid", "15557654321"), "did you mean"},
		{with(ok, "chatJid", "status@broadcast"), "chatJid"},
		{with(ok, "chatJid", true), "chatJid must be a string"},
		{object{"name": "x", "chatJid": grace}, "template is required"},
		{with(ok, "template", "githb"), "template must be one of"},
		{with(ok, "template", "{{range .payload}}{{range .}}{{range .}}{{end}}{{end}}{{end}}"), "line 1, column 37: ranges may be nested at most 2 deep"},
		{with(ok, "template", "{{"+strings.Repeat(" ", 20_000)), "at most 16384 bytes"},
		{with(ok, "template", 1), "template must be a string"},
		{with(ok, "secret", 1), "secret must be a string or null"},
		{with(ok, "secret", strings.Repeat("x", 257)), "secret must have at most 256"},
		{with(ok, "secret", "a\x00"), "secret must have at most 256"},
		{with(ok, "enabled", "yes"), "enabled must be true or false"},
		{with(ok, "rotateKey", true), "rotateKey is for existing hooks only"},
	} {
		if got := s.Post("/api/hooks", c.body).Want(http.StatusBadRequest); !strings.Contains(got.Error(), c.sentence) {
			t.Errorf("%v: %q, want %q", c.body, got.Error(), c.sentence)
		}
	}
	for body, sentence := range map[string]string{
		`{"name":""}`: "name is required", `{"chatJid":""}`: "chatJid is required", `{"template":"{{"}`: "template", `{"secret":{}}`: "secret must be",
		`{"url":"x"}`: "url is not a field",
	} {
		if got := s.Do(http.MethodPatch, hookRoute(made), body).Want(http.StatusBadRequest); !strings.Contains(got.Error(), sentence) {
			t.Errorf("%s: %q, want %q", body, got.Error(), sentence)
		}
	}
	large := strings.Repeat(" ", 1<<20) + "{}"
	s.Post("/api/hooks", large).Want(http.StatusRequestEntityTooLarge)
	s.Do(http.MethodPatch, hookRoute(made), large).Want(http.StatusRequestEntityTooLarge)
	s.Post(hookRoute(made)+"/preview", large).Want(http.StatusRequestEntityTooLarge)
}

// Templates can be tried a while, and deliveries go on when they cannot any more.
func TestHooks_PreviewsAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	made := s.hook("template", "{{.payload.a}}")
	preview := func() apitest.Response { return s.Post(hookRoute(made)+"/preview", `{"payload":{"a":1}}`) }
	for range 30 {
		preview().Want(http.StatusOK)
	}
	got := preview().Want(http.StatusTooManyRequests)
	if got.Code() != "rate_limited" || got.Header.Get("Retry-After") != "3" {
		t.Errorf("got %s, Retry-After %s", got.Body, got.Header.Get("Retry-After"))
	}
	s.Post(made.Path, `{"a":"b"}`).Want(http.StatusOK)
	for body, status := range map[string]int{`{}`: http.StatusBadRequest, strings.Repeat(" ", 1<<20) + "{}": http.StatusRequestEntityTooLarge} {
		s.Post(hookRoute(made)+"/preview", body).Want(status) // permanent refusals come first
	}
	maker := s.as(s.token(`{"name":"maker","scopes":["manage","send"]}`))
	own := maker.hook("template", "{{.payload.a}}")
	for range 30 {
		maker.Post(hookRoute(own)+"/preview", `{}`).Want(http.StatusBadRequest)
	}
	maker.Post(hookRoute(own)+"/preview", `{"payload":{"a":1}}`).Want(http.StatusOK)
	now = now.Add(3 * time.Second)
	preview().Want(http.StatusOK)
	preview().Want(http.StatusTooManyRequests)
}

func TestHooks_PreviewSendsNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, sendDisabled)
	made := s.hook("template", "{{.payload.a}}, {{header \"X-Kind\"}}")
	preview := func(body any) string {
		t.Helper()
		var got struct{ Text string }
		s.Post(hookRoute(made)+"/preview", body).Want(http.StatusOK).Decode(&got)
		return got.Text
	}
	if got := preview(object{"payload": object{"a": 1}, "headers": object{"x-kind": "news"}}); got != "1, news" {
		t.Errorf("got %q", got)
	}
	if got := preview(`{"payload":{}}`); got != "," {
		t.Errorf("got %q", got)
	}
	push := s.hook("template", "gitea")
	for body, sentence := range map[string]string{
		`{}`:                               "payload is required",
		`{"payload":{}}`:                   "X-Gitea-Event",
		`{"payload":{},"headers":[]}`:      "headers must be",
		`{"payload":{},"headers":{"a":1}}`: "headers",
		`{"payload":{},"template":"json"}`: "template is not a field",
		`{"payload":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: "deeper than",
	} {
		if got := s.Post(hookRoute(push)+"/preview", body).Want(http.StatusBadRequest); !strings.Contains(got.Error(), sentence) {
			t.Errorf("%s: %q, want %q", body, got.Error(), sentence)
		}
	}
	spins := s.hook("template", "{{range .payload}}{{end}}")
	if got := s.Post(hookRoute(spins)+"/preview", `{"payload":5}`).Want(http.StatusBadRequest); got.Code() != "template_failed" {
		t.Errorf("got %s", got.Body)
	}
	s.Post("/api/hooks/99/preview", `{"payload":{}}`).Want(http.StatusNotFound)
}

// A hook does no more than the token that made it, also if somebody else changes
// it, and ends with that token.
func TestHooks_OfATokenDoNoMoreThanIt(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	maker := s.token(`{"name":"maker","scopes":["manage","send"],"chats":["` + string(grace) + `"]}`)
	other := s.token(`{"name":"other","scopes":["manage","send"]}`)
	made := s.as(maker).hook()
	of := s.hook()
	s.as(maker).Get(hookRoute(made)).Want(http.StatusOK)
	for _, stranger := range []struct {
		made madeToken
		path string
	}{{maker, hookRoute(of)}, {other, hookRoute(made)}} {
		s.as(stranger.made).Get(stranger.path).Want(http.StatusNotFound)
		s.as(stranger.made).Do(http.MethodPatch, stranger.path, `{"name":"mine"}`).Want(http.StatusNotFound)
		s.as(stranger.made).Do(http.MethodDelete, stranger.path, "").Want(http.StatusNotFound)
		s.as(stranger.made).Post(stranger.path+"/preview", `{"payload":1}`).Want(http.StatusNotFound)
	}
	var list struct{ Count int }
	s.as(maker).Get("/api/hooks").Want(http.StatusOK).Decode(&list)
	if list.Count != 1 {
		t.Errorf("it sees %d hooks", list.Count)
	}
	s.as(maker).Post("/api/hooks", object{"name": "x", "chatJid": club, "template": "json"}).Want(http.StatusNotFound)
	for _, who := range []*server{s.as(maker), s} {
		who.Do(http.MethodPatch, hookRoute(made), `{"chatJid":"`+string(club)+`"}`).Want(http.StatusNotFound)
	}
	for i := range 49 {
		s.as(maker).hook("name", fmt.Sprint("hook ", i))
	}
	if got := s.as(maker).Post("/api/hooks", object{"name": "x", "chatJid": grace, "template": "json"}).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "50 hooks") {
		t.Errorf("got %s", got.Body)
	}
	nobody := s.WithToken("")
	nobody.Post(made.Path, `{"text":"hi"}`).Want(http.StatusOK)
	s.Do(http.MethodDelete, fmt.Sprint("/api/tokens/", maker.ID), "").Want(http.StatusOK)
	nobody.Post(made.Path, `{"text":"hi"}`).Want(http.StatusNotFound)
	s.Get(hookRoute(made)).Want(http.StatusNotFound)
	nobody.Post(of.Path, `{"text":"hi"}`).Want(http.StatusOK)
}

// The key of a hook opens its own address, and nothing else.
func TestHooks_TheKeyIsNoToken(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook()
	key := made.Path[strings.Index(made.Path, ".")+1:]
	for _, bearer := range []string{key, made.Path, made.Path[len("/hooks/"):]} {
		s.WithToken(bearer).Get("/api/chats").Want(http.StatusUnauthorized)
		s.WithToken(bearer).Post("/api/messages/send", object{"jid": grace, "text": "x"}).Want(http.StatusUnauthorized)
	}
	nobody := s.WithToken("")
	for _, path := range []string{
		"/hooks/", "/hooks/1", "/hooks/1.", fmt.Sprint("/hooks/", made.ID+1, ".", key), fmt.Sprint("/hooks/", made.ID, ".", key[1:]),
		"/hooks/-1." + key, "/hooks/x." + key, made.Path + "/", made.Path + "/x", made.Path + "x", "/hooks/99999999999999999999." + key,
	} {
		if got := nobody.Post(path, `{"text":"x"}`).Want(http.StatusNotFound); got.Error() != nobody.Post("/nowhere", `{}`).Error() {
			t.Errorf("%s: %s", path, got.Body)
		}
	}
	if got := serve(t.Context(), s.handler, http.MethodPost, made.Path+"x", `{}`); got.Header().Get("Connection") != "close" {
		t.Error("a stranger's body is waited for")
	}
	if got := serve(t.Context(), s.handler, http.MethodPut, made.Path, `{}`); got.Header().Get("Connection") == "close" {
		t.Error("the service's connection is closed")
	}
	nobody.Get(made.Path).Want(http.StatusMethodNotAllowed)
	s.Do(http.MethodPatch, hookRoute(made), `{"enabled":false}`).Want(http.StatusOK)
	nobody.Post(made.Path, `{"text":"x"}`).Want(http.StatusNotFound)
	if sent := s.account.sent(); len(sent) != 0 {
		t.Errorf("sent %+v", sent)
	}
}

func TestHooks_UnreadableStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook()
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/hooks", ""},
		{"POST", "/api/hooks", `{"name":"x","chatJid":"` + string(grace) + `","template":"json"}`},
		{"GET", hookRoute(made), ""},
		{"PATCH", hookRoute(made), `{"name":"x"}`},
		{"DELETE", hookRoute(made), ""},
		{"POST", hookRoute(made) + "/preview", `{"payload":1}`},
		{"POST", made.Path, `{"text":"x"}`},
	} {
		if got := s.Do(c.method, c.path, c.body).Want(http.StatusServiceUnavailable); got.Code() != "storage_unavailable" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %s", c.method, c.path, got.Body)
		}
	}
	broken := newServer(t, func(o *api.Options) { o.Store = nil })
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/hooks", ""},
		{"POST", "/api/hooks", `{"name":"x","chatJid":"` + string(grace) + `","template":"json"}`},
		{"GET", "/api/hooks/1", ""},
		{"PATCH", "/api/hooks/1", `{"name":"x"}`},
		{"DELETE", "/api/hooks/1", ""},
		{"POST", "/api/hooks/1/preview", `{"payload":1}`},
		{"POST", "/hooks/1.x", `{"text":"x"}`},
	} {
		broken.Do(c.method, c.path, c.body).Want(http.StatusInternalServerError)
	}
}
