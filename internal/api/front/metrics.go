package front

import "github.com/prometheus/client_golang/prometheus"

var (
	connectionsOpenDesc      = prometheus.NewDesc("bridged_http_connections", "Connections that are open, by whether their last request showed a token, a session or a hook's address.", []string{"caller"}, nil)
	connectionsLimitDesc     = prometheus.NewDesc("bridged_http_connections_limit", "How many connections may be open.", []string{"caller"}, nil)
	connectionsRefusedDesc   = prometheus.NewDesc("bridged_http_connections_refused_total", "Connections that found no place.", []string{"caller"}, nil)
	connectionsDisplacedDesc = prometheus.NewDesc("bridged_http_connections_displaced_total", "Connections that were closed to make room.", []string{"caller"}, nil)
)

// Describe is part of prometheus.Collector.
func (c *Connections) Describe(descs chan<- *prometheus.Desc) {
	descs <- connectionsOpenDesc
	descs <- connectionsLimitDesc
	descs <- connectionsRefusedDesc
	descs <- connectionsDisplacedDesc
}

// Collect is part of prometheus.Collector.
func (c *Connections) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for caller, p := range map[string]*part{"stranger": &c.strangers, "known": &c.known} {
		metrics <- prometheus.MustNewConstMetric(connectionsOpenDesc, prometheus.GaugeValue, float64(p.open), caller)
		metrics <- prometheus.MustNewConstMetric(connectionsLimitDesc, prometheus.GaugeValue, float64(p.limit), caller)
		metrics <- prometheus.MustNewConstMetric(connectionsRefusedDesc, prometheus.CounterValue, float64(p.refused), caller)
		metrics <- prometheus.MustNewConstMetric(connectionsDisplacedDesc, prometheus.CounterValue, float64(p.displaced), caller)
	}
}
