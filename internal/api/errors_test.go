package api_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

func TestErrors_UnknownRoutesHaveTheErrorBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, path := range []string{"/", "/nothing", "/api", "/api/", "/api/nothing", "/api/messages", "/readyz/nothing", "/API/chats"} {
		if got := s.Get(path).Want(http.StatusNotFound); got.Code() != "not_found" {
			t.Errorf("GET %s: code %q", path, got.Code())
		}
	}
	for _, method := range []string{"BREW", http.MethodOptions, http.MethodTrace} {
		s.Do(method, "/api/nothing", "").Want(http.StatusNotFound)
	}
}

func TestErrors_WrongMethodNamesTheRightOnes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for path, allow := range map[string]string{
		"/healthz":                        "GET, HEAD",
		"/readyz":                         "GET, HEAD",
		"/api/chats":                      "GET, HEAD",
		"/api/groups/1%40g.us/messages":   "GET, HEAD",
		"/api/auth/pair":                  "POST",
		"/api/messages/send":              "POST",
		"/api/messages/individual/1%40s.": "GET, HEAD",
	} {
		for _, method := range []string{http.MethodDelete, http.MethodPatch, "BREW"} {
			got := s.Do(method, path, "").Want(http.StatusMethodNotAllowed)
			if got.Header.Get("Allow") != allow || got.Code() != "method_not_allowed" {
				t.Errorf("%s %s: Allow %q, want %q; code %q", method, path, got.Header.Get("Allow"), allow, got.Code())
			}
		}
	}
}

func TestErrors_HeadIsAnsweredLikeGet(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.Do(http.MethodHead, "/api/chats", "").Want(http.StatusOK)
	if len(got.Body) != 0 || got.Header.Get("Content-Length") == "0" {
		t.Errorf("body %q, Content-Length %s", got.Body, got.Header.Get("Content-Length"))
	}
	s.Do(http.MethodHead, "/api/auth/pair", "").Want(http.StatusMethodNotAllowed)
}

// An unexpected failure is told to the log, not to the caller.
func TestErrors_HideTheCause(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.account.reconnect = func(context.Context) error { return errors.New("secret cause") }
	got := s.Post("/api/auth/reconnect", nil).Want(http.StatusInternalServerError)
	if got.Code() != "internal" || strings.Contains(string(got.Body), "secret") {
		t.Errorf("body %s", got.Body)
	}
	if n := strings.Count(s.log.String(), "secret cause"); n != 1 {
		t.Errorf("the cause is in the log %d times, want once", n)
	}
	if id := got.Header.Get("X-Request-Id"); id == "" || !strings.Contains(s.log.String(), id) {
		t.Errorf("request id %q is not in the log", id)
	}
}

func TestErrors_CauseOfAKnownErrorStaysInside(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.account.reconnect = func(context.Context) error {
		return bridge.Fail(bridge.CodeNoSession, "pair first").Because(errors.New("secret cause"))
	}
	got := s.Post("/api/auth/reconnect", nil).Want(http.StatusConflict)
	if got.Error() != "pair first" || got.Code() != "no_session" {
		t.Errorf("body %s", got.Body)
	}
}

func TestErrors_PanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var none []int
	for says, fault := range map[string]func(){
		"index out of range":                func() { none[len(none)]++ },
		"panic of type string":              func() { panic("what Grace wrote") },
		"panic of type *errors.errorString": func() { panic(errors.New("what Grace wrote")) },
	} {
		s.account.reconnect = func(context.Context) error { fault(); return nil }
		got := s.Post("/api/auth/reconnect", nil).Want(http.StatusInternalServerError)
		if got.Code() != "internal" {
			t.Errorf("code %q", got.Code())
		}
		if log := s.log.String(); !strings.Contains(log, says) || !strings.Contains(log, "errors_test.go") {
			t.Errorf("%s and the stack are not in the log:\n%s", says, log)
		}
	}
	if log := s.log.String(); strings.Contains(log, "Grace") {
		t.Errorf("content is in the log:\n%s", log)
	}
	s.Get("/healthz").Want(http.StatusOK)
}

