package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestMetrics_CountByRoute(t *testing.T) {
	s := stocked(t)
	s.Get(graceHistory).Want(http.StatusOK)
	s.Get(graceHistory + "?limit=0").Want(http.StatusBadRequest)
	s.Get("/api/nothing/15557654321").Want(http.StatusNotFound)
	s.Do("BREW", "/api/chats", "").Want(http.StatusMethodNotAllowed)
	got := s.Get("/metrics").Want(http.StatusOK)
	if ct := got.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type %q", ct)
	}
	for _, line := range []string{
		`bridged_http_requests_total{method="GET",route="/api/messages/individual/{jid}",status="200"} 1`,
		`bridged_http_requests_total{method="GET",route="/api/messages/individual/{jid}",status="400"} 1`,
		`bridged_http_requests_total{method="any",route="unknown",status="404"} 1`,
		`bridged_http_requests_total{method="any",route="unknown",status="405"} 1`,
		`bridged_http_request_seconds_count{route="/api/messages/individual/{jid}"} 2`,
		`bridged_account_state{state="open"} 1`,
		`bridged_account_state{state="closed"} 0`,
		`go_goroutines `,
	} {
		if !strings.Contains(string(got.Body), "\n"+line) {
			t.Errorf("%s is not there", line)
		}
	}
	if strings.Contains(string(got.Body), grace.User()) || strings.Contains(string(got.Body), "BREW") {
		t.Errorf("a caller chose a label:\n%s", got.Body)
	}
}
