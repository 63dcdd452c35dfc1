package waha

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/client"
	"bridged/internal/compat"
)

// A list of messages that memory should not hold is refused; nothing of it is left out.
func TestMessages_TooLongForOneAnswerAreRefused(t *testing.T) {
	page, err := json.Marshal(map[string]any{
		"jid": sofia, "messages": []any{map[string]any{"msgId": "A1", "messageType": "conversation", "content": strings.Repeat("x", 4<<20)}}, "nextCursor": "more",
	})
	if err != nil {
		t.Fatal(err)
	}
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })
	door := New(compat.Options{Client: client.InProcess(api, ""), Family: func(context.Context, string) (int64, bool) { return 1, true }, Log: zerolog.Nop()})
	for limit, want := range map[string]int{"3": http.StatusOK, "20": http.StatusBadRequest} {
		r := httptest.NewRequest(http.MethodGet, "/api/default/chats/34600100101@c.us/messages?limit="+limit, http.NoBody)
		r.Header.Set("X-Api-Key", "key")
		w := httptest.NewRecorder()
		if door.ServeHTTP(w, r); w.Code != want {
			t.Errorf("limit %s is answered %d with %d bytes, want %d", limit, w.Code, w.Body.Len(), want)
		}
	}
}
