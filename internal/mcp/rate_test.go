package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

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
	s := New(Options{Client: client.InProcess(api, ""), SendsPerMinute: 3, Log: zerolog.Nop(), Token: func(_ context.Context, secret string) (bridge.Token, bool) {
		tree, known := families[secret]
		return bridge.Token{ID: tree, Tree: tree}, known
	}})
	for i, want := range []struct {
		secret string
		taken  bool
	}{{"parent", true}, {"child", true}, {"parent", true}, {"child", false}, {"parent", false}, {"other", true}} {
		c, err := s.caller(t.Context(), want.secret)
		if err != nil {
			t.Fatal(err)
		}
		done, err := s.rateOf(c.tree).start(fmt.Sprint(i))
		if (err == nil) != want.taken {
			t.Errorf("send %d, of %s: %v", i, want.secret, err)
		}
		if err == nil {
			done(true)
		}
	}
	if _, err := s.caller(t.Context(), "ended"); bridge.CodeOf(err) != bridge.CodeUnauthorized {
		t.Errorf("a token that has ended: %v", err)
	}
}

// Ten sends a minute are ten in any sixty seconds: a bucket that refills let twenty
// leave in one.
func TestSends_AreThatManyInAnyMinute(t *testing.T) {
	now := time.Unix(0, 0)
	r := &sendRate{perMinute: 10, now: func() time.Time { return now }}
	var left []time.Time
	for range 600 { // two sends a second, for five minutes
		if done, err := r.start(now.String()); err == nil {
			done(true)
			left = append(left, now)
		} else if within := bridge.CodeOf(err); within != bridge.CodeRateLimited {
			t.Fatal(err)
		}
		now = now.Add(500 * time.Millisecond)
	}
	for i := range left {
		if i >= 10 && left[i].Sub(left[i-10]) < time.Minute {
			t.Fatalf("sends %d to %d left within %v", i-10, i, left[i].Sub(left[i-10]))
		}
	}
	if len(left) != 50 {
		t.Errorf("%d left in five minutes, want 50", len(left))
	}
}

func TestSends_RefusedAndRepeatedOnesCostNothing(t *testing.T) {
	now := time.Unix(0, 0)
	r := &sendRate{perMinute: 2, now: func() time.Time { return now }}
	take := func(key string, left bool) {
		t.Helper()
		done, err := r.start(key)
		if err != nil {
			t.Fatal(err)
		}
		done(left)
	}
	for range 5 {
		take("refused by the API", false)
	}
	take("one", true)
	take("two", true)
	take("one", true) // repeated, though no other may leave
	now = now.Add(20 * time.Second)
	_, err := r.start("three")
	if err == nil || !strings.Contains(err.Error(), "try again in 40 seconds") {
		t.Errorf("the third: %v", err)
	}
	if err := r.refuse("two"); err != nil {
		t.Errorf("a repeated one: %v", err)
	}
	now = now.Add(40 * time.Second)
	take("three", true)
}
