package api

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

	"bridged/internal/bridge"
	"bridged/internal/media"
	"bridged/internal/store"
)

// metrics holds the registry of /metrics. Labels are routes, never paths, so that they have
// no JIDs and their number is fixed.
type metrics struct {
	registry *prometheus.Registry
	log      zerolog.Logger
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	streams  prometheus.Gauge
}

// Build has the versions of the running program.
type Build struct {
	Version string // of bridged
	Library string // the version of whatsmeow
}

func newMetrics(o Options) *metrics {
	m := &metrics{
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
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bridged_event_streams", Help: "Streams of events that are open.",
		}),
	}
	m.registry.MustRegister(m.requests, m.duration, m.streams, buildInfo(o.Build), &state{o.Store, o.Account, o.Files},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(o.Metrics...)
	if o.Connections != nil {
		m.registry.MustRegister(o.Connections)
	}
	return m
}

func buildInfo(b Build) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bridged_build_info", Help: "1; its labels are what the program was made of.",
		ConstLabels: prometheus.Labels{"version": b.Version, "whatsmeow": b.Library, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// handler returns the handler of /metrics. If a part fails, it shows the rest and logs it.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: scrapeLog{m.log},
	})
}

// scrapeLog receives what promhttp logs.
type scrapeLog struct{ log zerolog.Logger }

// Println is part of promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	l.log.Warn().Str("error", bridge.Redact(strings.TrimSpace(fmt.Sprintln(v...)))).Msg("metrics are incomplete")
}

// observe counts an ended request.
func (m *metrics) observe(r *http.Request, status int, took time.Duration) {
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
	return route == "/api/events" && (acceptsStream(r) || r.URL.Query().Get("wait") != "")
}

// scrapeTime bounds the queries of a scrape.
const scrapeTime = 5 * time.Second

// state collects metrics of the account, the store and the files at each scrape.
type state struct {
	store   *store.Store
	account Account
	files   *media.Cache
}

var (
	accountStateDesc = describe("bridged_account_state", "1 for the account's present state, 0 for the others.", "state")

	receivedDesc      = describe("bridged_messages_received_total", "Messages received and stored, own ones from other devices included.")
	undecryptableDesc = describe("bridged_messages_undecryptable_total", "Messages received that could not be decrypted.")
	sentDesc          = describe("bridged_messages_sent_total", "Messages that the network accepted.")
	failedDesc        = describe("bridged_messages_failed_total", "Messages that could not be sent.")
	sentAgainDesc     = describe("bridged_messages_sent_again_total", "Messages that went out once more, for devices that the network said were left out.")
	lastReceivedDesc  = describe("bridged_last_message_received_timestamp_seconds", "When the last message was stored; missing before the first.")

	deliveriesDesc = describe("bridged_webhook_deliveries", "Deliveries to webhooks that are tried again (pending) or were given up (dead).", "status")
	historyDesc    = describe("bridged_history_parts", "Parts of the phone's history that wait, were taken over (done) or were given up.", "status")
	storeSizeDesc  = describe("bridged_store_size_bytes", "Size of the database of chats and messages.")
	logSizeDesc    = describe("bridged_event_log_size_bytes", "Size of the log of events, a part of the store.")
	cacheSizeDesc  = describe("bridged_media_cache_size_bytes", "Size of the files that are kept for downloads.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe is part of prometheus.Collector. It describes nothing, so that registering
// collects nothing.
func (s *state) Describe(chan<- *prometheus.Desc) {}

// Collect is part of prometheus.Collector.
func (s *state) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	s.collectAccount(metrics)
	s.collectStored(ctx, metrics)
}

func (s *state) collectAccount(metrics chan<- prometheus.Metric) {
	present := s.account.Status().Status
	for _, known := range []bridge.State{bridge.StateIdle, bridge.StateConnecting, bridge.StateOpen, bridge.StateClosed, bridge.StateNeedsPair} {
		value := 0
		if known == present {
			value = 1
		}
		metrics <- gauge(accountStateDesc, value, string(known))
	}
	traffic := s.account.Traffic()
	metrics <- counter(receivedDesc, traffic.Received)
	metrics <- counter(undecryptableDesc, traffic.Undecryptable)
	metrics <- counter(sentDesc, traffic.Sent)
	metrics <- counter(failedDesc, traffic.Failed)
	metrics <- counter(sentAgainDesc, traffic.SentAgain)
	if at := traffic.LastReceivedAt; at != nil {
		metrics <- gauge(lastReceivedDesc, float64(at.UnixMilli())/1000)
	}
}

func (s *state) collectStored(ctx context.Context, metrics chan<- prometheus.Metric) {
	if webhooks, err := s.store.Webhooks(ctx); err != nil {
		metrics <- prometheus.NewInvalidMetric(deliveriesDesc, err)
	} else {
		pending, dead := 0, 0
		for _, w := range webhooks {
			pending += w.Pending
			dead += w.Dead
		}
		metrics <- gauge(deliveriesDesc, pending, "pending")
		metrics <- gauge(deliveriesDesc, dead, "dead")
	}
	if count, err := s.store.HistoryCount(ctx); err != nil {
		metrics <- prometheus.NewInvalidMetric(historyDesc, err)
	} else {
		metrics <- gauge(historyDesc, count.Waiting, "waiting")
		metrics <- gauge(historyDesc, count.Done, "done")
		metrics <- gauge(historyDesc, count.GivenUp, "given_up")
	}
	if size, err := s.store.Size(ctx); err != nil {
		metrics <- prometheus.NewInvalidMetric(storeSizeDesc, err)
	} else {
		metrics <- gauge(storeSizeDesc, size.Bytes)
		metrics <- gauge(logSizeDesc, size.Log)
	}
	metrics <- gauge(cacheSizeDesc, s.files.Size())
}

func gauge[T int | int64 | float64](desc *prometheus.Desc, value T, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
}

func counter[T int | uint64](desc *prometheus.Desc, value T, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
}
