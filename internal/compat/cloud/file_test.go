package cloud

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/client"
	"bridged/internal/compat"
	"bridged/internal/compat/compattest"
)

// A download answers the part of a message's file that is asked for, and that a caller has
// it already; what describes the file says the same whatever is asked for.
func TestDownload_AnswersWhatIsAskedFor(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/token" {
			_, _ = io.WriteString(w, `{"account":{"jid":"15550001111@s.whatsapp.net"}}`)
			return
		}
		w.Header().Set("Etag", `"sum"`)
		http.ServeContent(w, r, "a.txt", time.Time{}, bytes.NewReader([]byte("0123456789")))
	})
	adapter, err := New(compat.Options{
		Client: client.InProcess(api, ""), Token: compattest.AnyToken, DataDir: t.TempDir(), Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	id := messageRef{Chat: sofia, ID: "A1"}.fileID()
	for _, c := range []struct {
		path, header, value string
		status              int
		want                string
	}{
		{"/media/" + id + "/content", "Range", "bytes=2-4", http.StatusPartialContent, "234"},
		{"/media/" + id + "/content", "If-None-Match", `"sum"`, http.StatusNotModified, ""},
		{"/media/" + id + "/content", "X-Other", "1", http.StatusOK, "0123456789"},
		{"/" + id, "Range", "bytes=2-4", http.StatusOK, `"file_size":10,`},
		{"/" + id, "If-None-Match", `"sum"`, http.StatusOK, `"sha256":"sum"`},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
		r.Header.Set("Authorization", "Bearer key")
		r.Header.Set(c.header, c.value)
		w := httptest.NewRecorder()
		adapter.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s with %s: %d %q, want %d %q", c.path, c.header, w.Code, w.Body, c.status, c.want)
		}
	}
}
