package fleet

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTime bounds the query of a scrape.
const scrapeTime = 5 * time.Second

var (
	connectedDesc = prometheus.NewDesc("bridged_nats_connected", "1 while NATS is connected, else 0.", nil, nil)
	publishedDesc = prometheus.NewDesc("bridged_nats_events_published_total", "Events that the stream has acknowledged.", nil, nil)
	lagDesc       = prometheus.NewDesc("bridged_nats_events_lag", "Events of the log that are not in the stream yet.", nil, nil)
)

// Describe is part of prometheus.Collector.
func (f *Fleet) Describe(descs chan<- *prometheus.Desc) {
	descs <- connectedDesc
	descs <- publishedDesc
	descs <- lagDesc
}

// Collect is part of prometheus.Collector.
func (f *Fleet) Collect(metrics chan<- prometheus.Metric) {
	connected := 0.0
	if f.link.connected.Load() {
		connected = 1
	}
	metrics <- prometheus.MustNewConstMetric(connectedDesc, prometheus.GaugeValue, connected)
	metrics <- prometheus.MustNewConstMetric(publishedDesc, prometheus.CounterValue, float64(f.events.counts.published.Load()))
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	newest, err := f.options.Log.Last(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(lagDesc, err)
		return
	}
	metrics <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, float64(max(newest-f.events.counts.event.Load(), 0)))
}
