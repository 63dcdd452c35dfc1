package front

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// At most eight answers are compressed at the same time, however slowly they are read. The others are whole, too.
func TestCompress_HoldsLittleMemory(t *testing.T) {
	const callers = 50
	text := strings.Repeat(`{"content":"¿Nos vemos el sábado?"},`, 2000)
	begun, release := make(chan bool, callers), make(chan struct{})
	server := httptest.NewServer(Compress()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
		begun <- true
		<-release
		_, _ = io.WriteString(w, text)
	})))
	defer server.Close()
	answers := make(chan *http.Response, callers)
	for range callers {
		go func() {
			req, _ := http.NewRequest(http.MethodGet, server.URL, nil)
			req.Header.Set("Accept-Encoding", "gzip")
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Error(err)
			}
			answers <- resp
		}()
	}
	for range callers {
		<-begun
	}
	close(release)
	compressed := 0
	for range callers {
		resp := <-answers
		if resp == nil {
			continue
		}
		var body io.Reader = resp.Body
		if resp.Header.Get("Content-Encoding") == "gzip" {
			compressed++
			body, _ = gzip.NewReader(resp.Body)
		}
		if got, err := io.ReadAll(body); err != nil || string(got) != text+text {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if resp.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Vary is %q", resp.Header["Vary"])
		}
		_ = resp.Body.Close()
	}
	if compressed != compressing {
		t.Errorf("%d answers were compressed, want %d", compressed, compressing)
	}
}
