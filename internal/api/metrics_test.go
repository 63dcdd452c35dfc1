package api_test

import (
	"bytes"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"bridged/internal/api"
	"bridged/internal/api/metrics"
	"bridged/internal/bridge"
)

func TestMetrics_CountByRoute(t *testing.T) {
	t.Parallel()
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
		`bridged_http_request_duration_seconds_count{route="/api/messages/individual/{jid}"} 2`,
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

// wantMetrics fails the test for every line that is not there.
func wantMetrics(t *testing.T, metrics []byte, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(string(metrics), "\n"+line+"\n") {
			t.Errorf("%s is not there", line)
		}
	}
}

// The check of promtool: names, units, help and types.
func TestMetrics_FollowTheConventions(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.Get(graceHistory).Want(http.StatusOK)
	problems, err := promlint.New(bytes.NewReader(s.Get("/metrics").Want(http.StatusOK).Body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestMetrics_TellWhatGoesOn(t *testing.T) {
	t.Parallel()
	h := newHooked(t, func(o *api.Options) { o.Build = metrics.Build{Version: "1.2.3", Library: "v0.9"} })
	last, seen, expires := bridge.At(noon), bridge.At(noon.Add(-time.Hour)), bridge.At(noon.Add(time.Hour))
	h.account.traffic = bridge.Traffic{Received: 7, Undecryptable: 1, Sent: 3, Failed: 2, SentAgain: 4, LastReceivedAt: &last, PhoneSeenAt: &seen, QueuedReceived: 711, QueueStalls: 1}
	paired := h.account.status()
	paired.ClientVersion.ExpiresAt = &expires
	h.account.status = func() bridge.Status { return paired }
	h.receiver.answers(http.StatusInternalServerError)
	w := h.create(object{"url": public, "types": []string{"message.created"}})
	h.know(say(grace, grace, "A1", "one", 1))
	h.until(w.ID, "a failure", func(w shown) bool { return w.Pending == 1 })
	got := h.Get("/metrics").Want(http.StatusOK).Body
	wantMetrics(t, got,
		`bridged_build_info{goversion="`+runtime.Version()+`",version="1.2.3",whatsmeow="v0.9"} 1`,
		"bridged_messages_received_total 7",
		"bridged_messages_undecryptable_total 1",
		"bridged_messages_sent_total 3",
		"bridged_messages_failed_total 2",
		"bridged_messages_sent_again_total 4",
		"bridged_offline_received_total 711",
		"bridged_offline_stalls_total 1",
		"bridged_offline_remaining 0",
		"bridged_last_message_received_timestamp_seconds "+strconv.FormatFloat(float64(noon.Unix()), 'g', -1, 64),
		"bridged_phone_last_seen_timestamp_seconds "+strconv.FormatFloat(float64(noon.Unix()-3600), 'g', -1, 64),
		"bridged_client_version_expires_timestamp_seconds "+strconv.FormatFloat(float64(noon.Unix()+3600), 'g', -1, 64),
		`bridged_webhook_deliveries{status="pending"} 1`,
		`bridged_webhook_deliveries{status="dead"} 0`,
	)
	for _, size := range []string{"bridged_store_size_bytes ", "bridged_event_log_size_bytes "} {
		if !bytes.Contains(got, []byte("\n"+size)) || bytes.Contains(got, []byte("\n"+size+"0\n")) {
			t.Errorf("%s is not there, or 0", size)
		}
	}
}

// What is answered when something happens says nothing of the server's speed.
func TestMetrics_LeaveHeldRequestsOutOfTheDurations(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.Get("/api/events?after=0&wait=1ms").Want(http.StatusOK)
	s.Do(http.MethodHead, "/api/events", "", "Accept", "text/event-stream").Want(http.StatusOK)
	const duration = `bridged_http_request_duration_seconds_count{route="/api/events"}`
	if got := s.Get("/metrics").Want(http.StatusOK).Body; bytes.Contains(got, []byte(duration)) {
		t.Errorf("held requests are in the durations:\n%s", got)
	}
	s.Get("/api/events").Want(http.StatusOK)
	wantMetrics(t, s.Get("/metrics").Want(http.StatusOK).Body, duration+" 1",
		`bridged_http_requests_total{method="GET",route="/api/events",status="200"} 2`)
}

// Where the store cannot be read, the rest is shown, and the log says why.
func TestMetrics_GoOnWithoutTheStore(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, s.Get("/metrics").Want(http.StatusOK).Body, `bridged_account_state{state="open"} 1`, "bridged_messages_sent_total 0")
	if log := s.log.String(); !strings.Contains(log, "metrics are incomplete") {
		t.Errorf("the log says nothing of it:\n%s", log)
	}
}
