package api

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
)

// metrics holds what /metrics shows, in a registry of its own. Labels are routes,
// never paths, so that no JID gets there and their number is fixed.
type metrics struct {
	registry *prometheus.Registry
	log      zerolog.Logger
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	streams  prometheus.Gauge
}

// Build names what the running program was made of.
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

// handler returns the handler of /metrics. It shows the rest when a part fails,
// which the log tells.
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

// observe counts a request that has ended.
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

// isHeld reports whether a request waits for something to happen, so that its
// duration says nothing about the server.
func isHeld(r *http.Request, route string) bool {
	return route == "/api/events" && (acceptsStream(r) || r.URL.Query().Get("wait") != "")
}
