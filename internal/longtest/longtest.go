// Package longtest divides tests into what `go test ./...` runs, within minutes on two processors,
// and the same tests with more rounds, callers and inputs, which `make long` and CI run nightly.
package longtest

import "os"

// Enabled reports whether the long forms of tests run: LONG_TESTS is set.
func Enabled() bool { return os.Getenv("LONG_TESTS") != "" }

// Else returns the first value usually, and the second one in long forms.
func Else[T any](usual, long T) T {
	if Enabled() {
		return long
	}
	return usual
}
