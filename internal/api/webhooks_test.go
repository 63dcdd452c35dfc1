package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/urlguard"
	"bridged/internal/webhook"
)

// hooked is a served API whose webhooks run, and their receiver.
type hooked struct {
	*server
	receiver *hookReceiver
}

// newHooked serves the API over a dispatcher that runs until the test ends.
func newHooked(t *testing.T, changes ...func(*api.Options)) hooked {
	t.Helper()
	receiver := &hookReceiver{t: t, status: http.StatusOK, got: make(chan string, 100)}
	s := newServer(t, append(changes, func(o *api.Options) {
		o.Webhooks = webhook.New(webhook.Options{
			Store: o.Store, Guard: urlguard.New(urlguard.Options{}), Transport: receiver, Log: zerolog.Nop(),
			AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Resolver: lan{},
		})
		run(t, o.Webhooks)
	})...)
	return hooked{s, receiver}
}

// lan knows every name.
type lan struct{}

func (lan) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
}

func run(t *testing.T, d *webhook.Dispatcher) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// hookReceiver takes what is posted, in memory, and checks it against the
// document.
type hookReceiver struct {
	t      testing.TB
	mu     sync.Mutex
	status int
	got    chan string // bodies
}

func (r *hookReceiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *hookReceiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := apitest.CheckPosted(req, body); err != nil {
		r.t.Errorf("posted %s: %v", body, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got <- string(body)
	if r.status == 0 {
		return nil, errors.New("connection reset")
	}
	return &http.Response{StatusCode: r.status, Body: http.NoBody, Request: req}, nil
}

// shown is a webhook as the API shows it.
type shown struct {
	bridge.Webhook
	Chat   bridge.JID
	Secret string
}

func (h hooked) create(body object) (w shown) {
	h.t.Helper()
	h.Post("/api/webhooks", body).Want(http.StatusCreated).Decode(&w)
	return w
}

func (h hooked) get(id int64) (w shown) {
	h.t.Helper()
	h.Get(fmt.Sprint("/api/webhooks/", id)).Want(http.StatusOK).Decode(&w)
	return w
}

func (h hooked) deliveries(id int64, query string) (page struct {
	Count      int
	Deliveries []bridge.WebhookDelivery
	NextCursor *string
},
) {
	h.t.Helper()
	h.Get(fmt.Sprint("/api/webhooks/", id, "/deliveries", query)).Want(http.StatusOK).Decode(&page)
	return page
}

// until asks again until the webhook is as wanted.
func (h hooked) until(id int64, what string, reached func(shown) bool) shown {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		w := h.get(id)
		if reached(w) {
			return w
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s does not come: %+v", what, w)
		}
	}
}

type object = map[string]any

const public = "https://hooks.example.com/in"

func TestWebhooks_AreMadeShownChangedAndRemoved(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	made := h.create(object{"url": public, "types": []string{"message.created", "message.created"}, "chat": grace})
	if made.Secret == "" || made.AllowPrivate || !made.Enabled || len(made.Types) != 1 || made.Chat != grace || made.Source != bridge.WebhookFromAPI {
		t.Errorf("made: %+v", made)
	}
	path := fmt.Sprint("/api/webhooks/", made.ID)
	for _, later := range []string{path, "/api/webhooks", path + "/deliveries"} {
		if got := h.Get(later).Want(http.StatusOK); strings.Contains(string(got.Body), "whsec_") {
			t.Errorf("%s shows the secret: %s", later, got.Body)
		}
	}
	var changed shown
	got := h.Do(http.MethodPatch, path, `{"url":"http://n8n:5678/x","allowPrivate":true,"types":[],"chat":""}`).Want(http.StatusOK)
	got.Decode(&changed)
	if changed.URL != "http://n8n:5678/x" || !changed.AllowPrivate || len(changed.Types) != 0 || changed.Chat != "" || changed.Secret != "" {
		t.Errorf("changed: %s", got.Body)
	}
	h.Do(http.MethodPatch, path, `{"rotateSecret":true}`).Want(http.StatusOK).Decode(&changed)
	if changed.Secret == "" || changed.Secret == made.Secret {
		t.Errorf("rotated: %q, was %q", changed.Secret, made.Secret)
	}
	h.Do(http.MethodPatch, path, `{"enabled":false}`).Want(http.StatusOK)
	if h.get(made.ID).Enabled {
		t.Error("it is still on")
	}
	h.Do(http.MethodDelete, path, "").Want(http.StatusOK)
	var all struct{ Count int }
	h.Get("/api/webhooks").Want(http.StatusOK).Decode(&all)
	if all.Count != 0 {
		t.Errorf("%d are left", all.Count)
	}
}

func TestWebhooks_PostWhatTheStreamTells(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.know(say(grace, grace, "A1", "before", 1))
	h.create(object{"url": public, "types": []string{"message.created"}})
	h.know(say(grace, grace, "A2", "after", 2))
	var page struct{ Events []any }
	h.Get("/api/events?types=message.created").Want(http.StatusOK).Decode(&page)
	posted := <-h.receiver.got
	told := h.Get("/api/events?types=message.created").Body
	data := posted[strings.Index(posted, `"data":`)+len(`"data":`) : len(posted)-1]
	if !strings.Contains(string(told), data) || !strings.Contains(data, `"content":"after"`) {
		t.Errorf("posted %s\ntold %s", data, told)
	}
}

// Whatever is posted is one of the document's webhooks; the receiver checks
// each of them.
func TestWebhooks_PostWhatTheDocumentHas(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	w := h.create(object{"url": public})
	h.know(
		bridge.Owner{PN: me},
		members(club, "Readers", grace, alan),
		say(club, grace, "A1", "hello", 1),
		bridge.ReactionChange{Chat: club, Target: "A1", Sender: alan, Emoji: "👍", Timestamp: bridge.At(noon)},
		mine(club, "M1"), bridge.SendResult{Chat: club, ID: "M1", Status: bridge.DeliverySent},
		rings(grace, "C1"), ended(grace, "C1"),
		bridge.Status{Status: bridge.StateOpen, HasSession: true, Since: bridge.At(noon)},
		bridge.LabelChange{Label: bridge.Label{ID: "4", Name: "Paid"}, Timestamp: bridge.At(noon)},
	)
	later := bridge.Scheduled{ID: "L1", Chat: club, Status: bridge.ScheduledWaiting, SendAt: bridge.At(noon), CreatedAt: bridge.At(noon)}
	if err := h.store.AddScheduled(t.Context(), later, 0, nil); err != nil {
		t.Fatal(err)
	}
	if err := h.store.LogBackupFailure(t.Context(), "2026-11-21", bridge.BackupFailure{Error: "the disk is full"}); err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{
		"message.created": true, "message.updated": true, "message.status": true, "message.scheduled": true,
		"chat.updated": true, "group.updated": true, "label.updated": true, "call.created": true, "call.updated": true, "account.status": true, "backup.failed": true,
	}
	for len(missing) > 0 {
		delete(missing, typeOf(t, <-h.receiver.got))
	}
	if _, err := h.store.PruneEvents(t.Context(), time.Time{}, 1); err != nil {
		t.Fatal(err)
	}
	h.create(object{"url": public, "after": 1}) // behind the log's beginning
	if kind := typeOf(t, <-h.receiver.got); kind != "reset" {
		t.Errorf("first came %s", kind)
	}
	h.Do(http.MethodDelete, fmt.Sprint("/api/webhooks/", w.ID), "").Want(http.StatusOK)
}

func typeOf(t *testing.T, posted string) string {
	t.Helper()
	var payload struct{ Type string }
	if err := json.Unmarshal([]byte(posted), &payload); err != nil {
		t.Fatal(err)
	}
	return payload.Type
}

func TestWebhooks_MayBeginBeforeTheyWereMade(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.know(say(grace, grace, "A1", "one", 1), say(grace, grace, "A2", "two", 2))
	first := h.eventPage("?types=message.created&limit=1").NextCursor
	h.create(object{"url": public, "types": []string{"message.created"}, "after": first})
	if posted := <-h.receiver.got; !strings.Contains(posted, `"A2"`) {
		t.Errorf("first came %s", posted)
	}
	h.create(object{"url": public, "types": []string{"message.created"}, "after": 0})
	if posted := <-h.receiver.got; !strings.Contains(posted, `"A1"`) {
		t.Errorf("first came %s", posted)
	}
}

func TestWebhooks_ListWhatFailedAndPostItAgain(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.receiver.answers(http.StatusInternalServerError)
	w := h.create(object{"url": public, "types": []string{"message.created"}})
	h.know(say(grace, grace, "A1", "one", 1))
	failed := h.until(w.ID, "a failure", func(w shown) bool { return w.Pending == 1 && w.LastFailedAt != nil })
	if failed.LastError == nil || !strings.Contains(*failed.LastError, "500") || failed.LastFailedAt == nil {
		t.Errorf("shown as %+v", failed)
	}
	pending := h.deliveries(w.ID, "?status=pending").Deliveries
	if len(pending) != 1 || pending[0].NextAttemptAt == nil || *pending[0].ResponseStatus != 500 || pending[0].ChatJID != grace {
		t.Fatalf("pending: %+v", pending)
	}
	again := fmt.Sprint("/api/webhooks/", w.ID, "/deliveries/", pending[0].ID, "/redeliver")

	h.receiver.answers(http.StatusOK)
	h.Post(again, nil).Want(http.StatusOK) // pending: it is tried at once
	h.until(w.ID, "the delivery", func(w shown) bool { return w.Pending == 0 && w.LastDeliveredAt != nil })
	var d bridge.WebhookDelivery
	h.Post(again, nil).Want(http.StatusOK).Decode(&d) // delivered: it is posted once more
	if d.Status != bridge.WebhookDelivered || d.Attempts < 3 {
		t.Errorf("posted again: %+v", d)
	}
	h.receiver.answers(http.StatusNotFound)
	h.Post(again, nil).Want(http.StatusOK).Decode(&d)
	if d.Status != bridge.WebhookDead || *d.LastError != "the receiver answered 404 Not Found" {
		t.Errorf("posted again in vain: %+v", d)
	}
	if dead := h.deliveries(w.ID, "?status=dead&limit=1"); dead.Count != 1 || dead.NextCursor != nil {
		t.Errorf("dead: %+v", dead)
	}
}

func TestWebhooks_CanBeTested(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	w := h.create(object{"url": public, "enabled": false})
	path := fmt.Sprint("/api/webhooks/", w.ID, "/test")
	var tried webhook.Tried
	h.Post(path, nil).Want(http.StatusOK).Decode(&tried)
	if !tried.OK || !strings.Contains(<-h.receiver.got, "webhook.test") {
		t.Errorf("got %+v", tried)
	}
	h.receiver.answers(0)
	h.Post(path, nil).Want(http.StatusOK).Decode(&tried)
	if tried.OK || tried.Error == nil {
		t.Errorf("got %+v", tried)
	}
}

func TestWebhooks_RefuseWhatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	w := h.create(object{"url": public})
	path := fmt.Sprint("/api/webhooks/", w.ID)
	for body, sentence := range map[string]string{
		`{}`:                         "url is required",
		`{"url":1}`:                  "url must be a string",
		`{"url":"http://10.0.0.1/"}`: "allowPrivate",
		`{"url":"http://127.0.0.1/","allowPrivate":true}`:                            "WEBHOOK_ALLOW_PRIVATE",
		`{"url":"http://169.254.169.254/","allowPrivate":true}`:                      "WEBHOOK_ALLOW_PRIVATE",
		`{"url":"` + public + `","types":["x"]}`:                                     "types must be among",
		`{"url":"` + public + `","types":"message.created"}`:                         "types must be an array",
		`{"url":"` + public + `","chat":"nobody"}`:                                   "chat",
		`{"url":"` + public + `","chat":7}`:                                          "chat must be a string",
		`{"url":"` + public + `","chats":"nobody"}`:                                  "chats must be an array",
		`{"url":"` + public + `","chats":[7]}`:                                       "chats[0] must be a string",
		`{"url":"` + public + `","chats":["nobody"]}`:                                "chats",
		`{"url":"` + public + `","chats":[""]}`:                                      "chats",
		`{"url":"` + public + `","chats":[` + manyChats(1001) + `]}`:                 "chats must hold at most 1000 elements",
		`{"url":"` + public + `","chats":["status@broadcast"]}`:                      "chats",
		`{"url":"` + public + `","excludeChats":[null, "x"]}`:                        "excludeChats",
		`{"url":"` + public + `","excludeChats":{}}`:                                 "excludeChats must be an array",
		`{"url":"` + public + `","excludeChats":[` + manyChats(1001) + `]}`:          "excludeChats must hold at most 1000 elements",
		`{"url":"` + public + `","chatType":"groups"}`:                               "chatType must be all, group or individual",
		`{"url":"` + public + `","chatType":true}`:                                   "chatType must be a string",
		`{"url":"` + public + `","fromMe":"true"}`:                                   "fromMe must be true, false, or null for any",
		`{"url":"` + public + `","fromMe":1}`:                                        "fromMe must be true, false, or null for any",
		`{"url":"` + public + `","chats":[],"chat":"` + string(grace) + `"}`:         "give chats or chat",
		`{"url":"` + public + `","events":["message.created"]}`:                      "events is not a field",
		`{"url":"` + public + `","chats":[],"chats":["` + string(grace) + `"]}`:      "chats is given twice",
		`{"url":"` + public + `","chats":["` + string(grace) + `"],"chat_type":"x"}`: "chat_type is not a field",
		`{"url":"` + public + `","secret":"mine"}`:                                   "whsec_",
		`{"url":"` + public + `","after":-1}`:                                        "after must be",
		`{"url":"` + public + `","after":"soon"}`:                                    "after must be",
		`{"url":"` + public + `","rotateSecret":true}`:                               "rotateSecret is for existing webhooks only",
		`{"url":"` + public + `","enabled":"yes"}`:                                   "enabled must be true or false",
	} {
		got := h.Post("/api/webhooks", body).Want(http.StatusBadRequest)
		if !strings.Contains(got.Error(), sentence) {
			t.Errorf("%s: %q, want it to say %q", body, got.Error(), sentence)
		}
	}
	for body, sentence := range map[string]string{
		`{"url":"http://localhost/"}`: "allowPrivate",
		`{"after":0}`:                 "after is for new webhooks",
		`{"rotateSecret":true,"secret":"` + w.Secret + `"}`: "not both",
	} {
		got := h.Do(http.MethodPatch, path, body).Want(http.StatusBadRequest)
		if !strings.Contains(got.Error(), sentence) {
			t.Errorf("%s: %q, want it to say %q", body, got.Error(), sentence)
		}
	}
	h.Get(path + "/deliveries?status=lost").Want(http.StatusBadRequest)
	h.Get(path + "/deliveries?cursor=x").Want(http.StatusBadRequest)
	h.Do(http.MethodPatch, path, strings.Repeat(" ", 2<<20)+"{}").Want(http.StatusRequestEntityTooLarge)
	h.Post("/api/webhooks", strings.Repeat(" ", 2<<20)+"{}").Want(http.StatusRequestEntityTooLarge)
}

