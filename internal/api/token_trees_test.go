package api_test

import (
	"fmt"
	"net/http"
	"testing"
)

// A token that makes tokens, and has each of them make more, has no more of
// anything than one that makes none, and leaves BRIDGE_TOKEN its part.
func TestTokens_LimitsDoNotGrowWithTheTokensMade(t *testing.T) {
	t.Parallel()
	s := newHooked(t).server
	const scopes = `"scopes":["read","send","manage"],"chats":["` + string(grace) + `"]`
	parent := s.as(s.token(`{"name":"parent",` + scopes + `}`))
	child := parent.as(parent.token(`{"name":"child",` + scopes + `}`))
	grandchild := child.as(child.token(`{"name":"grandchild",` + scopes + `}`))
	other := s.as(s.token(`{"name":"other",` + scopes + `}`))
	for _, thing := range []struct {
		path, body string
		most       int
	}{
		{"/api/webhooks", `{"url":"https://93.184.215.14/%d"}`, 10},
		{"/api/hooks", `{"name":"%d","chatJid":"` + string(grace) + `","template":"json"}`, 50},
		{"/api/tokens", `{"name":"%d",` + scopes + `}`, 50 - 3},
	} {
		made := 0
		for i := range 3 * thing.most {
			maker := []*server{parent, child, grandchild}[i%3]
			switch got := maker.Post(thing.path, fmt.Sprintf(thing.body, i)); got.Status {
			case http.StatusCreated:
				made++
			case http.StatusBadRequest:
			default:
				t.Fatalf("%s: %d %s", thing.path, got.Status, got.Body)
			}
		}
		if made != thing.most {
			t.Errorf("%s: a tree made %d, want %d", thing.path, made, thing.most)
		}
		other.Post(thing.path, fmt.Sprintf(thing.body, 1000)).Want(http.StatusCreated)
		s.Post(thing.path, fmt.Sprintf(thing.body, 1001)).Want(http.StatusCreated)
	}
}

// Of the hooks and webhooks that there may be, tokens leave some to BRIDGE_TOKEN.
func TestTokens_TogetherLeaveSomeToTheOperator(t *testing.T) {
	t.Parallel()
	s := newHooked(t).server
	made := 0
	for range 6 {
		maker := s.as(s.token(`{"name":"one of many","scopes":["read","manage"]}`))
		for i := range 10 {
			if maker.Post("/api/webhooks", fmt.Sprintf(`{"url":"https://93.184.215.14/%d"}`, i)).Status == http.StatusCreated {
				made++
			}
		}
	}
	if made != 38 {
		t.Errorf("tokens made %d webhooks, want 38 of 50", made)
	}
	s.Post("/api/webhooks", `{"url":"https://93.184.215.14/operator"}`).Want(http.StatusCreated)
}
