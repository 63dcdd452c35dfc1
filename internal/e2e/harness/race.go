//go:build race

package harness

import "time"

// Under the race detector the tests and the program are several times slower and
// take several times the memory.
const (
	UnderRaceDetector = true
	StopLimit         = time.Minute
	LargeFile         = 8 << 20
)
