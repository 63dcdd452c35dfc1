//go:build !unix

package fuzzbudget

import "time"

var began = time.Now()

// processorTime returns the time that has gone by: this system does not tell
// that of the process as others do.
func processorTime() time.Duration { return time.Since(began) }
