//go:build unix

package config

import (
	"math"
	"syscall"
)

// fileLimit returns the number of files that this process may open.
func fileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32 // unlimited
	}
	return int(limit.Cur)
}
