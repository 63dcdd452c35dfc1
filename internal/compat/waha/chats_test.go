package waha

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/compat/compattest"
)

// A list of messages longer than memory should hold comes whole, page after page.
func TestMessages_LongListsComeWhole(t *testing.T) {
	page, err := json.Marshal(map[string]any{
		"jid": sofia, "messages": []any{map[string]any{"msgId": "A1", "messageType": "conversation", "content": strings.Repeat("x", 4<<20)}}, "nextCursor": "more",
	})
	if err != nil {
		t.Fatal(err)
	}
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })
	adapter := New(compat.Options{Client: client.InProcess(api, ""), Token: compattest.AnyToken, Log: zerolog.Nop()})
	for _, limit := range []int{3, 10} {
		r := httptest.NewRequest(http.MethodGet, "/api/default/chats/34600100101@c.us/messages?limit="+strconv.Itoa(limit), http.NoBody)
		r.Header.Set("X-Api-Key", "key")
		w := httptest.NewRecorder()
		adapter.ServeHTTP(w, r)
		var shown []struct{ ID string }
		if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil || w.Code != http.StatusOK || len(shown) != limit {
			t.Errorf("limit %d is answered %d with %d messages: %v", limit, w.Code, len(shown), err)
		}
	}
}
