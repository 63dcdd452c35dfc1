//go:build !unix

package config

import "math"

// fileLimit returns how many files this process may have open at once: no
// number that would be reached.
func fileLimit() int { return math.MaxInt32 }
