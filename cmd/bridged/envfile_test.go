package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A bridge that starts tells of the file that it has variables from: a .env may be another
// program's.
func TestServe_TellsOfItsEnvFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "variables")
	if err := os.WriteFile(file, []byte("BRIDGE_TOKEN=a-token-of-some-length\nLISTEN_ADDR=127.0.0.1:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	printed, stderr := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--env-file", file}, []string{"PROXY_URL=http://127.0.0.1:1", "DATA_DIR=" + filepath.Join(dir, "data"), "LOG_FORMAT=json"}, io.Discard, stderr)
		_ = stderr.Close() // which never fails
	}()
	told := false
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		if strings.Contains(lines.Text(), `"variables":2,`) && strings.Contains(lines.Text(), file) {
			told = true
			cancel()
		}
	}
	if code := <-ended; code != 0 || !told {
		t.Errorf("it exits with %d, told: %v", code, told)
	}
}

// What answers 200 to everything is no bridge that is alive.
func TestHealthcheck_AsksABridge(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if _, err := io.WriteString(w, "{}"); err != nil {
			t.Error(err)
		}
	}))
	defer other.Close()
	if err := isAlive(t.Context(), other.URL); err == nil || !strings.Contains(err.Error(), "no bridge answers") {
		t.Error(err)
	}
}
