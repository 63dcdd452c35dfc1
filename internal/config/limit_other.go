//go:build !unix

package config

import "math"

// fileLimit returns the number of files that this process may open. On this system it is a number
// that is never reached.
func fileLimit() int { return math.MaxInt32 }
