//go:build !race

package e2e

import "time"

const (
	underRaceDetector = false
	// stopLimit is the promised bound of a stop.
	stopLimit = 10 * time.Second
	// largeFile is the size of each caller's upload in tests of memory.
	largeFile = 100 << 20
)
