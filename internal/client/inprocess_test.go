package client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/client"
)

func handled(f http.HandlerFunc) *client.Client { return client.InProcess(f, token) }

func TestInProcess_AnswersAreStreamed(t *testing.T) {
	t.Parallel()
	read, over := make(chan struct{}), make(chan struct{})
	c := handled(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		<-read
		_, err := io.WriteString(w, "second")
		if err == nil {
			<-r.Context().Done() // until the reader has closed the body
		}
		close(over)
	})
	resp, err := c.Do(t.Context(), http.MethodGet, "/x", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, piece); err != nil || string(piece) != "first" {
		t.Errorf("%q, %v", piece, err)
	}
	close(read)
	if _, err := io.ReadFull(resp.Body, piece[:2]); err != nil || string(piece[:2]) != "se" {
		t.Errorf("%q, %v", piece, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	<-over
}

func TestInProcess_IsLikeAConnection(t *testing.T) {
	t.Parallel()
	c := handled(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != "/api/x%2Fy?q=1" || r.URL.RawPath != "/api/x%2Fy" || r.Header.Get("Authorization") != "Bearer "+token || r.Body == nil {
			t.Errorf("request %+v", r)
		}
		w.Header().Set("X-Before", "1")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-After", "1")
		_, _ = io.WriteString(w, "{}")
	})
	resp, err := c.Do(t.Context(), http.MethodGet, "/api/x%2Fy?q=1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "{}" || resp.StatusCode != http.StatusCreated || resp.Header.Get("X-Before") != "1" || resp.Header.Get("X-After") != "" {
		t.Errorf("%d %v %q, %v", resp.StatusCode, resp.Header, body, err)
	}
}

func TestInProcess_PanicsAreErrors(t *testing.T) {
	t.Parallel()
	before := handled(func(http.ResponseWriter, *http.Request) { panic("no") })
	if _, err := before.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "panicked: no") {
		t.Errorf("before the answer: %v", err)
	}
	within := handled(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic(http.ErrAbortHandler)
	})
	resp, err := within.Do(t.Context(), http.MethodGet, "/", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("within the answer: %q, %v", body, err)
	}
}

// An answer is over when the handler is: a send that is repeated at once must
// not meet the call before.
func TestInProcess_AnswersEndWithTheirHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := false
		c := handled(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"msgId":"M1"}`)
			time.Sleep(time.Minute)
			over = true
		})
		if sent, err := c.Send(t.Context(), client.Text{}, "key"); err != nil || sent.ID != "M1" || !over {
			t.Errorf("answered %+v, %v, while the handler ran", sent, err)
		}
	})
}
