package webhook

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
)

func TestExpiredToken_EndsItsWebhook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		end := bridge.At(time.Now().Add(time.Hour))
		token, err := b.store.AddToken(t.Context(), bridge.Token{Name: "x", Hash: []byte("h"), Scopes: bridge.Scopes(), Chats: []bridge.JID{grace}, ExpiresAt: &end})
		if err != nil {
			t.Fatal(err)
		}
		r, _ := b.receive("n8n", func(w *bridge.Webhook) { w.Token = token.ID })
		b.say(alan, "B", 0, 2)
		b.say(grace, "A", 0, 2)
		synctest.Wait()
		want(t, "before the end, of the token's chat", r.accepted(""), named("A", 0, 2))
		r.answers(always(http.StatusBadGateway))
		b.say(grace, "A", 2, 4)
		time.Sleep(time.Hour)
		r.answers(always(http.StatusOK))
		b.say(grace, "A", 4, 6)
		time.Sleep(time.Hour)
		want(t, "after the end", r.accepted(""), named("A", 0, 2))
	})
}