func TestWebhooks_OfTheEnvironmentAreChangedThere(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	w, err := h.store.AddWebhook(t.Context(), bridge.Webhook{
		URL: public, Secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", Enabled: true, Source: bridge.WebhookFromEnvironment,
	})
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprint("/api/webhooks/", w.ID)
	for _, got := range []string{
		h.Do(http.MethodPatch, path, `{"enabled":false}`).Want(http.StatusBadRequest).Error(),
		h.Do(http.MethodDelete, path, "").Want(http.StatusBadRequest).Error(),
	} {
		if !strings.Contains(got, "WEBHOOK_URL") {
			t.Errorf("the sentence does not say where: %q", got)
		}
	}
}

// webhookRoutes are all calls that name a webhook.
func webhookRoutes(id string) [][3]string {
	path := "/api/webhooks/" + id
	return [][3]string{
		{http.MethodGet, path, ""},
		{http.MethodPatch, path, `{"enabled":true}`},
		{http.MethodDelete, path, ""},
		{http.MethodPost, path + "/test", ""},
		{http.MethodGet, path + "/deliveries", ""},
		{http.MethodPost, path + "/deliveries/1/redeliver", ""},
	}
}

func TestWebhooks_ThatAreNotThere(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	for _, id := range []string{"9", "x", "0", "-1", "99999999999999999999"} {
		for _, r := range webhookRoutes(id) {
			if got := h.Do(r[0], r[1], r[2]).Want(http.StatusNotFound); got.Code() != "not_found" {
				t.Errorf("%s %s: %s", r[0], r[1], got.Code())
			}
		}
	}
	w := h.create(object{"url": public})
	h.Post(fmt.Sprint("/api/webhooks/", w.ID, "/deliveries/x/redeliver"), nil).Want(http.StatusNotFound)
}

