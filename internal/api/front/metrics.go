package front

import "github.com/prometheus/client_golang/prometheus"

func describe(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"caller"}, nil)
}

var (
	openDesc    = describe("bridged_http_connections", "Connections that are open, by whether their last request showed a token, a session or a hook's address.")
	limitDesc   = describe("bridged_http_connections_limit", "How many connections may be open.")
	refusedDesc = describe("bridged_http_connections_refused_total", "Connections that were refused because there was no slot.")
	evictedDesc = describe("bridged_http_connections_displaced_total", "Connections that were closed to free a slot.")
)

// Describe implements prometheus.Collector.
func (c *Connections) Describe(descs chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, descs) }

// Collect implements prometheus.Collector.
func (c *Connections) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for caller, p := range map[string]*part{"stranger": &c.unauthenticated, "known": &c.known} {
		metrics <- prometheus.MustNewConstMetric(openDesc, prometheus.GaugeValue, float64(p.open), caller)
		metrics <- prometheus.MustNewConstMetric(limitDesc, prometheus.GaugeValue, float64(p.limit), caller)
		metrics <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(p.refused), caller)
		metrics <- prometheus.MustNewConstMetric(evictedDesc, prometheus.CounterValue, float64(p.evicted), caller)
	}
}
