//go:build unix

package config

import (
	"math"
	"syscall"
)

// fileLimit returns how many files this process may have open at once.
func fileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32 // none that would be reached
	}
	return int(limit.Cur)
}
