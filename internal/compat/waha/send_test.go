package waha

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/compat/compattest"
)

// Whatever becomes unavailable once a message is sent, the caller hears that it is: one that
// heard of a failure would send it again.
func TestSend_IsAnsweredOnceItIsSent(t *testing.T) {
	for _, call := range []struct{ method, path, body string }{
		{"POST", "/api/sendText", `{"chatId":"15550100301@c.us","text":"x"}`},
		{"POST", "/api/sendImage", `{"chatId":"15550100301@c.us","file":{"url":"https://example.org/a.png"}}`},
		{"PUT", "/api/reaction", `{"messageId":"false_15550100301@c.us_A1","reaction":"👍"}`},
		{"PUT", "/api/default/chats/15550100301@c.us/messages/A1", `{"text":"y"}`},
	} {
		sent := 0
		bridge := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method != http.MethodGet:
				sent++
				_, _ = io.WriteString(w, `{"chatJid":"15550100301@s.whatsapp.net","msgId":"3EB0A1","timestamp":"2026-11-21T08:25:30Z"}`)
			case sent > 0:
				http.Error(w, `{"error":"too many requests","code":"rate_limited"}`, http.StatusTooManyRequests)
			default:
				_, _ = io.WriteString(w, `{"account":{"jid":"15550001111@s.whatsapp.net"}}`)
			}
		})
		adapter := New(compat.Options{
			Client: client.InProcess(bridge, ""), Token: compattest.AnyToken, Log: zerolog.Nop(),
		})
		r := httptest.NewRequest(call.method, call.path, strings.NewReader(call.body))
		r.Header.Set("X-Api-Key", "key")
		w := httptest.NewRecorder()
		adapter.ServeHTTP(w, r)
		if sent != 1 || w.Code > 299 || !strings.Contains(w.Body.String(), "true_15550100301@c.us_3EB0A1") {
			t.Errorf("%s %s: sent %d times, answered %d %s", call.method, call.path, sent, w.Code, w.Body)
		}
	}
}
