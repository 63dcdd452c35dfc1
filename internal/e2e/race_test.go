//go:build race

package e2e

import "time"

// Under the race detector the tests and the program are several times slower and
// take several times the memory.
const (
	underRaceDetector = true
	stopLimit         = time.Minute
	largeFile         = 8 << 20
)
