package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

// A name means one field, in one spelling, once.
func TestBody_NamesMatchExactly(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.Post("/api/messages/send", `{"jid":"`+string(grace)+`","JID":"`+string(alan)+`","Text":"no","text":"hi"}`).Want(http.StatusOK)
	if got := s.account.sent()[0]; got.To != grace || got.Content != (bridge.Text{Text: "hi"}) {
		t.Errorf("sent %+v", got)
	}
	for body, says := range map[string]string{
		`{"JID":"` + string(grace) + `","text":"hi"}`:                             "jid is required",
		`{"jid":"` + string(grace) + `","text":"a","jid":"` + string(alan) + `"}`: "jid is given twice",
		`{"jid":"` + string(grace) + `","text":"a","j\u0069d":null}`:              "jid is given twice",
		`{"jid":"` + string(grace) + `","text":"a","x":[{"y":{"z":1,"z":2}}]}`:    "x[0].y.z is given twice",
		`{"text":"a","a b\u001b":1,"a b\u001b":1}`:                                `"a b\x1b" is given twice`,
	} {
		if got := s.Post("/api/messages/send", body).Want(http.StatusBadRequest); got.Error() != says {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	got := s.Post("/api/messages/send-contact",
		`{"jid":"`+string(grace)+`","contacts":[{"displayName":"A"},{"displayName":"B","phone":"15557654321","phone":"447700900123"}]}`)
	if got.Status != http.StatusBadRequest || got.Error() != "contacts[1].phone is given twice" {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// The contract's routes ignore what they do not know; the others say so, lest a
// misspelt filter be taken for none.
func TestBody_UnknownNamesOfWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for body, says := range map[string]string{
		`{"url":"https://example.com/hook","events":["message.created"]}`: "events is not a field of this request",
		`{"url":"https://example.com/hook","Types":["message.created"]}`:  "Types is not a field of this request",
	} {
		if got := s.Post("/api/webhooks", body).Want(http.StatusBadRequest); got.Error() != says {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	s.Post("/api/messages/send", `{"jid":"`+string(grace)+`","text":"hi","events":[]}`).Want(http.StatusOK)
}

func TestBody_LimitsHoldWhileDecoding(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	to := `{"jid":"` + string(grace) + `",`
	for name, test := range map[string]struct{ route, body, says string }{
		"contacts":    {"send-contact", to + `"contacts":[{}` + strings.Repeat(`,{}`, 300_000) + `]}`, "contacts must hold at most 1024 elements"},
		"options":     {"send-poll", to + `"name":"?","values":[""` + strings.Repeat(`,""`, 300_000) + `]}`, "values must hold at most 1024 elements"},
		"mentions":    {"send", to + `"text":"hi","mentions":[""` + strings.Repeat(`,""`, 300_000) + `]}`, "mentions must hold at most 1024 elements"},
		"depth":       {"send", to + `"x":` + strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40) + `}`, "nests deeper than 32 levels"},
		"great depth": {"send", to + `"x":` + strings.Repeat(`{"x":`, 9_000) + `1` + strings.Repeat(`}`, 9_000) + `}`, "nests deeper than 32 levels"},
		"members":     {"send", `{"x":{` + manyMembers(2_000) + `}}`, "x has more than 1000 members"},
		"long name":   {"send", `{"` + strings.Repeat("x", 500_000) + `":1,"` + strings.Repeat("x", 500_000) + `":1}`, "a name in the body has more than 1000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Post("/api/messages/"+test.route, test.body).Want(http.StatusBadRequest)
			if !strings.Contains(got.Error(), test.says) || len(got.Error()) > 500 {
				t.Errorf("%s", got.Body)
			}
		})
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.Repeat("a", i%7) + string(rune('A'+i%26)) + strings.Repeat("b", i/182) + `":1`)
	}
	return b.String()
}

// What a body of 1 MiB may cost while it is decoded, whatever is in it.
func TestBody_CostsAFewTimesItsSize(t *testing.T) {
	handler := api.New(api.Options{Account: newAccount(nil), Token: token, EnableSend: true, Log: zerolog.Nop()})
	const most = 8 << 20
	for name, body := range map[string]string{
		"contacts":    `{"jid":"` + string(grace) + `","contacts":[{}` + strings.Repeat(`,{}`, 340_000) + `]}`,
		"unknown":     `{"x":[{}` + strings.Repeat(`,{}`, 340_000) + `]}`,
		"members":     `{"x":[{` + strings.Repeat(`"a":1},{`, 120_000) + `}]}`,
		"no UTF-8":    `{"x":"` + "\xff" + strings.Repeat(`x`, 1_000_000) + `"}`,
		"no JSON":     `{"x":[` + strings.Repeat(`[`, 1_000_000),
		"a long name": `{"` + strings.Repeat("x", 1_000_000) + `":1}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got := inProcess(t.Context(), handler, "/api/messages/send-contact", body); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; cost > most {
			t.Errorf("%s: %d KiB for a body of %d KiB", name, cost>>10, len(body)>>10)
		} else {
			t.Logf("%s: %d KiB for a body of %d KiB", name, cost>>10, len(body)>>10)
		}
	}
}

// Bodies that have come, and not those that were announced, take their memory in
// turn. Large ones that come slowly hold up no small one, and who hangs up while
// waiting is let go.
func TestBody_WaitForTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := api.New(api.Options{Account: newAccount(nil), Token: token, EnableSend: true, Log: zerolog.Nop()})
		release := make(chan struct{})
		reading := make(chan struct{}, 100)
		answers := make(chan int, 100)
		post := func(ctx context.Context, size int64, body io.Reader) {
			req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/messages/send", body)
			req.ContentLength = size
			req.Header.Set("Authorization", "Bearer "+token)
			got := httptest.NewRecorder()
			handler.ServeHTTP(got, req)
			answers <- got.Code
		}
		ctx, hangUp := context.WithCancel(t.Context())
		for range 20 {
			announced := &slowBody{reading: make(chan struct{}, 1), release: release}
			go post(ctx, 1<<20, announced)
			go post(ctx, 1<<20, io.MultiReader(strings.NewReader(strings.Repeat(" ", 256<<10)), &slowBody{reading: reading, release: release}))
		}
		synctest.Wait()
		if n := len(reading); n != 8 {
			t.Errorf("%d bodies of 1 MiB are read at once, want 8", n)
		}
		post(t.Context(), 2, &slowBody{reading: make(chan struct{}, 1), release: closed()})
		if code := <-answers; code != http.StatusBadRequest {
			t.Errorf("a small body is answered %d", code)
		}
		hangUp()
		synctest.Wait()
		if n := len(answers); n != 12 {
			t.Errorf("%d of 12 who waited are let go", n)
		}
		close(release)
	})
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// slowBody reads as {} once it is released.
type slowBody struct {
	reading chan<- struct{}
	release <-chan struct{}
	rest    *strings.Reader
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.rest == nil {
		b.reading <- struct{}{}
		<-b.release
		b.rest = strings.NewReader("{}")
	}
	return b.rest.Read(p)
}
