// Package e2e holds the tests of the whole program: each runs the real
// executable as a separate process, on a simulated network with real phones,
// and looks at it from outside, over HTTP and by its signals, files and log.
package e2e