func TestErrors_RetryAfterRoundsUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.account.send = func(context.Context, bridge.Outgoing) (bridge.Sent, error) {
		return bridge.Sent{}, &bridge.Error{Code: bridge.CodeRateLimited, Msg: "slow down", RetryAfter: 1100 * time.Millisecond}
	}
	got := s.Post("/api/messages/send", text(grace, "hi")).Want(http.StatusTooManyRequests)
	if got.Header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q, want 2", got.Header.Get("Retry-After"))
	}
}

// A caller that hangs up is nobody's fault.
func TestErrors_CallerThatWentAwayIsNoFailure(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	caller, hangUp := context.WithCancel(t.Context())
	s.account.reconnect = func(ctx context.Context) error {
		hangUp()
		return fmt.Errorf("reconnect: %w", ctx.Err())
	}
	got := s.inProcess(caller, "/api/auth/reconnect", "")
	if got.Code != 499 || got.Body.Len() != 0 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if log := s.log.String(); strings.Contains(log, "request failed") || !strings.Contains(log, `"status":499`) {
		t.Errorf("log: %s", log)
	}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if got := s.inProcess(gone, "/api/messages/send", `{"jid":"15557654321@s.whatsapp.net","text":"hi","quotedMsgId":"X"}`); got.Code != 499 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// Whatever the account refuses leaves with its code's status, on every route
// that asks the account.
func TestErrors_EveryRefusalOfTheAccountHasItsStatus(t *testing.T) {
	t.Parallel()
	pairing := map[bridge.Code]int{
		bridge.CodeInvalid: 400, bridge.CodeAlreadyPaired: 409, bridge.CodeOtherAccount: 409, bridge.CodeRateLimited: 429,
		bridge.CodeNotConnected: 503, bridge.CodeStorageUnavailable: 503, bridge.CodeInternal: 500,
	}
	passkey := map[bridge.Code]int{bridge.CodeInvalid: 400, bridge.CodeAlreadyPaired: 409, bridge.CodeNotConnected: 503, bridge.CodeInternal: 500}
	session := map[bridge.Code]int{bridge.CodeNotConnected: 503, bridge.CodeStorageUnavailable: 503, bridge.CodeInternal: 500}
	sending := map[bridge.Code]int{
		bridge.CodeNotOnNetwork: 400, bridge.CodeNotInGroup: 400, bridge.CodeRateLimited: 429, bridge.CodeReachoutRestricted: 429, bridge.CodeNewChatsLimited: 429,
		bridge.CodeMediaGone: 500, bridge.CodeInternal: 500, bridge.CodeSendRefused: 502,
		bridge.CodeNotConnected: 503, bridge.CodeStorageUnavailable: 503, bridge.CodeSendTimeout: 504,
	}
	reading := map[bridge.Code]int{bridge.CodeNotConnected: 503, bridge.CodeStorageUnavailable: 503, bridge.CodeSendTimeout: 504, bridge.CodeInternal: 500}
	changing := map[bridge.Code]int{
		bridge.CodeRateLimited: 429, bridge.CodeInternal: 500, bridge.CodeSendRefused: 502,
		bridge.CodeNotConnected: 503, bridge.CodeStorageUnavailable: 503, bridge.CodeSendTimeout: 504,
	}
	blocking := maps.Clone(changing)
	blocking[bridge.CodeNotOnNetwork] = 400
	codes := map[string]map[bridge.Code]int{
		"PATCH /api/contacts/" + string(grace):             changing,
		"POST /api/contacts/" + string(grace) + "/block":   blocking,
		"DELETE /api/contacts/" + string(grace) + "/block": blocking,
		"PATCH /api/chats/" + string(grace):                changing,
		"PUT /api/chats/" + string(grace) + "/labels/4":    changing,
		"DELETE /api/chats/" + string(grace) + "/labels/4": changing,
		"PUT " + ownPath + "/labels/4":                     changing,
		"DELETE " + ownPath + "/labels/4":                  changing,
		"POST " + ownPath + "/star":                        changing,
		"DELETE " + ownPath + "/star":                      changing,
		"DELETE /api/chats/" + string(grace):               changing,
		"POST /api/chats/" + string(grace) + "/clear":      changing,
		"POST /api/chats/" + string(grace) + "/read":       reading,
		"POST /api/auth/pair":                              pairing, "POST /api/auth/passkey": passkey, "POST /api/auth/reconnect": session, "POST /api/auth/logout": session,
		"POST /api/chats/" + string(grace) + "/history": session,
	}
	s := stocked(t)
	for _, r := range everyRoute {
		of, named := codes[r.method+" "+r.path]
		if r.sends && !named {
			of = sending
		}
		for code, status := range of {
			s.account.refuseAll(bridge.Fail(code, "as the network says"))
			s.expect(r, r.body, "refused by the account", status, string(code))
		}
	}
}

// Nothing that breaks inside gets out, on any route.
func TestErrors_PanicAnywhereIsAnInternalError(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *api.Options) { o.Store, o.Account = nil, nil })
	for _, r := range everyRoute {
		if r.path != "/readyz" && r.path != "/metrics" {
			s.expect(r, r.body, "with nothing behind it", 500, "internal")
		}
	}
}