// Nothing that breaks inside gets out, and a disk that cannot be written is
// told as one.
func TestWebhooks_FailuresOfTheService(t *testing.T) {
	t.Parallel()
	nothing := newServer(t, func(o *api.Options) { o.Store = nil })
	for _, r := range append(webhookRoutes("1"), [3]string{http.MethodGet, "/api/webhooks", ""}, [3]string{http.MethodPost, "/api/webhooks", `{"url":"` + public + `"}`}) {
		if got := nothing.Do(r[0], r[1], r[2]).Want(http.StatusInternalServerError); got.Code() != "internal" {
			t.Errorf("%s %s: %s", r[0], r[1], got.Code())
		}
	}

	h := newHooked(t)
	w := h.create(object{"url": public, "types": []string{"message.created"}})
	h.know(say(grace, grace, "A1", "one", 1))
	h.until(w.ID, "the delivery", func(w shown) bool { return w.LastDeliveredAt != nil })
	id := fmt.Sprint(h.deliveries(w.ID, "").Deliveries[0].ID)
	h.fault.Set(bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full"))
	defer h.fault.Set(nil)
	path := fmt.Sprint("/api/webhooks/", w.ID)
	h.Post("/api/webhooks", object{"url": public}).Want(http.StatusServiceUnavailable)
	h.Do(http.MethodPatch, path, `{"enabled":false}`).Want(http.StatusServiceUnavailable)
	h.Do(http.MethodDelete, path, "").Want(http.StatusServiceUnavailable)
	h.Post(path+"/deliveries/"+id+"/redeliver", nil).Want(http.StatusServiceUnavailable)
}

// A store that cannot be read or written is 503 on the webhooks' routes too.
func TestWebhooks_UnreadableStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	made := h.create(object{"url": public})
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprint("/api/webhooks/", made.ID)
	for _, r := range []struct{ method, path, body string }{
		{http.MethodGet, "/api/webhooks", ""},
		{http.MethodPost, "/api/webhooks", `{"url": "` + public + `"}`},
		{http.MethodGet, path, ""},
		{http.MethodPatch, path, `{"enabled": false}`},
		{http.MethodDelete, path, ""},
		{http.MethodPost, path + "/test", ""},
		{http.MethodGet, path + "/deliveries", ""},
		{http.MethodPost, path + "/deliveries/1/redeliver", ""},
	} {
		got := h.Do(r.method, r.path, r.body)
		if got.Status != http.StatusServiceUnavailable || got.Code() != "storage_unavailable" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s, Retry-After %q", r.method, r.path, got.Status, got.Body, got.Header.Get("Retry-After"))
		}
	}
}

