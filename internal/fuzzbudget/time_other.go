//go:build !unix

package fuzzbudget

import "time"

var began = time.Now()

// processorTime returns the time that has gone by, in place of the processor's.
func processorTime() time.Duration { return time.Since(began) }
