//go:build !race

package e2e

const underRaceDetector = false
