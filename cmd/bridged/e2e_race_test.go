//go:build race

package main

// underRaceDetector: the tests and the program they run are several times
// slower.
const underRaceDetector = true
