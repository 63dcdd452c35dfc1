//go:build !linux

package document

import "os/exec"

// limitProcess does nothing: time and size limit the process here.
func limitProcess() error { return nil }

// dieWithParent does nothing: the process ends with its input.
func dieWithParent(*exec.Cmd) {}
