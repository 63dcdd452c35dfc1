package transcribe

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTimeout limits the store's answer to a scrape.
const scrapeTimeout = 5 * time.Second

// Metrics returns the collectors of /metrics.
func (t *Transcriber) Metrics() []prometheus.Collector {
	return []prometheus.Collector{t.results, &state{t}}
}

// state reads the store's figures at each scrape.
type state struct{ t *Transcriber }

var (
	waitingDesc = prometheus.NewDesc("bridged_transcripts_waiting", "Messages whose transcript is not made yet.", nil, nil)
	usedDesc    = prometheus.NewDesc("bridged_transcribed_seconds", "Audio that was sent to the service this month, in UTC.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *state) Describe(descs chan<- *prometheus.Desc) {
	descs <- waitingDesc
	descs <- usedDesc
}

// Collect implements prometheus.Collector.
func (s *state) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	work, err := s.t.o.Store.Transcribed(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(waitingDesc, err)
		return
	}
	metrics <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(work.Waiting))
	metrics <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, work.Used.Seconds())
}
