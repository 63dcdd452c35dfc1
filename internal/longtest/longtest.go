// Package longtest divides tests into what `go test ./...` runs, within minutes on two processors,
// and the same tests with more rounds, callers and inputs, which `make long` and CI run nightly.
package longtest

import (
	"flag"
	"os"
	"strconv"
)

// Enabled reports whether the long forms of tests run: LONG_TESTS is set.
func Enabled() bool { return os.Getenv("LONG_TESTS") != "" }

// Else returns the first value usually, and the second one in long forms.
func Else[T any](usual, long T) T {
	if Enabled() {
		return long
	}
	return usual
}

// AtOnce lets up to n parallel tests of a package run at a time, for tests that wait for the disk or
// for timeouts more than they compute. TestMain calls it before it runs the tests. A -parallel on the
// command line still wins, because it is read later.
func AtOnce(n int) {
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}
