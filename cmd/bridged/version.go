package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the release, which the build sets (-ldflags "-X main.version=…").
var version = "dev"

func (e *environment) versionCommand() *cobra.Command {
	return withoutEnvFile(e.newCommand("version", versionHelp, func([]string) error { return e.printVersion() }))
}

func (e *environment) printVersion() error {
	_, err := fmt.Fprintln(e.stdout, versionLine())
	return err
}

// versionLine returns the versions that a bug report should contain.
func versionLine() string {
	return fmt.Sprintf("bridged %s (%s %s/%s, whatsmeow %s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, libraryVersion())
}

func userAgent() string { return "bridged/" + version }

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
