//go:build !race

package harness

import (
	"time"
)

const (
	UnderRaceDetector = false
	// StopLimit is the promised bound of a stop.
	StopLimit = 10 * time.Second
	// LargeFile is the size of each caller's upload in tests of memory.
	LargeFile = 100 << 20
)
