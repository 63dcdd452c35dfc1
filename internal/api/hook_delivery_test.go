package api_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

// delivered is the answer to a delivery.
type delivered struct {
	OK, Sent  bool
	Duplicate bool
	MsgID     *string
	Reason    *string
}

// texts returns what was sent so far.
func (s *server) texts() (texts []string) {
	for _, out := range s.account.sent() {
		texts = append(texts, out.Content.(bridge.Text).Text)
	}
	return texts
}

const pushed = `{"ref":"refs/heads/main","commits":[],"repository":{"full_name":"engines/mill"},"sender":{"login":"ada"}}`

func TestDelivery_SignedPushArrivesOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook("template", "gitea", "secret", "hush")
	service := s.WithToken("") // no bearer
	headers := func(id, body string) []string {
		return []string{"X-Gitea-Event", "push", "X-Gitea-Delivery", id, "X-Gitea-Signature", hex.EncodeToString(hooks.Sign("hush", []byte(body)))}
	}
	var first, again delivered
	service.Post(made.Path, pushed, headers("d1", pushed)...).Want(http.StatusOK).Decode(&first)
	got := service.Post(made.Path, pushed, headers("d2", pushed)...).Want(http.StatusOK) // another id, as Gitea delivers again
	got.Decode(&again)
	if !first.Sent || first.Duplicate || again.Sent || !again.Duplicate || *first.MsgID != *again.MsgID ||
		got.Header.Get("Idempotency-Replayed") != "true" || first.Reason != nil || again.Reason == nil {
		t.Errorf("first %+v, again %s", first, got.Body)
	}
	if strings.Contains(string(got.Body), grace.User()) {
		t.Errorf("the sender is told the chat: %s", got.Body)
	}
	other := strings.Replace(pushed, "ada", "eve", 1)
	for name, headers := range map[string][]string{"no signature": headers("d2", other)[:4], "a wrong one": headers("d2", pushed)} {
		if got := service.Post(made.Path, other, headers...).Want(http.StatusUnauthorized); got.Code() != "signature_invalid" {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	service.Post(made.Path, other, headers("d1", other)...).Want(http.StatusOK)
	if texts := s.texts(); len(texts) != 2 || texts[0] != "*engines/mill*\nada pushed to *main*" {
		t.Errorf("sent %q", texts)
	}
	s.Do(http.MethodPatch, hookRoute(made), `{"rotateKey":true}`).Want(http.StatusOK).Decode(&made)
	service.Post(made.Path, pushed, headers("d1", pushed)...).Want(http.StatusOK)
	if n := len(s.texts()); n != 2 {
		t.Errorf("%d messages after another address: the delivery was known", n)
	}
	tried := `{"before":"b1ffeb7","after":"b1ffeb7","repository":{"full_name":"engines/mill"},"sender":{"login":"ada"}}`
	for _, id := range []string{"t1", "t2", "t2"} {
		service.Post(made.Path, tried, headers(id, tried)...).Want(http.StatusOK)
	}
	if texts := s.texts(); len(texts) != 3 || texts[2] != "*engines/mill*\nada tries this hook out" {
		t.Errorf("tried out: %q", texts[2:])
	}
}

// TestDelivery_SignedOnesAreTheirEventAndBody of every service, for a day, whatever
// id or name they come under.
func TestDelivery_SignedOnesAreTheirEventAndBody(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, name := range hooks.Names() {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
			made := s.hook("template", name, "secret", "hush")
			body, event := payloadOf(t, name)
			post := func(body string, more ...string) (got delivered) {
				t.Helper()
				at := fmt.Sprint(now.Unix())
				headers := []string{"X-Hub-Signature-256", "sha256=" + hex.EncodeToString(hooks.Sign("hush", []byte(body)))}
				if name == "grafana" {
					headers = []string{"X-Grafana-Alerting-Timestamp", at, "X-Grafana-Alerting-Signature", hex.EncodeToString(hooks.Sign("hush", []byte(at+":"+body)))}
				}
				s.WithToken("").Post(made.Path, body, append(append(headers, "X-GitHub-Event", event), more...)...).Want(http.StatusOK).Decode(&got)
				return got
			}
			first := post(body, "X-GitHub-Delivery", "1")
			if !first.Sent || first.Duplicate || first.MsgID == nil {
				t.Fatalf("the first: %+v", first)
			}
			for _, more := range [][]string{
				nil, {"X-GitHub-Delivery", "2"}, {"X-Gitea-Delivery", "3"}, {"Idempotency-Key", "4"}, {"Webhook-Id", "5"}, {"Content-Type", "text/plain"}, {"X-Forgejo-Delivery", "6", "Content-Type", "application/json"},
			} {
				now = now.Add(time.Minute) // beyond what is one group of alerts
				if again := post(body, more...); again.Sent || !again.Duplicate || again.MsgID == nil || *again.MsgID != *first.MsgID || again.Reason == nil {
					t.Errorf("again with %q: %+v", more, again)
				}
			}
			now = now.Add(20 * time.Minute)
			if again := post(body); again.Sent || !again.Duplicate {
				t.Errorf("after a while: %+v", again)
			}
			if other := post(body + "\n"); !other.Sent || other.Duplicate || *other.MsgID == *first.MsgID {
				t.Errorf("another body: %+v", other)
			}
			if n := len(s.texts()); n != 2 {
				t.Errorf("%d messages", n)
			}
		})
	}
}

