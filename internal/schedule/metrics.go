package schedule

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bridged/internal/bridge"
)

var described = prometheus.NewDesc("bridged_scheduled_messages", "Messages that are sent later, and those that could not be sent.", []string{"status"}, nil)

// statuses are the statuses that messages are counted by.
var statuses = []bridge.ScheduledStatus{bridge.ScheduledWaiting, bridge.ScheduledSending, bridge.ScheduledMissed, bridge.ScheduledHeld, bridge.ScheduledFailed}

// Describe implements prometheus.Collector.
func (s *Schedule) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- described }

// Collect implements prometheus.Collector.
func (s *Schedule) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	counts, err := s.o.Store.ScheduledCounts(ctx)
	if err != nil { // other metrics say that the store cannot be read
		return
	}
	for _, status := range statuses {
		metrics <- prometheus.MustNewConstMetric(described, prometheus.GaugeValue, float64(counts[status]), string(status))
	}
}
