//go:build race

package e2e

// underRaceDetector: the tests and the program they run are several times
// slower.
const underRaceDetector = true