// payloadOf returns a payload of a service, and its event.
func payloadOf(t *testing.T, service string) (body, event string) {
	t.Helper()
	file := map[string]string{"alertmanager": "firing", "gitea": "push", "github": "push", "grafana": "firing", "json": "*", "uptime-kuma": "*"}[service]
	if file == "" {
		return `{"backup":"done"}`, ""
	}
	files, err := filepath.Glob("../hooks/testdata/" + service + "/" + file + ".json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no payload of %s: %v", service, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), "push"
}

// TestDelivery_ASignedPayloadIsOneInAnyForm: Gitea signs what its form carries, so
// that anybody who saw it could send it on as JSON, or with other escapes.
func TestDelivery_ASignedPayloadIsOneInAnyForm(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook("template", "gitea", "secret", "hush")
	signature := hex.EncodeToString(hooks.Sign("hush", []byte(pushed)))
	const form = "application/x-www-form-urlencoded"
	for i, c := range []struct{ kind, body string }{
		{form, "payload=" + url.QueryEscape(pushed)}, {form, "payload=" + url.PathEscape(pushed)}, {"application/json", pushed}, {"text/plain", pushed},
	} {
		var got delivered
		s.WithToken("").Post(made.Path, c.body, "Content-Type", c.kind, "X-Gitea-Event", "push", "X-Gitea-Signature", signature).Want(http.StatusOK).Decode(&got)
		if got.Sent != (i == 0) || got.Duplicate != (i > 0) {
			t.Errorf("%s as %s: %+v", c.body[:12], c.kind, got)
		}
	}
}

// TestDelivery_OldTimesAreRefused: Grafana signs when it posts.
func TestDelivery_OldTimesAreRefused(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	made := s.hook("template", "grafana", "secret", "hush")
	body, _ := payloadOf(t, "grafana")
	at := fmt.Sprint(now.Unix())
	headers := []string{"X-Grafana-Alerting-Timestamp", at, "X-Grafana-Alerting-Signature", hex.EncodeToString(hooks.Sign("hush", []byte(at+":"+body)))}
	now = now.Add(6 * time.Minute)
	if got := s.WithToken("").Post(made.Path, body, headers...).Want(http.StatusUnauthorized); got.Code() != "signature_invalid" {
		t.Errorf("got %s", got.Body)
	}
}

