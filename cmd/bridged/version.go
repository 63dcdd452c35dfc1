package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"bridged/internal/shell"
	"bridged/internal/wa"
)

// version is the released version. The build sets it (-ldflags "-X main.version=…").
var version = "dev"

const versionCheckHelp = `

With --check, it compares this program with the latest release: the first version at the beginning of a line of the
file. The file can be a CHANGELOG.md, or have only the version. The exit code is 1 if this program is older. bridged
itself sends no request; fetch the file as you like:

  curl -fsS https://example.com/bridged/CHANGELOG.md | bridged version --check -`

func (e *environment) versionCommand() *cobra.Command {
	var file string
	var asJSON bool
	c := e.newCommand("version", versionHelp+versionCheckHelp, func([]string) error {
		switch {
		case file != "":
			return printVersionCheck(e.stdout, file, asJSON)
		case asJSON:
			return shell.PrintJSON(e.stdout, struct {
				Version   string `json:"version"`
				GoVersion string `json:"goVersion"`
				OS        string `json:"os"`
				Arch      string `json:"arch"`
				Library   string `json:"library"`       // whatsmeow's version, as in /api/stats
				Client    string `json:"clientVersion"` // of WhatsApp Web, which is built in
			}{version, runtime.Version(), runtime.GOOS, runtime.GOARCH, libraryVersion(), wa.ClientVersion()})
		}
		_, err := fmt.Fprintln(e.stdout, versionLine())
		return err
	})
	c.Flags().StringVar(&file, "check", "", "Compare with the latest release that this `FILE` names, or - for standard input, and fail with exit code 1 if this program is older")
	addJSON(c.Flags(), &asJSON)
	return withoutEnvFile(c)
}

// printVersionCheck compares this program with a file, prints the result, and fails if it is outdated.
func printVersionCheck(w io.Writer, file string, asJSON bool) error {
	check, err := checkVersion(file, os.Stdin)
	switch {
	case err != nil:
		return err
	case asJSON:
		err = shell.PrintJSON(w, check)
	case !check.Outdated:
		err = shell.Printf(w, "bridged %s is up to date: the latest release is %s.\n", check.Version, check.Latest)
	}
	if check.Outdated {
		err = errors.Join(err, fmt.Errorf("version %s is outdated: %s is released", check.Version, check.Latest))
	}
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
