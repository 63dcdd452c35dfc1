//go:build !linux

package document

import "os/exec"

// limitProcess does nothing: on this system only time and size limit the process.
func limitProcess() error { return nil }

// dieWithParent does nothing: the process ends when its input ends.
func dieWithParent(*exec.Cmd) {}