// An id that names two bodies is refused.
func TestDelivery_AnotherBodyUnderAnID(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook()
	s.Post(made.Path, `{"text":"a"}`, "X-GitHub-Delivery", "d1").Want(http.StatusOK)
	if got := s.Post(made.Path, `{"text":"b"}`, "X-GitHub-Delivery", "d1").Want(http.StatusUnprocessableEntity); got.Code() != "idempotency_mismatch" || strings.Contains(string(got.Body), "Idempotency-Key") {
		t.Errorf("got %s", got.Body)
	}
}

func TestDelivery_FormsAndTexts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	code, text := s.hook("template", "github"), s.hook("template", "text")
	const form = "payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%2C%22repository%22%3A%7B%22full_name%22%3A%22a%2Fb%22%7D%2C%22sender%22%3A%7B%22login%22%3A%22ada%22%7D%7D"
	s.Post(code.Path, form, "Content-Type", "application/x-www-form-urlencoded", "X-GitHub-Event", "push").Want(http.StatusOK)
	s.Post(text.Path, "*Backup* done", "Content-Type", "text/plain").Want(http.StatusOK)
	s.Post(text.Path, "*Backup* done", "Content-Type", "application/x-www-form-urlencoded").Want(http.StatusOK)
	want := "[*a/b*\nada pushed to *main* *Backup* done *Backup* done]"
	if got := fmt.Sprint(s.texts()); got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestDelivery_NothingToSayIsAnswered(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook("template", "github")
	for event, reason := range map[string]string{"ping": "ping", "watch": "nothing to say", "": "nothing to say"} {
		var got delivered
		s.Post(made.Path, `{"zen":"x"}`, "X-GitHub-Event", event).Want(http.StatusOK).Decode(&got)
		if got.Sent || got.MsgID != nil || got.Reason == nil || !strings.Contains(*got.Reason, reason) {
			t.Errorf("%q: %+v", event, got)
		}
	}
	var got delivered
	s.Post(s.hook().Path, `{"text":""}`).Want(http.StatusOK).Decode(&got)
	if got.Sent {
		t.Errorf("an empty text: %+v", got)
	}
	if texts := s.texts(); texts != nil {
		t.Errorf("sent %q", texts)
	}
}