// The limit of bodies is the same on every route that takes one.
func TestErrors_LargeBodiesAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, r := range everyRoute {
		if r.body != "" && !r.isForm() { // whose files may be larger
			s.expect(r, r.body+strings.Repeat(" ", 1<<20), "too large", 413, "payload_too_large")
		}
	}
}

// Answers are JSON for programs and people, not text inside of a page.
func TestErrors_SentencesAreNotEscapedForHTML(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	got := s.WithToken("").Get("/api/chats").Want(http.StatusUnauthorized)
	if !strings.Contains(string(got.Body), "Bearer <BRIDGE_TOKEN>") {
		t.Errorf("body %s", got.Body)
	}
	s.know(bridge.Message{
		Chat: grace, ID: "PIC", SenderJID: grace, MessageType: "imageMessage", Content: "<b>&", Timestamp: bridge.At(noon), Raw: []byte{1},
		Media: &bridge.Media{Type: bridge.MediaImage, MimeType: "image/png", Caption: "<b>&"},
	})
	for _, path := range []string{graceHistory, "/api/events?types=message.created", "/api/messages/media-info/15557654321%40s.whatsapp.net/PIC"} {
		got := s.Get(path).Want(http.StatusOK)
		if !strings.Contains(string(got.Body), `"caption":"<b>&"`) || strings.Contains(string(got.Body), `\u003c`) {
			t.Errorf("%s: %s", path, got.Body)
		}
	}
	live := s.stream("?after=0&types=message.created", "")
	for {
		got, err := live.next()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got.data, "PIC") {
			if !strings.Contains(got.data, `"caption":"<b>&"`) {
				t.Errorf("event %s", got.data)
			}
			return
		}
	}
}

// A store that cannot be read is 503 on every route that reads it, and says
// when to ask again.
func TestErrors_UnreadableStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	reading := 0
	for _, r := range everyRoute {
		onlyNetwork := strings.HasPrefix(r.path, "/api/groups/invites/") || r.method+" "+r.path == "GET /api/account/privacy"
		if strings.HasPrefix(r.path, "/api/auth/") || r.path == "/metrics" || onlyNetwork {
			continue
		}
		reading++
		body := r.body
		if r.sends && strings.HasPrefix(r.missing, "{") || r.isForm() {
			body = r.missing // reads what it refers to
		}
		headers := r.headers
		if r.sends || r.gated || r.own {
			headers = append([]string{"Idempotency-Key", "k" + r.path}, headers...)
		}
		got := s.Do(r.method, r.path, body, headers...)
		if got.Status != http.StatusServiceUnavailable || got.Code() != "storage_unavailable" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s, Retry-After %q", r.method, r.path, got.Status, got.Body, got.Header.Get("Retry-After"))
		}
	}
	if reading < 14 {
		t.Errorf("%d routes", reading)
	}
}
