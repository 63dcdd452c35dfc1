// Package harness runs the real executable as a separate process, connected to a simulated network with simulated
// phones. The packages next to it test the whole program, one package per subject, from outside: over HTTP, and by its
// signals, files and log. They import the harness with a dot, because nearly every line of a test uses it.
package harness
