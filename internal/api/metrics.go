package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bridged/internal/bridge"
)

// metrics is what /metrics shows, in a registry of its own. Labels are routes,
// never paths: no JID gets there, and their number is fixed.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	streams  prometheus.Gauge
}

func newMetrics(account Account) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bridged_http_requests_total", Help: "Requests by route, method and status.",
		}, []string{"route", "method", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bridged_http_request_seconds", Help: "Time from a request's head to its last byte.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bridged_event_streams", Help: "Streams of events that are open.",
		}),
	}
	m.registry.MustRegister(m.requests, m.latency, m.streams, accountState{account},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// observe counts a request that is over.
func (m *metrics) observe(r *http.Request, status int, took time.Duration) {
	route, method := chi.RouteContext(r.Context()).RoutePattern(), r.Method
	if route == "" || status == http.StatusMethodNotAllowed {
		route, method = "unknown", "any" // callers must not choose labels
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(route).Observe(took.Seconds())
}

// accountState is the account's status at the time of the scrape: 1 for the
// present state, 0 for the others.
type accountState struct{ account Account }

var accountStateDesc = prometheus.NewDesc("bridged_account_state", "1 for the account's present state.", []string{"state"}, nil)

// Describe is part of prometheus.Collector.
func (accountState) Describe(descs chan<- *prometheus.Desc) { descs <- accountStateDesc }

// Collect is part of prometheus.Collector.
func (a accountState) Collect(metrics chan<- prometheus.Metric) {
	present := a.account.Status().Status
	for _, state := range []bridge.State{bridge.StateIdle, bridge.StateConnecting, bridge.StateOpen, bridge.StateClosed, bridge.StateNeedsPair} {
		value := 0.0
		if state == present {
			value = 1
		}
		metrics <- prometheus.MustNewConstMetric(accountStateDesc, prometheus.GaugeValue, value, string(state))
	}
}
