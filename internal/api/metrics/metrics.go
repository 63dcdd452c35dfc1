// Package metrics serves /metrics: the requests of the API, and the state of the account, the
// store and the files.
package metrics

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"bridged/internal/api/stream"
	"bridged/internal/bridge"
	"bridged/internal/media/files"
	"bridged/internal/store"
)

// Metrics holds the metrics. Their labels are routes and not paths, so that their number is
// bounded and they have no JIDs.
type Metrics struct {
	Streams prometheus.Gauge // streams of events that are open

	registry *prometheus.Registry
	log      zerolog.Logger
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// Options configures [New].
type Options struct {
	Build   Build
	Store   *store.Store
	Account Account
	Files   *files.Cache
	Others  []prometheus.Collector // are served as well
	Log     zerolog.Logger
}

// Account is the paired account.
type Account interface {
	Status() bridge.Status
	Traffic() bridge.Traffic
}

// Build holds the versions of the running program.
type Build struct {
	Version string // of bridged
	Library string // the version of whatsmeow
}

// New returns the metrics of one server.
func New(o Options) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		log:      o.Log,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bridged_http_requests_total", Help: "Requests by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "bridged_http_request_duration_seconds",
			Help:    "Time from a request's head to its last byte. Streams of events and waiting for them are left out.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"route"}),
		Streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bridged_event_streams", Help: "Streams of events that are open.",
		}),
	}
	m.registry.MustRegister(m.requests, m.duration, m.Streams, buildInfo(o.Build), &state{o.Store, o.Account, o.Files},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(o.Others...)
	return m
}

func buildInfo(b Build) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bridged_build_info", Help: "1; its labels are the versions of the program, its library and Go.",
		ConstLabels: prometheus.Labels{"version": b.Version, "whatsmeow": b.Library, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// Handler returns the handler of /metrics. If a collector fails, its error is logged and the
// others are served.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: scrapeLog{m.log},
	})
}

type scrapeLog struct{ log zerolog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	l.log.Warn().Str("error", bridge.Redact(strings.TrimSpace(fmt.Sprintln(v...)))).Msg("metrics are incomplete")
}

// Observe counts a request that was answered.
func (m *Metrics) Observe(r *http.Request, status int, took time.Duration) {
	route, method := chi.RouteContext(r.Context()).RoutePattern(), r.Method
	if route == "" || status == http.StatusMethodNotAllowed {
		route, method = "unknown", "any" // callers must not choose labels
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	if !isHeld(r, route) {
		m.duration.WithLabelValues(route).Observe(took.Seconds())
	}
}

// isHeld reports whether a request waits for events, so that its duration means nothing.
func isHeld(r *http.Request, route string) bool {
	return route == "/api/events" && (stream.Accepts(r) || r.URL.Query().Get("wait") != "")
}

// scrapeTimeout bounds the queries of a scrape.
const scrapeTimeout = 5 * time.Second

// state collects metrics of the account, the store and the files at each scrape.
type state struct {
	store   *store.Store
	account Account
	files   *files.Cache
}

// Describe describes nothing, so that registering collects nothing.
func (s *state) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (s *state) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	s.collectAccount(metrics)
	s.collectStored(ctx, metrics)
}

func (s *state) collectAccount(metrics chan<- prometheus.Metric) {
	status := s.account.Status()
	present := status.Status
	for _, known := range []bridge.State{bridge.StateIdle, bridge.StateConnecting, bridge.StateOpen, bridge.StateClosed, bridge.StateNeedsPair} {
		value := 0
		if known == present {
			value = 1
		}
		metrics <- gauge("bridged_account_state", "1 for the account's present state, 0 for the others.", value, "state", string(known))
	}
	traffic := s.account.Traffic()
	metrics <- counter("bridged_messages_received_total", "Messages received and stored, own ones from other devices included.", traffic.Received)
	metrics <- counter("bridged_messages_undecryptable_total", "Messages received that could not be decrypted.", traffic.Undecryptable)
	metrics <- counter("bridged_messages_sent_total", "Messages that the network accepted.", traffic.Sent)
	metrics <- counter("bridged_messages_failed_total", "Messages that could not be sent.", traffic.Failed)
	metrics <- counter("bridged_messages_sent_again_total",
		"Messages that went out once more, for devices that the network said were left out.", traffic.SentAgain)
	metrics <- counter("bridged_offline_received_total", "Stanzas received that the network had queued while the account was not connected.", traffic.QueuedReceived)
	metrics <- counter("bridged_offline_stalls_total", "How often the network announced queued stanzas and did not deliver them for a minute.", traffic.QueueStalls)
	remaining := 0
	if p := status.CatchingUp; p != nil {
		remaining = max(0, p.Expected-p.Received)
	}
	metrics <- gauge("bridged_offline_remaining", "Queued stanzas that the network has yet to deliver.", remaining)
	if at := traffic.LastReceivedAt; at != nil {
		metrics <- gauge("bridged_last_message_received_timestamp_seconds", "When the last message was stored; missing before the first.",
			float64(at.UnixMilli())/1000)
	}
	if at := traffic.PhoneSeenAt; at != nil && status.HasSession {
		metrics <- gauge("bridged_phone_last_seen_timestamp_seconds", "The phone's last sign of life. The network unlinks the account after 14 days without one.",
			float64(at.UnixMilli())/1000)
	}
	if at := status.ClientVersion.ExpiresAt; at != nil {
		metrics <- gauge("bridged_client_version_expires_timestamp_seconds", "When the network stops to accept the client's version; missing if it is not known.",
			float64(at.UnixMilli())/1000)
	}
}

func (s *state) collectStored(ctx context.Context, metrics chan<- prometheus.Metric) {
	metrics <- gauge("bridged_media_cache_size_bytes", "Size of the cached media files.", s.files.Size())
	// A query that fails does not hide the others.
	report := func(err error, collect func()) {
		if err != nil {
			metrics <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
			return
		}
		collect()
	}
	webhooks, err := s.store.Webhooks(ctx)
	report(err, func() {
		pending, dead := 0, 0
		for _, w := range webhooks {
			pending += w.Pending
			dead += w.Dead
		}
		for status, count := range map[string]int{"pending": pending, "dead": dead} {
			metrics <- gauge("bridged_webhook_deliveries", "Deliveries to webhooks that are tried again (pending) or were given up (dead).",
				count, "status", status)
		}
	})
	parts, err := s.store.HistoryCount(ctx)
	report(err, func() {
		for status, count := range map[string]int{"waiting": parts.Waiting, "done": parts.Done, "given_up": parts.GivenUp} {
			metrics <- gauge("bridged_history_parts", "Parts of the phone's history that wait, were imported (done) or were given up.",
				count, "status", status)
		}
	})
	size, err := s.store.Size(ctx)
	report(err, func() {
		metrics <- gauge("bridged_store_size_bytes", "Size of the database of chats and messages, without its write-ahead log.", size.Bytes)
		metrics <- gauge("bridged_event_log_size_bytes", "Size of the log of events, a part of the store.", size.Log)
	})
}

func counter(name, help string, value uint64) prometheus.Metric {
	return prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, float64(value))
}

// gauge returns a metric, perhaps with the name and the value of a label.
func gauge[T int | int64 | float64](name, help string, value T, label ...string) prometheus.Metric {
	var labels prometheus.Labels
	if len(label) > 0 {
		labels = prometheus.Labels{label[0]: label[1]}
	}
	return prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.GaugeValue, float64(value))
}
