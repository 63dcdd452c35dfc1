package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// A process whose directory another machine uses says so, opens nothing in it, and
// takes it once it is free: its lock, and then the account's key.
func TestStandby_TakesTheDirectoryOnceItIsFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	holder, err := openDataDir(path)
	if err != nil {
		t.Fatal(err)
	}
	keys := make(chan error)
	s := newStandby(config{DataDir: path, Token: testToken}, zerolog.Nop())
	s.pause = time.Millisecond
	s.inUse = func(context.Context, *dataDir) error { return <-keys }
	if _, err := s.try(t.Context()); !isInUse(err) {
		t.Fatalf("a directory that is in use: %v", err)
	}
	taken := make(chan error)
	go func() {
		dir, err := s.wait(t.Context())
		if err == nil {
			err = dir.close()
		}
		taken <- err
	}()
	answers(t, s, "another bridged is using DATA_DIR")
	if err := holder.close(); err != nil {
		t.Fatal(err)
	}
	keys <- bridge.NotConnected("another process runs this account (on node-a)")
	answers(t, s, "(on node-a)")
	keys <- nil
	if err := <-taken; err != nil {
		t.Error(err)
	}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	go func() { keys <- bridge.NotConnected("in use") }()
	if _, err := s.wait(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop while it waits: %v", err)
	}
}

// answers waits until a standby says why, and checks all that it answers.
func answers(t *testing.T, s *standby, why string) {
	t.Helper()
	get := func(path, bearer string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+bearer)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(body)
	}
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		status, body := get("/api/auth/status", testToken)
		if status == http.StatusOK && strings.Contains(body, `"status":"closed"`) && strings.Contains(body, why) {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("status: %d %s", status, body)
		}
	}
	if status, body := get("/readyz", testToken); status != http.StatusServiceUnavailable || !strings.Contains(body, why) || !strings.Contains(body, "not_connected") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if status, body := get("/api/chats", "wrong"); status != http.StatusUnauthorized || strings.Contains(body, why) {
		t.Errorf("a stranger: %d %s", status, body)
	}
	if status, _ := get("/healthz", ""); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
}
