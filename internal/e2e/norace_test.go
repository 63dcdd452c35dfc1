//go:build !race

package e2e

import "time"

const (
	underRaceDetector = false
	// stopLimit is how long a stop may take (the promise to the operator).
	stopLimit = 10 * time.Second
	// largeFile is how much each caller uploads in tests of memory.
	largeFile = 100 << 20
)
