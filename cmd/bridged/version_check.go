package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"

	"bridged/internal/shell"
)

// maxReleases limits the file of [latestIn], in bytes.
const maxReleases = 1 << 20

// release matches a line that begins with a version, also as a heading of a changelog: "## [1.2.3] - 2026-11-21".
var release = regexp.MustCompile(`(?m)^(?:#+ *)?\[?v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)(?:[\] \t\r]|$)`)

// versionCheck is the result of comparing this program with the latest release.
type versionCheck struct {
	Version  string `json:"version"`
	Latest   string `json:"latest"`
	Outdated bool   `json:"outdated"`
}

// checkVersion compares this program with the first version in a file, or on standard input if it is "-".
func checkVersion(file string, input io.Reader) (check versionCheck, err error) {
	if !semver.IsValid("v" + strings.TrimPrefix(version, "v")) {
		return check, shell.Usage("this bridged is version %s, which is not a release, so it cannot be compared", version)
	}
	latest, err := latestIn(file, input)
	if err != nil {
		return check, err
	}
	check = versionCheck{Version: strings.TrimPrefix(version, "v"), Latest: latest}
	check.Outdated = semver.Compare("v"+check.Version, "v"+latest) < 0
	return check, nil
}

// latestIn returns the first version that begins a line of a file.
func latestIn(file string, input io.Reader) (latest string, err error) {
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer opened.Close()
		input = opened
	}
	text, err := io.ReadAll(io.LimitReader(input, maxReleases))
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", file, err)
	}
	found := release.FindSubmatch(text)
	if found == nil {
		return "", shell.Usage("%s has no line that begins with a version, such as 1.2.3 or ## [1.2.3]", file)
	}
	return string(found[1]), nil
}
