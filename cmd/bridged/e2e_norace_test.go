//go:build !race

package main

const underRaceDetector = false
