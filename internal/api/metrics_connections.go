package api

import "github.com/prometheus/client_golang/prometheus"

var (
	connectionsOpenDesc      = describe("bridged_http_connections", "Connections that are open, by whether their last request showed a token, a session or a hook's address.", "caller")
	connectionsLimitDesc     = describe("bridged_http_connections_limit", "How many connections may be open.", "caller")
	connectionsRefusedDesc   = describe("bridged_http_connections_refused_total", "Connections that found no place.", "caller")
	connectionsDisplacedDesc = describe("bridged_http_connections_displaced_total", "Connections that were closed to make room.", "caller")
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
		metrics <- gauge(connectionsOpenDesc, p.open, caller)
		metrics <- gauge(connectionsLimitDesc, p.limit, caller)
		metrics <- counter(connectionsRefusedDesc, p.refused, caller)
		metrics <- counter(connectionsDisplacedDesc, p.displaced, caller)
	}
}
