package traffic

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// settled returns the samples after the first quarter, during which caches fill.
func (l *SoakLife) settled() []soakSample { return l.samples[len(l.samples)/4:] }

// Table shows each measure at the beginning, after the warm-up and at the end, and
// its growth by least squares: after the warm-up, and over the last half of that.
func (l *SoakLife) Table() string {
	if len(l.samples) < 8 {
		return "too short to measure\n"
	}
	var out strings.Builder
	settled := l.settled()
	late := settled[len(settled)/2:]
	fmt.Fprintf(&out, "One life of %v, %d measurements, warm-up %v.\n\n", l.last().at.Sub(l.began).Round(time.Second), len(l.samples), settled[0].at.Sub(l.began).Round(time.Second))
	out.WriteString("| | first | after the warm-up | last | at rest | growth a minute | … in the last half |\n|---|---|---|---|---|---|---|\n")
	for _, name := range soakMeasures {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %+.3f | %+.3f |\n", name, rounded(mean(l.samples[:2], name)), rounded(mean(settled[:4], name)),
			rounded(mean(settled[len(settled)-4:], name)), rounded(l.atRest.values[name]), slope(settled, name), slope(late, name))
	}
	return out.String()
}

func (l *SoakLife) last() soakSample { return l.samples[len(l.samples)-1] }

// Judge fails the test if a measure grew without reason.
func (l *SoakLife) Judge(t testing.TB) {
	t.Helper()
	if len(l.samples) < 8 {
		return
	}
	const tolerated = 20 // requests, streams and connections come and go
	settled := l.settled()
	n := len(settled) / 3
	for _, name := range []string{"goroutines", "descriptors", "threads"} {
		if before, after := mean(settled[:n], name), mean(settled[len(settled)-n:], name); after > before+tolerated {
			t.Errorf("%s grew from %.0f to %.0f", name, before, after)
		}
	}
}

func mean(samples []soakSample, name string) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += s.values[name]
	}
	return sum / float64(len(samples))
}

// slope returns a measure's growth per minute, by least squares.
func slope(samples []soakSample, name string) float64 {
	var x, y, xx, xy float64
	n := float64(len(samples))
	for _, s := range samples {
		minutes, value := s.at.Sub(samples[0].at).Minutes(), s.values[name]
		x, y, xx, xy = x+minutes, y+value, xx+minutes*minutes, xy+minutes*value
	}
	if spread := n*xx - x*x; spread > 0 {
		return (n*xy - x*y) / spread
	}
	return 0
}

// rounded formats a number with as many decimals as it needs.
func rounded(v float64) string {
	if v >= 100 || v == float64(int(v)) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
