package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

// BenchmarkPages measures pages of a group's history without the connection:
// from the request to the last byte of the answer.
func BenchmarkPages(b *testing.B) {
	st, err := store.Open(b.Context(), store.Options{Path: filepath.Join(b.TempDir(), "bridged.db"), Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			b.Error(err)
		}
	}()
	fillPages(b, st)
	handler := api.New(api.Options{Store: st, Account: newAccount(st), Token: token, Log: zerolog.Nop()})
	for _, limit := range []int{100, 1000} {
		b.Run(fmt.Sprint("newest=", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req := httptest.NewRequest(http.MethodGet, fmt.Sprint("/api/groups/", club, "/messages?limit=", limit), nil)
				req.Header.Set("Authorization", "Bearer "+token)
				resp := httptest.NewRecorder()
				handler.ServeHTTP(resp, req)
				if resp.Code != http.StatusOK {
					b.Fatal(resp.Code, resp.Body)
				}
				b.SetBytes(int64(resp.Body.Len()))
			}
		})
	}
}

// fillPages stores messages of forty people in one group: texts, every eighth
// an answer, every twelfth a picture, every twentieth with a reaction.
func fillPages(b *testing.B, st *store.Store) {
	b.Helper()
	for n := range 2000 {
		sender := bridge.JID(fmt.Sprintf("155500000%02d@s.whatsapp.net", n%40))
		m := say(club, sender, fmt.Sprint("M", n), fmt.Sprintf("Message %d, of the length that messages have, with „quotes“ and <some> others.", n), n)
		m.PushName = fmt.Sprint("Person ", n%40)
		if n%8 == 0 && n > 0 {
			quoted := fmt.Sprint("M", n-1)
			m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: &quoted, QuotedSenderJID: sender}
		}
		if n%12 == 0 {
			m.Media = &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Size: 80_000, Width: 1280, Height: 960}
		}
		facts := []bridge.Fact{m}
		if n%20 == 0 {
			facts = append(facts, bridge.ReactionChange{Chat: club, Target: m.ID, Sender: sender, Emoji: "👍", Timestamp: m.Timestamp})
		}
		if err := st.Save(b.Context(), facts...); err != nil {
			b.Fatal(err)
		}
	}
}
