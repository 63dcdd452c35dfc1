package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"bridged/internal/api"
)

// together makes calls at the same time, and returns their answers' statuses.
func together(t *testing.T, calls int, call func(i int) int) (statuses map[int]int) {
	t.Helper()
	statuses = make(map[int]int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range calls {
		wg.Go(func() {
			<-start
			status := call(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	close(start)
	wg.Wait()
	return statuses
}

// Of the keys that several callers make at once, the one that is stored is the
// one that opens the address.
func TestHooks_KeysRotatedAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.hook("template", "{{with .payload.x}}{{.}}{{end}}")
	s.Post(made.Path, `{}`).Want(http.StatusOK) // keys are known from the first delivery on
	for range 40 {
		paths := make([]string, 8)
		together(t, len(paths), func(i int) int {
			var rotated madeHook
			got := s.Do(http.MethodPatch, hookRoute(made), `{"rotateKey":true}`).Want(http.StatusOK)
			got.Decode(&rotated)
			paths[i] = rotated.Path
			return got.Status
		})
		opened := together(t, len(paths), func(i int) int { return s.Post(paths[i], `{}`).Status })
		if opened[http.StatusOK] != 1 || opened[http.StatusNotFound] != len(paths)-1 {
			t.Fatalf("the addresses answered %v", opened)
		}
	}
}

// A key made anew takes no more deliveries than the old one would have.
func TestHooks_ANewKeyIsNoNewMinute(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	made := s.hook("template", "{{with .payload.x}}{{.}}{{end}}")
	for range 60 {
		s.Post(made.Path, `{}`).Want(http.StatusOK)
	}
	var rotated madeHook
	s.Do(http.MethodPatch, hookRoute(made), `{"rotateKey":true}`).Want(http.StatusOK).Decode(&rotated)
	s.Post(rotated.Path, `{}`).Want(http.StatusTooManyRequests)
}

// Callers at the same time make no more hooks than one after the other.
func TestHooks_NoMoreThanThereMayBe(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	maker := s.as(s.token(`{"name":"maker","scopes":["manage","send"]}`))
	for i := range 49 {
		maker.hook("name", fmt.Sprint("hook ", i))
	}
	for range 20 {
		var last madeHook
		statuses := together(t, 8, func(int) int {
			got := maker.Post("/api/hooks", object{"name": "one more", "chatJid": grace, "template": "json"})
			if got.Status == http.StatusCreated {
				got.Decode(&last)
			}
			return got.Status
		})
		if statuses[http.StatusCreated] != 1 || statuses[http.StatusBadRequest] != 7 {
			t.Fatalf("answered %v", statuses)
		}
		maker.Do(http.MethodDelete, hookRoute(last), "").Want(http.StatusOK)
	}
}