// The verify token and the values of headers are shown to the caller that makes a webhook,
// and not again; a change that has them empty, as reads show them, leaves them as they are.
func TestWebhooks_ShowTheSecretsOfTheirOptionsOnce(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	var made struct {
		ID            int64
		FormatOptions bridge.FormatOptions
	}
	s.Post("/api/webhooks", object{"url": "https://example.org/x", "formatOptions": object{"headers": object{"jwt_key": "hidden", "X-Flow": "7"}}}).Want(http.StatusCreated).Decode(&made)
	if made.FormatOptions.Headers["jwt_key"] != "hidden" {
		t.Errorf("made with %v", made.FormatOptions)
	}
	at := fmt.Sprint("/api/webhooks/", made.ID)
	for _, answer := range []apitest.Response{
		s.Get(at), s.Get("/api/webhooks"), s.Do(http.MethodPatch, at, `{"enabled":false}`), s.Do(http.MethodPatch, at, `{"formatOptions":{"headers":{"jwt_key":"","X-Flow":"8"}}}`),
	} {
		if body := string(answer.Want(http.StatusOK).Body); strings.Contains(body, "hidden") || !strings.Contains(body, "jwt_key") {
			t.Errorf("shown as %s", body)
		}
	}
	stored, err := s.store.Webhook(t.Context(), made.ID)
	if err != nil || stored.Options.Headers["jwt_key"] != "hidden" || stored.Options.Headers["X-Flow"] != "8" {
		t.Errorf("stored as %v, %v", stored.Options, err)
	}
}

