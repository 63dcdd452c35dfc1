package shell

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridged/internal/client"
)

// An export of years takes the bridge a while to read: until then the upload is what there is to show.
func TestImportChat_ShowsItsProgressWhileTheBridgeReads(t *testing.T) {
	t.Parallel()
	read, noted := io.Pipe()
	shown := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-shown
		_, _ = io.WriteString(w, `{"id":"1","state":"done","total":1,"imported":1}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "chat.txt")
	if err := os.WriteFile(file, []byte("an export"), 0o600); err != nil {
		t.Fatal(err)
	}
	api := client.New(server.URL, "a-token-of-some-length")
	defer api.Close()
	s, _ := onTerminal(80)
	s.API, s.Notes, s.Now = api, noted, time.Now
	ended := make(chan error, 1)
	go func() { ended <- s.ImportChat(t.Context(), ImportChat{File: file, Chat: "Friends"}) }()
	line := make([]byte, 80)
	n, err := read.Read(line)
	if err != nil || !strings.HasPrefix(string(line[:n]), "Uploaded; the bridge reads it … (1 s)") {
		t.Errorf("the first note is %q, %v", line[:n], err)
	}
	close(shown)
	go func() { _, _ = io.Copy(io.Discard, read) }()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
