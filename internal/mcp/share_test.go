package mcp

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// A token that makes more of its kind sends no more for that.
func TestSends_AreCountedForATokenWithThoseItMade(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, `{"name":"agent","scopes":["send"],"chats":["15550100301@s.whatsapp.net"]}`); err != nil {
			t.Error(err)
		}
	})
	families := map[string]int64{"parent": 7, "child": 7, "other": 8}
	s := New(Options{Client: client.InProcess(api, ""), SendsPerMinute: 3, Log: zerolog.Nop(), Family: func(_ context.Context, secret string) (int64, bool) {
		family, known := families[secret]
		return family, known
	}})
	for i, want := range []struct {
		secret string
		taken  bool
	}{{"parent", true}, {"child", true}, {"parent", true}, {"child", false}, {"parent", false}, {"other", true}} {
		c, err := s.caller(t.Context(), want.secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.takeSend(c.family); (err == nil) != want.taken {
			t.Errorf("send %d, of %s: %v", i, want.secret, err)
		}
	}
	if _, err := s.caller(t.Context(), "ended"); bridge.CodeOf(err) != bridge.CodeUnauthorized {
		t.Errorf("a token that has ended: %v", err)
	}
}
