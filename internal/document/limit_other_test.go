//go:build !linux

package document

// peakOf returns 0: there is no limit of memory here.
func peakOf(int) int64 { return 0 }