// With dryRun, a webhook is checked and not stored.
func TestWebhooks_ADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	s.Post("/api/webhooks", object{"url": "https://example.org/x", "dryRun": true}).Want(http.StatusOK)
	s.Post("/api/webhooks", object{"url": "nowhere", "dryRun": true}).Want(http.StatusBadRequest)
	var made struct{ ID int64 }
	s.Post("/api/webhooks", object{"url": "https://example.org/y"}).Want(http.StatusCreated).Decode(&made)
	at := fmt.Sprint("/api/webhooks/", made.ID)
	s.Do(http.MethodPatch, at, `{"url":"https://example.org/z","dryRun":true}`).Want(http.StatusOK)
	s.Do(http.MethodPatch, at, `{"url":"nowhere","dryRun":true}`).Want(http.StatusBadRequest)
	var list struct {
		Webhooks []struct{ URL string }
	}
	if s.Get("/api/webhooks").Want(http.StatusOK).Decode(&list); len(list.Webhooks) != 1 || list.Webhooks[0].URL != "https://example.org/y" {
		t.Errorf("stored: %+v", list)
	}
}

// The secrets of a webhook that another token made are not posted to an address of the
// caller's.
func TestWebhooks_SecretsStayWithTheirAddress(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	parent := s.token(`{"name":"parent","scopes":["manage","read"]}`)
	child := s.as(parent).token(`{"name":"child","scopes":["manage","read"]}`)
	var made struct{ ID int64 }
	s.as(child).Post("/api/webhooks", object{"url": "https://example.org/x", "formatOptions": object{"headers": object{"X-Key": "hidden"}}}).Want(http.StatusCreated).Decode(&made)
	at := fmt.Sprint("/api/webhooks/", made.ID)
	for _, body := range []string{`{"url":"https://else.example/"}`, `{"url":"https://else.example/","formatOptions":{"headers":{"X-Key":""}}}`} {
		if got := s.as(parent).Do(http.MethodPatch, at, body).Want(http.StatusBadRequest); !strings.Contains(string(got.Body), "secrets") {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	s.as(parent).Do(http.MethodPatch, at, `{"url":"https://else.example/","formatOptions":{"headers":{"X-Key":"another"}}}`).Want(http.StatusOK)
	s.as(child).Do(http.MethodPatch, at, `{"url":"https://example.org/y"}`).Want(http.StatusOK)
}
