package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version names the release; its build sets it (-ldflags "-X main.version=…").
var version = "dev"

func versionCommand() *command {
	return newCommand("version", versionHelp, func(e *environment, _ []string) error { return e.printVersion() }).withoutEnvFile()
}

func (e *environment) printVersion() error {
	_, err := fmt.Fprintln(e.stdout, versionLine())
	return err
}

// versionLine returns the versions that a report of a fault should name.
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
