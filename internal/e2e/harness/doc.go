// Package harness runs the real executable as a separate process, on a simulated network with real
// phones. The packages next to it hold the tests of the whole program, one package a subject: they
// look at the program from outside, over HTTP and by its signals, files and log. They import the
// harness with a dot, because nearly every line of a test uses it.
package harness
