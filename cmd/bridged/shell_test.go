package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// A send continues after the reader of its output has gone, so that exit code 0 means that the
// message was sent.
func TestSend_OutlivesTheReaderOfItsOutput(t *testing.T) {
	t.Parallel()
	cancelled := make(chan bool, 1)
	bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		select {
		case <-r.Context().Done():
			cancelled <- true
		case <-time.After(600 * time.Millisecond): // by then a command that waits for events has noticed
			cancelled <- false
		}
		if _, err := io.WriteString(w, `{"ok":true,"msgId":"M1","chatJid":"15551234567@s.whatsapp.net","timestamp":"2026-11-21T12:00:00.000Z"}`); err != nil {
			t.Log(err)
		}
	}))
	defer bridge.Close()
	reader, output, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	var notes bytes.Buffer
	environ := []string{"BRIDGE_URL=" + bridge.URL, "BRIDGE_TOKEN=a-token-of-some-length"}
	code := run(t.Context(), []string{"send", "15551234567", "hello"}, environ, output, &notes)
	if <-cancelled || code != 0 || notes.String() != "Sent to 15551234567@s.whatsapp.net.\n" {
		t.Errorf("it ended with %d: %s", code, notes.String())
	}
}