// A delivery that did not become a message is never answered with 200: its
// sender may try again, and it is one message then.
func TestDelivery_IsRefusedWhereNothingWasSent(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook()
	post := func(id string) (int, string) {
		got := s.Post(made.Path, `{"text":"hi"}`, "webhook-id", id)
		return got.Status, got.Code()
	}
	for code, status := range map[bridge.Code]int{
		bridge.CodeNotOnNetwork: 400, bridge.CodeNotInGroup: 400, bridge.CodeNotAChat: 400, bridge.CodeRateLimited: 429, bridge.CodeReachoutRestricted: 429,
		bridge.CodeInternal: 500, bridge.CodeSendRefused: 502, bridge.CodeStorageUnavailable: 503, bridge.CodeSendTimeout: 504,
	} {
		s.account.refuseAll(bridge.Fail(code, "%s is not there", grace))
		if gotStatus, gotCode := post(string(code)); gotStatus != status || gotCode != string(code) {
			t.Errorf("%s: %d %s", code, gotStatus, gotCode)
		}
	}
	s.account.refuseAll(bridge.Fail(bridge.CodeNotOnNetwork, "%s is not there", grace))
	got := s.Post(made.Path, `{"text":"hi"}`)
	if strings.Contains(string(got.Body), grace.User()) {
		t.Errorf("the sender is told the number: %s", got.Body)
	}
	s.account.closed()
	got = s.Post(made.Path, `{"text":"hi"}`, "webhook-id", "later")
	if got.Status != http.StatusServiceUnavailable || got.Code() != "not_connected" || got.Header.Get("Retry-After") == "" {
		t.Errorf("not connected: %d %s", got.Status, got.Body)
	}
	s.account.ready = func() error { return nil }
	s.account.send = s.account.accept
	for range 2 {
		if status, _ := post("later"); status != http.StatusOK {
			t.Errorf("later: %d", status)
		}
	}
	if texts := s.texts(); len(texts) == 0 || texts[len(texts)-1] != "hi" {
		t.Errorf("sent %q", texts)
	}
	for body, code := range map[string]string{`{`: "invalid_request", strings.Repeat("[", 40): "invalid_request"} {
		if got := s.Post(made.Path, body).Want(http.StatusBadRequest); got.Code() != code {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	s.Post(made.Path, `{"text":"`+strings.Repeat("x", 1<<20)+`"}`).Want(http.StatusRequestEntityTooLarge)
	if got := s.Post(made.Path, `{"text":"`+strings.Repeat("x", 70_000)+`"}`).Want(http.StatusBadRequest); got.Code() != "template_failed" {
		t.Errorf("too long: %s", got.Body)
	}
}

func TestDelivery_GateIsShut(t *testing.T) {
	t.Parallel()
	s := newServer(t, sendDisabled)
	made := s.hook("secret", "hush")
	s.Post(made.Path, `{"text":"hi"}`, "Authorization", "Bearer x").Want(http.StatusUnauthorized)
	if got := s.Post(made.Path, `{"text":"hi"}`, "Authorization", "Bearer hush").Want(http.StatusForbidden); got.Code() != "send_disabled" {
		t.Errorf("got %s", got.Body)
	}
}

// Two deliveries at the same time are one message.
func TestDelivery_AtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook()
	began, goOn := make(chan struct{}), make(chan struct{})
	accept := s.account.send
	s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		close(began)
		<-goOn
		return accept(ctx, out)
	}
	first := make(chan int)
	go func() { first <- s.Post(made.Path, `{"text":"hi"}`, "X-GitHub-Delivery", "d1").Status }()
	<-began
	if got := s.Post(made.Path, `{"text":"hi"}`, "X-GitHub-Delivery", "d1").Want(http.StatusConflict); got.Code() != "request_in_progress" {
		t.Errorf("got %s", got.Body)
	}
	close(goOn)
	if status := <-first; status != http.StatusOK {
		t.Errorf("the first: %d", status)
	}
	if n := len(s.texts()); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// Alerts that go on are told again after a while, but a repeated try is not.
func TestDelivery_AlertsAreToldAgainLater(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(10 * time.Minute).Add(9 * time.Minute)
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	made := s.hook("template", "alertmanager")
	const firing = `{"groupKey":"g","status":"firing","alerts":[{"status":"firing","annotations":{"summary":"down"}}],"externalURL":"http://am.example"}`
	for i, step := range []struct {
		after    time.Duration
		messages int
	}{{0, 1}, {time.Minute, 1}, {8 * time.Minute, 1}, {30 * time.Minute, 2}} {
		now = now.Add(step.after)
		s.Post(made.Path, firing).Want(http.StatusOK)
		if n := len(s.texts()); n != step.messages {
			t.Errorf("step %d: %d messages, want %d", i, n, step.messages)
		}
	}
}

func TestDelivery_SixtyAMinute(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	made, other := s.hook("template", "github"), s.hook("template", "github")
	for range 60 {
		s.Post(made.Path, `{}`).Want(http.StatusOK)
	}
	got := s.Post(made.Path, `{}`).Want(http.StatusTooManyRequests)
	if got.Code() != "rate_limited" || got.Header.Get("Retry-After") != "1" {
		t.Errorf("got %s, Retry-After %s", got.Body, got.Header.Get("Retry-After"))
	}
	s.Post(other.Path, `{}`).Want(http.StatusOK)
	now = now.Add(2 * time.Second)
	s.Post(made.Path, `{}`).Want(http.StatusOK)
}

// A hook shows what became of its last delivery.
func TestDelivery_IsNoted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook("secret", "hush")
	read := func() (hook bridge.Hook) {
		t.Helper()
		s.Get(hookRoute(made)).Want(http.StatusOK).Decode(&hook)
		return hook
	}
	s.Post(made.Path, `{"text":"hi"}`, "Authorization", "").Want(http.StatusUnauthorized)
	if hook := read(); hook.LastFailedAt == nil || hook.LastError == nil || !strings.Contains(*hook.LastError, "has a secret") || hook.LastDeliveryAt != nil {
		t.Errorf("refused: %+v", hook)
	}
	s.Post(made.Path, `{"text":"hi"}`, "Authorization", "Bearer hush").Want(http.StatusOK)
	if hook := read(); hook.LastDeliveryAt == nil || hook.LastError != nil || hook.LastFailedAt == nil {
		t.Errorf("accepted: %+v", hook)
	}
}

