package api_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
)

// longHistory stores messages of 65,000 characters in two chats.
func longHistory(save func(...bridge.Fact), count int) (ids []string) {
	facts := []bridge.Fact{members(club, "Club", grace, me)}
	for n := range count {
		id := fmt.Sprintf("L%03d", n)
		facts = append(facts, say(club, grace, id, strings.Repeat("long ", 13_000), n), say(grace, grace, id, strings.Repeat("long ", 13_000), n))
		ids = append(ids, id)
	}
	save(facts...)
	return ids
}

// Every list says whether it goes on, and one of long messages ends before 4 MiB. Who
// continues by count finds all of it, who continues by cursor does, too.
func TestLists_EndByBytes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	want := longHistory(s.know, 90)
	type answer struct {
		Count      int
		Messages   []struct{ MsgID string }
		Matches    []struct{ MsgID string }
		Events     []struct{ ID int64 }
		NextCursor any
		HasMore    bool
	}
	get := func(path string) (got answer) {
		t.Helper()
		resp := s.Get(path).Want(http.StatusOK)
		if len(resp.Body) > bridge.PageBytes+1000 {
			t.Errorf("%s takes %d bytes", path, len(resp.Body))
		}
		resp.Decode(&got)
		if n := len(got.Messages) + len(got.Matches) + len(got.Events); n != got.Count || n == 0 {
			t.Errorf("%s: count is %d, and there are %d", path, got.Count, n)
		}
		return got
	}
	for _, path := range []string{"/api/groups/" + club.Escaped() + "/messages", "/api/messages/individual/" + grace.Escaped()} {
		var byOffset, byCursor []string
		for more := true; more; {
			page := get(fmt.Sprint(path, "?order=asc&limit=1000&offset=", len(byOffset)))
			for _, m := range page.Messages {
				byOffset = append(byOffset, m.MsgID)
			}
			more = page.HasMore
		}
		for cursor := ""; ; {
			page := get(path + "?order=asc&limit=1000&cursor=" + cursor)
			for _, m := range page.Messages {
				byCursor = append(byCursor, m.MsgID)
			}
			next, more := page.NextCursor.(string)
			if more != page.HasMore {
				t.Errorf("nextCursor is %v, and hasMore %t", page.NextCursor, page.HasMore)
			}
			if cursor = next; !more {
				break
			}
		}
		if !slices.Equal(byOffset, want) || !slices.Equal(byCursor, want) {
			t.Errorf("%s: %d by offset and %d by cursor, want %d", path, len(byOffset), len(byCursor), len(want))
		}
	}
	if got := get("/api/messages/search?q=long&limit=500"); !got.HasMore || got.Count >= 180 {
		t.Errorf("a search answers %d of 180, and more: %t", got.Count, got.HasMore)
	}
	seen, after := 0, "0"
	for more := true; more; {
		page := get("/api/events?limit=1000&types=message.created&after=" + after)
		seen, after, more = seen+page.Count, page.NextCursor.(string), page.HasMore
	}
	if seen != 180 {
		t.Errorf("the log told of %d messages, want 180", seen)
	}
}

// A caller who does not read a page is let go of after 30 seconds.
func TestLists_UnreadAreLetGoOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, st := inBubble(t)
		longHistory(func(facts ...bridge.Fact) {
			if err := st.Save(t.Context(), facts...); err != nil {
				t.Fatal(err)
			}
		}, 20)
		conn := p.request(t, "GET /api/groups/"+club.Escaped()+"/messages?limit=1000 HTTP/1.1\r\nHost: bridged\r\nAuthorization: Bearer "+token+"\r\n\r\n")
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if _, err := io.ReadFull(conn, make([]byte, 100)); err != nil {
			t.Errorf("after 29 seconds: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		rest, err := io.ReadAll(conn)
		if err != nil || len(rest) > 1<<20 {
			t.Errorf("after 31 seconds there were %d bytes more, and %v", len(rest), err)
		}
	})
}

// A page is written as it is encoded: no more than a piece of it is held beside its
// messages.
func TestLists_AreWrittenInPieces(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	longHistory(s.know, 60)
	w := &pieceWriter{header: make(http.Header)}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/api/groups/"+string(club)+"/messages?limit=1000", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	s.handler.ServeHTTP(w, req)
	if w.largest > 256<<10 || w.all < 3<<20 || w.header.Get("Content-Length") != "" {
		t.Errorf("%d bytes came in pieces of up to %d; Content-Length %q", w.all, w.largest, w.header.Get("Content-Length"))
	}
}

// pieceWriter notes how an answer is written.
type pieceWriter struct {
	header       http.Header
	all, largest int
}

func (w *pieceWriter) Header() http.Header { return w.header }
func (w *pieceWriter) WriteHeader(int)     {}
func (w *pieceWriter) Write(piece []byte) (int, error) {
	w.all, w.largest = w.all+len(piece), max(w.largest, len(piece))
	return len(piece), nil
}
