//go:build !unix

package fuzzbudget

import "time"

var began = time.Now()

// processorTime returns the elapsed time, because this system does not report the processor time.
func processorTime() time.Duration { return time.Since(began) }
