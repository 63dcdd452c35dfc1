package disk

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric returns the collector of the free space of a directory's disk. Its value is NaN on a system
// that does not report it.
func Metric(dir string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "bridged_disk_free_bytes", Help: "Free space on the disk of the data directory.",
	}, func() float64 {
		free, _, err := Free(dir)
		if err != nil {
			return math.NaN()
		}
		return float64(free)
	})
}
