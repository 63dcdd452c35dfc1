package evolution

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// Sends that wait for the delay that they ask for do not hold the reservation of their
// bodies: more of them wait than bodies of this size may be read at once, and another one is
// sent meanwhile. Those that wait are bounded themselves.
func TestDelay_HoldsNoReservationOfBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var typing, sent atomic.Int32
		api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/typing"):
				typing.Add(1)
				_, _ = io.WriteString(w, `{}`)
			case r.Method == http.MethodPost:
				sent.Add(1)
				_, _ = io.WriteString(w, `{"chatJid":"15550100301@s.whatsapp.net","msgId":"3EB0A1","timestamp":"2026-11-21T08:25:30Z"}`)
			default:
				_, _ = io.WriteString(w, `{"account":{"jid":"15550001111@s.whatsapp.net"}}`)
			}
		})
		adapter := New(compat.Options{Client: client.InProcess(api, ""), Instance: "bridged", Log: zerolog.Nop(), Token: func(context.Context, string) (bridge.Token, bool) {
			return bridge.Token{ID: 7, Tree: 7, Scopes: bridge.Scopes()}, true
		}})
		send := func(delay, size int) int {
			body := fmt.Sprintf(`{"number":"15550100301","text":"x","delay":%d,"ignored":"%s"}`, delay, strings.Repeat("x", size))
			r := httptest.NewRequest(http.MethodPost, "/message/sendText/bridged", strings.NewReader(body))
			r.Header.Set("apikey", "key")
			w := httptest.NewRecorder()
			adapter.ServeHTTP(w, r)
			return w.Code
		}
		began := time.Now()
		var waiting sync.WaitGroup
		for range 30 {
			waiting.Go(func() {
				if status := send(10_000, 100<<10); status != http.StatusCreated {
					t.Errorf("one that waits: %d", status)
				}
			})
		}
		synctest.Wait()
		if typing.Load() != 30 {
			t.Errorf("%d of 30 wait for their delay", typing.Load())
		}
		if status := send(0, 100<<10); status != http.StatusCreated || time.Since(began) != 0 {
			t.Errorf("one without a delay: %d after %v", status, time.Since(began))
		}
		if status := send(1000, 1000<<10); status != http.StatusTooManyRequests {
			t.Errorf("one that waits, too many: %d", status)
		}
		waiting.Wait()
		if sent.Load() != 31 {
			t.Errorf("%d are sent, want 31", sent.Load())
		}
	})
}
