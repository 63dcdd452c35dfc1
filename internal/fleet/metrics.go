package fleet

import "github.com/prometheus/client_golang/prometheus"

var connectedDesc = prometheus.NewDesc("bridged_nats_connected", "1 while NATS is connected, else 0.", nil, nil)

// Describe is part of prometheus.Collector.
func (f *Fleet) Describe(descs chan<- *prometheus.Desc) { descs <- connectedDesc }

// Collect is part of prometheus.Collector.
func (f *Fleet) Collect(metrics chan<- prometheus.Metric) {
	connected := 0.0
	if f.link.connected.Load() {
		connected = 1
	}
	metrics <- prometheus.MustNewConstMetric(connectedDesc, prometheus.GaugeValue, connected)
}