// The time of a delivery is noted to the minute, but not as one before the hook was made.
func TestDelivery_IsNotedNoEarlierThanItsHookWasMade(t *testing.T) {
	t.Parallel()
	now := noon
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	made := s.hook()
	created := made.CreatedAt.Time
	for _, c := range []struct {
		later time.Duration
		shown time.Time
	}{
		{time.Millisecond, created},
		{90 * time.Second, created.Add(90 * time.Second).Truncate(time.Minute)},
	} {
		now = created.Add(c.later)
		s.Post(made.Path, `{"text":"hi"}`).Want(http.StatusOK)
		var hook bridge.Hook
		s.Get(hookRoute(made)).Want(http.StatusOK).Decode(&hook)
		if hook.LastDeliveryAt == nil || !hook.LastDeliveryAt.Equal(c.shown) {
			t.Errorf("made at %v, delivered %v later: delivered at %v", created, c.later, hook.LastDeliveryAt)
		}
	}
}

// Neither the key nor the secret of a hook is in the log or in the metrics,
// wherever a proxy, or somebody who copied a part, puts them.
func TestDelivery_KeysStayOutOfTheLog(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook("secret", "a-secret-of-the-hook")
	key := made.Path[strings.Index(made.Path, ".")+1:]
	for _, path := range []string{
		made.Path, made.Path + "/", made.Path + "?key=" + key, "/bridge" + made.Path, "/HOOKS/1." + key, "//hooks//1." + key, "/hooks/" + key,
		"/hooks/1%2E" + key, "/hooks/1." + key[:20], "/hooks/1." + key + "/extra/" + key, "/hooks/x" + key, "/hooks%2F1." + key, "/hooks%252F1." + key, "/h/1." + key,
	} {
		s.Post(path, `{"text":"hi"}`, "Authorization", "Bearer a-secret-of-the-hook")
		s.Get(path)
	}
	s.account.closed()
	s.Post(made.Path, `{"text":"hi"}`, "Authorization", "Bearer a-secret-of-the-hook").Want(http.StatusServiceUnavailable)
	for what, text := range map[string]string{"log": s.log.String(), "metrics": string(s.Get("/metrics").Want(http.StatusOK).Body)} {
		for _, secret := range []string{key, key[:20], "a-secret-of-the-hook"} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s has %q:\n%s", what, secret, text)
			}
		}
	}
	if !strings.Contains(s.log.String(), fmt.Sprintf(`"path":"/hooks/%d…"`, made.ID)) {
		t.Errorf("the log does not name the hook:\n%s", s.log)
	}
}

// A hook ends with the token that made it.
func TestDelivery_EndsWithItsToken(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	maker := s.token(`{"name":"maker","scopes":["manage","send"],"expiresAt":"2126-01-01T00:00:00Z"}`)
	made := s.as(maker).hook()
	s.Post(made.Path, `{"text":"hi"}`).Want(http.StatusOK)
	now = time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Post(made.Path, `{"text":"hi"}`).Want(http.StatusNotFound)
	if n := len(s.texts()); n != 1 {
		t.Errorf("%d messages", n)
	}
}
