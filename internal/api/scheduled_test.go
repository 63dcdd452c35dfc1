package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/schedule"
	"bridged/internal/store"
)

// newSchedule returns scheduled messages that nothing sends at their time.
func newSchedule(t *testing.T, st *store.Store, acc *account) *schedule.Schedule {
	t.Helper()
	s, err := schedule.New(context.Background(), schedule.Options{Store: st, Account: acc, Dir: t.TempDir(), Grace: time.Hour, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// in returns a time from now on, as callers write it.
func in(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }

// scheduledList is the answer of GET /api/scheduled.
type scheduledList struct {
	Scheduled  []bridge.ScheduledMessage
	NextCursor *string
}

func (s *server) scheduled(query string) (list scheduledList) {
	s.t.Helper()
	s.Get("/api/scheduled" + query).Want(http.StatusOK).Decode(&list)
	return list
}

// unscheduled returns a stocked server without a scheduled message.
func unscheduled(t *testing.T) *server {
	s := stocked(t)
	if _, err := s.store.CancelScheduled(t.Context(), "LATER"); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) cancel(id string) apitest.Response {
	s.t.Helper()
	return s.Do(http.MethodDelete, "/api/scheduled/"+id, "")
}

func (s *server) patch(id string, body map[string]any) apitest.Response {
	s.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Do(http.MethodPatch, "/api/scheduled/"+id, string(encoded))
}

// schedule schedules a text and returns its id.
func (s *server) schedule(body map[string]any, headers ...string) string {
	s.t.Helper()
	var answer struct{ MsgID string }
	s.Post("/api/messages/send", body, headers...).Want(http.StatusOK).Decode(&answer)
	return answer.MsgID
}

// TestScheduled_EachRouteThatSends stores its message until its time, also while the account is not connected.
func TestScheduled_EachRouteThatSends(t *testing.T) {
	s := unscheduled(t)
	s.account.ready = func() error { return bridge.NotConnected("not now") }
	at := in(time.Hour)
	for route, body := range map[string]map[string]any{
		"send":          text(grace, "good morning"),
		"send-location": {"jid": grace, "latitude": 51.5194, "longitude": -0.127, "name": "British Museum"},
		"send-poll":     {"jid": grace, "name": "When", "values": []string{"Monday", "Tuesday"}},
		"send-contact":  {"jid": grace, "contacts": []any{map[string]any{"displayName": "Ada"}}},
		"forward":       {"sourceChatJid": club, "sourceMsgId": "G1", "destJid": grace},
	} {
		var answer struct {
			MsgID             string
			SendAt, Timestamp bridge.Time
			ChatJID           bridge.JID
		}
		s.Post("/api/messages/"+route, with(body, "sendAt", at)).Want(http.StatusOK).Decode(&answer)
		if answer.MsgID == "" || answer.ChatJID != grace || !answer.SendAt.After(answer.Timestamp.Time) {
			t.Errorf("%s: %+v", route, answer)
		}
	}
	list := s.scheduled("").Scheduled
	if len(list) != 5 || len(s.account.sent()) != 0 {
		t.Errorf("%d are scheduled, %d were sent", len(list), len(s.account.sent()))
	}
	shown := make(map[bridge.ScheduledType]string)
	for _, m := range list {
		shown[m.Type] = m.Content
		s.Get("/api/scheduled/" + m.ID).Want(http.StatusOK)
	}
	for kind, content := range map[bridge.ScheduledType]string{"text": "good morning", "location": "British Museum", "poll": "When", "contact": "Ada", "forward": ""} {
		if shown[kind] != content {
			t.Errorf("%s shows %q", kind, shown[kind])
		}
	}
	s.Get("/api/chats/" + string(grace)).Want(http.StatusOK)
	var chat struct{ Messages []bridge.Message }
	s.Get("/api/messages/individual/" + string(grace) + "?q=morning").Want(http.StatusOK).Decode(&chat)
	if len(chat.Messages) != 0 {
		t.Errorf("the chat lists %+v", chat.Messages)
	}
}

func TestScheduled_RefusesBadTimes(t *testing.T) {
	s := unscheduled(t)
	for at, says := range map[string]string{
		in(-time.Minute): "in the future", in(367 * 24 * time.Hour): "a year ahead", "2026-11-21": "zone", "tomorrow": "zone", "2026-11-21T08:15:30": "zone",
	} {
		got := s.Post("/api/messages/send", with(text(grace, "hi"), "sendAt", at)).Want(http.StatusBadRequest)
		if !strings.Contains(got.Error(), "sendAt") || !strings.Contains(got.Error(), says) {
			t.Errorf("%s: %s", at, got.Error())
		}
	}
	s.Post("/api/messages/send", with(text(grace, "hi"), "sendAt", 5)).Want(http.StatusBadRequest)
	s.Post("/api/messages/react", map[string]any{"chatJid": club, "msgId": "G1", "emoji": "👍", "sendAt": in(time.Hour)}).Want(http.StatusBadRequest)
	s.Post("/api/messages/send", with(with(text(grace, "hi"), "sendAt", in(time.Hour)), "quotedMsgId", "NONE")).Want(http.StatusNotFound)
	limited := s.token(`{"name":"brief","scopes":["send"],"expiresAt":"` + in(time.Hour) + `"}`)
	got := s.as(limited).Post("/api/messages/send", with(text(grace, "hi"), "sendAt", in(2*time.Hour))).Want(http.StatusBadRequest)
	if !strings.Contains(got.Error(), "expires") {
		t.Error(got.Error())
	}
}

// TestScheduled_RepeatsAnswerTheSame before the message is sent, after it was cancelled, and after its time.
func TestScheduled_RepeatsAnswerTheSame(t *testing.T) {
	s := unscheduled(t)
	body, key := with(text(grace, "hi"), "sendAt", in(time.Hour)), []string{"Idempotency-Key", "k"}
	first := s.Post("/api/messages/send", body, key...).Want(http.StatusOK)
	for range 2 {
		again := s.Post("/api/messages/send", body, key...).Want(http.StatusOK)
		if !bytes.Equal(again.Body, first.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s, then %s", first.Body, again.Body)
		}
		for _, m := range s.scheduled("").Scheduled {
			s.cancel(m.ID).Want(http.StatusOK)
		}
	}
	if n := len(s.scheduled("").Scheduled); n != 0 {
		t.Errorf("%d are scheduled", n)
	}
	s.Post("/api/messages/send", with(body, "text", "another"), key...).Want(http.StatusUnprocessableEntity)
}

func TestScheduled_CanBeChanged(t *testing.T) {
	s := unscheduled(t)
	id := s.schedule(with(with(text(grace, "hello @15557654321 and all"), "mentions", []string{string(grace)}), "sendAt", in(time.Hour)))
	s.patch(id, map[string]any{"text": "bye @15557654321", "sendAt": in(2 * time.Hour)}).Want(http.StatusOK)
	m := s.scheduled("").Scheduled[0]
	if m.Content != "bye @15557654321" || len(m.Mentions) != 1 || time.Until(m.SendAt.Time) < 90*time.Minute {
		t.Errorf("%+v", m)
	}
	s.patch(id, map[string]any{"text": "bye"}).Want(http.StatusOK)
	if m = s.scheduled("").Scheduled[0]; m.Content != "bye" || len(m.Mentions) != 0 {
		t.Errorf("%+v", m)
	}
	for _, bad := range []map[string]any{{}, {"sendAt": ""}, {"text": ""}, {"mentions": []string{}}, {"sendAt": in(-time.Hour)}, {"colour": "red"}} {
		s.patch(id, bad).Want(http.StatusBadRequest)
	}
	place := struct{ MsgID string }{}
	s.Post("/api/messages/send-location", map[string]any{"jid": grace, "latitude": 1, "longitude": 1, "sendAt": in(time.Hour)}).Want(http.StatusOK).Decode(&place)
	if got := s.patch(place.MsgID, map[string]any{"text": "x"}).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "location") {
		t.Error(got.Error())
	}
	s.patch("NONE", map[string]any{"text": "x"}).Want(http.StatusNotFound)
}

// TestScheduled_SendNow sends a message once, under the id that it always had.
func TestScheduled_SendNow(t *testing.T) {
	s := unscheduled(t)
	id := s.schedule(with(text(grace, "hi"), "sendAt", in(time.Hour)))
	s.account.ready = func() error { return bridge.NotConnected("not now") }
	s.Post("/api/scheduled/"+id+"/send", nil).Want(http.StatusServiceUnavailable)
	s.account.ready = func() error { return nil }
	for range 2 {
		var answer struct{ MsgID string }
		s.Post("/api/scheduled/"+id+"/send", nil, "Idempotency-Key", "now").Want(http.StatusOK).Decode(&answer)
		if answer.MsgID != id {
			t.Errorf("id %s, not %s", answer.MsgID, id)
		}
	}
	s.Post("/api/scheduled/"+id+"/send", nil).Want(http.StatusNotFound)
	if sent := s.account.sent(); len(sent) != 1 || sent[0].ID != id || len(s.scheduled("").Scheduled) != 0 {
		t.Errorf("sent %+v", sent)
	}
}

// TestScheduled_EventsSayWhatHappened, the last one without the content that was cancelled.
func TestScheduled_EventsSayWhatHappened(t *testing.T) {
	s := unscheduled(t)
	id := s.schedule(with(text(grace, "a secret"), "sendAt", in(time.Hour)))
	read := func() (page struct{ Events []bridge.Event }) {
		s.Get("/api/events?types=message.scheduled").Want(http.StatusOK).Decode(&page)
		return page
	}
	if events := read().Events; len(events) != 2 || events[1].Scheduled.Content != "a secret" || events[1].ChatJID != grace {
		t.Errorf("%+v", events)
	}
	s.cancel(id).Want(http.StatusOK)
	events := read().Events
	if events = events[1:]; len(events) != 1 || events[0].Scheduled.ID != id || events[0].Scheduled.Status != bridge.ScheduledCancelled || events[0].Scheduled.Content != "" {
		t.Errorf("%+v", events)
	}
}

// TestScheduled_LimitedTokens see and change the messages of their chats only.
func TestScheduled_LimitedTokens(t *testing.T) {
	s := unscheduled(t)
	here := s.schedule(with(text(grace, "here"), "sendAt", in(time.Hour)))
	there := s.schedule(with(text(alan, "there"), "sendAt", in(time.Hour)))
	limited := s.as(s.token(`{"name":"desk","scopes":["read","send"],"chats":["` + string(grace) + `"]}`))
	var list scheduledList
	limited.Get("/api/scheduled").Want(http.StatusOK).Decode(&list)
	if len(list.Scheduled) != 1 || list.Scheduled[0].ID != here {
		t.Errorf("%+v", list)
	}
	unknown := limited.Get("/api/scheduled/NONE").Want(http.StatusNotFound).Error()
	for _, got := range []apitest.Response{
		limited.Get("/api/scheduled/" + there), limited.cancel(there),
		limited.patch(there, map[string]any{"text": "x"}), limited.Post("/api/scheduled/"+there+"/send", nil),
	} {
		if got.Want(http.StatusNotFound).Error() != strings.Replace(unknown, "NONE", there, 1) {
			t.Errorf("it differs from an unknown one: %s", got.Error())
		}
	}
	limited.Get("/api/scheduled?chat=" + string(alan)).Want(http.StatusNotFound)
	reader := s.as(s.token(`{"name":"reader","scopes":["read"]}`))
	reader.cancel(here).Want(http.StatusForbidden)
	s.schedule(with(text(grace, "later"), "sendAt", in(2*time.Hour)))
	page := s.scheduled("?limit=2")
	if len(page.Scheduled) != 2 || page.NextCursor == nil {
		t.Fatalf("%+v", page)
	}
	if rest := s.scheduled("?limit=2&cursor=" + *page.NextCursor); len(rest.Scheduled) != 1 || rest.Scheduled[0].Content != "later" || rest.NextCursor != nil {
		t.Errorf("%+v", rest)
	}
	if one := s.scheduled("?chat=" + string(alan)).Scheduled; len(one) != 1 || one[0].ID != there {
		t.Errorf("%+v", one)
	}
}

// TestScheduled_QuotaOfATokenTree leaves room for others, whatever the smallest token schedules. A change by
// another token counts for that one.
func TestScheduled_QuotaOfATokenTree(t *testing.T) {
	usual := bridge.Scheduling
	bridge.Scheduling = bridge.ScheduledQuota{Count: 8, CreatedCount: 5, TreeCount: 3, Bytes: 4 << 20, CreatedBytes: 1 << 20, TreeBytes: 600 << 10}
	defer func() { bridge.Scheduling = usual }()
	s := unscheduled(t)
	clients := make([]*server, 2)
	for i := range clients {
		clients[i] = s.as(s.token(fmt.Sprintf(`{"name":"t%d","scopes":["send"],"chats":["%s"]}`, i, grace)))
	}
	small, large := with(text(grace, "x"), "sendAt", in(time.Hour)), with(text(grace, strings.Repeat("ö", 65536)), "sendAt", in(time.Hour))
	post := func(c *server, body any) int { return c.Post("/api/messages/send", body).Status }
	for range 3 {
		if status := post(clients[0], large); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	for name, want := range map[string]int{"the fourth of a token": post(clients[0], small), "another's first": post(clients[1], small), "another's second": post(clients[1], small)} {
		if (want == http.StatusOK) != strings.HasPrefix(name, "another") {
			t.Errorf("%s: %d", name, want)
		}
	}
	if status := post(clients[1], small); status != http.StatusBadRequest {
		t.Errorf("the sixth of all tokens: %d", status)
	}
	for range 3 {
		s.schedule(small)
	}
	if got := s.Post("/api/messages/send", small).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "cancel some") {
		t.Error(got.Error())
	}
	for _, m := range s.scheduled("").Scheduled {
		s.patch(m.ID, map[string]any{"text": "y"}).Want(http.StatusOK)
	}
	s.cancel(s.scheduled("").Scheduled[0].ID).Want(http.StatusOK)
	if status := post(clients[0], small); status != http.StatusOK {
		t.Errorf("after its messages became those of another: %d", status)
	}
}

// TestScheduled_FilesAreStoredAtOnce, once for a message, and erased with it.
func TestScheduled_FilesAreStoredAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := newServer(t, func(o *api.Options) {
		later, err := schedule.New(t.Context(), schedule.Options{Store: o.Store, Account: o.Account, Dir: dir, Grace: time.Hour, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		o.Schedule = later
	})
	var answer struct{ MsgID string }
	s.upload([]string{"jid", string(grace), "caption", "one", "sendAt", in(time.Hour), "file", paper}).Want(http.StatusOK).Decode(&answer)
	if names := filesIn(t, dir); len(names) != 1 || names[0] != answer.MsgID {
		t.Fatalf("files %v", names)
	}
	if names := filesIn(t, s.tmp); len(names) != 0 {
		t.Errorf("temporary files %v", names)
	}
	if m := s.scheduled("").Scheduled[0]; m.Type != "document" || m.Media.Size != int64(len("the words of a paper")) || m.Content != "one" {
		t.Errorf("%+v", m)
	}
	s.patch(answer.MsgID, map[string]any{"text": "two"}).Want(http.StatusOK)
	s.Post("/api/scheduled/"+answer.MsgID+"/send", nil).Want(http.StatusOK)
	if file := s.account.sent()[0].Content.(bridge.File); file.Caption != "two" || file.Size != int64(len("the words of a paper")) {
		t.Errorf("%+v", file)
	}
	if names := filesIn(t, dir); len(names) != 0 {
		t.Errorf("files %v", names)
	}
	s.upload([]string{"jid", string(grace), "sendAt", "later", "file", paper}).Want(http.StatusBadRequest)
}

// filesIn returns the names of the files in a directory.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestScheduled_RefusesWhileItIsBeingSent, so that a change is either sent or refused.
func TestScheduled_RefusesWhileItIsBeingSent(t *testing.T) {
	s := unscheduled(t)
	id := s.schedule(with(text(grace, "hi"), "sendAt", in(time.Hour)))
	begun, release := make(chan struct{}), make(chan struct{})
	s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		close(begun)
		<-release
		return s.account.accept(ctx, out)
	}
	sent := make(chan apitest.Response, 1)
	go func() { sent <- s.Post("/api/scheduled/"+id+"/send", nil) }()
	<-begun
	for _, got := range []apitest.Response{s.patch(id, map[string]any{"text": "x"}), s.cancel(id), s.Post("/api/scheduled/"+id+"/send", nil)} {
		if got.Want(http.StatusConflict).Code() != "already_sending" {
			t.Errorf("%s", got.Body)
		}
	}
	close(release)
	(<-sent).Want(http.StatusOK)
}

// TestScheduled_AFailureLeavesItAsItWas, whatever fails.
func TestScheduled_AFailureLeavesItAsItWas(t *testing.T) {
	s := unscheduled(t)
	id := s.schedule(with(text(grace, "hi"), "sendAt", in(time.Hour)))
	other := s.schedule(with(text(grace, "hi"), "sendAt", in(time.Hour)))
	now := "/api/scheduled/" + id + "/send"
	fails := func(code bridge.Code) {
		s.account.send = func(context.Context, bridge.Outgoing) (bridge.Sent, error) {
			return bridge.Sent{}, bridge.Fail(code, "as the network says")
		}
	}
	for code, status := range map[bridge.Code]int{
		bridge.CodeNotOnNetwork: 400, bridge.CodeRateLimited: 429, bridge.CodeSendRefused: 502, bridge.CodeSendTimeout: 504, bridge.CodeInternal: 500,
	} {
		fails(code)
		s.Post(now, nil).Want(status)
	}
	fails(bridge.CodeInternal)
	s.Post(now, nil, "Idempotency-Key", "k").Want(500)
	s.Post("/api/scheduled/"+other+"/send", nil, "Idempotency-Key", "k").Want(http.StatusUnprocessableEntity)
	large := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	s.Do(http.MethodPatch, "/api/scheduled/"+id, large).Want(http.StatusRequestEntityTooLarge)
	s.Do(http.MethodPost, now, large).Want(http.StatusRequestEntityTooLarge)
	s.cancel("~!").Want(http.StatusBadRequest)
	s.Get("/api/scheduled/~!").Want(http.StatusBadRequest)
	s.fault.Set(errors.New("no more room"))
	s.cancel(id).Want(http.StatusInternalServerError)
	s.patch(id, map[string]any{"text": "x"}).Want(http.StatusInternalServerError)
	s.fault.Set(nil)
	if m := s.scheduled("").Scheduled[0]; m.Content != "hi" || m.Status != bridge.ScheduledWaiting || m.Begun {
		t.Errorf("%+v", m)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	s.cancel(id).Want(http.StatusServiceUnavailable)
	s.patch(id, map[string]any{"text": "x"}).Want(http.StatusServiceUnavailable)
}
