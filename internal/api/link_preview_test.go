package api_test

import (
	"context"
	"net/http"
	"testing"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

// A text shows a page where it asks for it, or where all do; a repeated call fetches none.
func TestSend_LinkPreviews(t *testing.T) {
	t.Parallel()
	shown := &bridge.Preview{LinkPreview: bridge.LinkPreview{URL: "https://example.org", Title: "Example"}, Thumbnail: []byte("jpeg")}
	for name, byDefault := range map[string]bool{"off": false, "on": true} {
		t.Run(name, func(t *testing.T) {
			fetched := 0
			s := newServer(t, func(o *api.Options) {
				o.LinkPreviews = byDefault
				o.Preview = func(_ context.Context, text string) *bridge.Preview {
					if fetched++; text == "nothing there" {
						return nil
					}
					return shown
				}
			})
			last := func() *bridge.Preview {
				sent := s.account.sent()
				return sent[len(sent)-1].Content.(bridge.Text).Preview
			}
			link := with(text(grace, "see https://example.org"), "linkPreview", true)
			for range 2 {
				s.Post("/api/messages/send", link, "Idempotency-Key", "once").Want(http.StatusOK)
			}
			if fetched != 1 || last() != shown || len(s.account.sent()) != 1 {
				t.Errorf("fetched %d times, for %d messages with %+v", fetched, len(s.account.sent()), last())
			}
			s.Post("/api/messages/send", with(text(grace, "nothing there"), "linkPreview", true)).Want(http.StatusOK)
			if fetched != 2 || last() != nil {
				t.Errorf("fetched %d times: %+v", fetched, last())
			}
			s.Post("/api/messages/send", with(text(grace, "see https://example.org"), "linkPreview", false)).Want(http.StatusOK)
			if fetched != 2 || last() != nil {
				t.Errorf("fetched %d times, though it was not to be: %+v", fetched, last())
			}
			s.Post("/api/messages/send", with(text(grace, "see https://example.org"), "linkPreview", nil)).Want(http.StatusOK)
			if got := last() == shown; got != byDefault {
				t.Errorf("without the field it shows a page: %v", got)
			}
			s.Post("/api/messages/send", with(link, "linkPreview", "yes")).Want(http.StatusBadRequest)
			before := fetched
			s.account.closed()
			s.Post("/api/messages/send", link).Want(http.StatusServiceUnavailable)
			if fetched != before {
				t.Error("a page was fetched for a message that could not leave")
			}
		})
	}
}
