package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the release build (-ldflags "-X main.version=…").
var version = "dev"

// versionCommand prints what this program is made of.
type versionCommand struct{}

// Run is called by kong.
func (versionCommand) Run(e *environment) error {
	_, err := fmt.Fprintf(e.stdout, "bridged %s (%s %s/%s, whatsmeow %s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, libraryVersion())
	return err
}

// libraryVersion returns the version of whatsmeow that was built in.
func libraryVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "go.mau.fi/whatsmeow" {
				return dep.Version
			}
		}
	}
	return "unknown"
}
