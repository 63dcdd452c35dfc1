package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asVersion makes the program another release during a test.
func asVersion(t *testing.T, other string) {
	before := version
	version = other
	t.Cleanup(func() { version = before })
}

func TestVersion_IsComparedWithAFile(t *testing.T) {
	for name, test := range map[string]struct {
		version, text string
		code          int
		says          string
	}{
		"a version alone":       {"1.2.3", "1.2.3\n", 0, "bridged 1.2.3 is up to date: the latest release is 1.2.3."},
		"older":                 {"1.2.3", "v1.10.0", 1, "version 1.2.3 is outdated: 1.10.0 is released"},
		"newer":                 {"1.2.3", "1.2.2", 0, "up to date: the latest release is 1.2.2"},
		"a changelog":           {"1.2.3", "# Changelog\n\nOf 9.9.9 and others.\n\n## [Unreleased]\n\n- 8.8.8\n\n## [1.3.0] - 2026-11-21\n\n## [1.2.3]\n", 1, "1.3.0 is released"},
		"lines of Windows":      {"v1.2.3", "1.2.3\r\nsecond\r\n", 0, "up to date"},
		"before a release":      {"1.2.3-rc.1", "1.2.3", 1, "outdated"},
		"a release candidate":   {"1.2.3", "1.3.0-rc.1", 1, "1.3.0-rc.1 is released"},
		"no version":            {"1.2.3", "<html>1.2.3</html>", 2, "has no line that begins with a version"},
		"a longer number":       {"1.2.3", "1.2.3.4", 2, "no line"},
		"empty":                 {"1.2.3", "", 2, "no line"},
		"a build of the source": {"dev", "1.2.3", 2, "is version dev, which is not a release"},
	} {
		t.Run(name, func(t *testing.T) {
			asVersion(t, test.version)
			path := filepath.Join(t.TempDir(), "latest")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"version", "--check", path}, nil, &stdout, &stderr)
			if code != test.code || !strings.Contains(stdout.String()+stderr.String(), test.says) {
				t.Errorf("exit code %d, want %d\n%s%s", code, test.code, &stdout, &stderr)
			}
		})
	}
}

func TestVersion_ChecksWithJSON(t *testing.T) {
	asVersion(t, "1.2.3")
	check, err := checkVersion("-", strings.NewReader("1.2.4"))
	if want := (versionCheck{Version: "1.2.3", Latest: "1.2.4", Outdated: true}); err != nil || check != want {
		t.Errorf("%+v, %v", check, err)
	}
	var stdout, stderr bytes.Buffer
	path := filepath.Join(t.TempDir(), "latest")
	if err := os.WriteFile(path, []byte("1.2.4"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := run(t.Context(), []string{"version", "--json", "--check", path}, nil, &stdout, &stderr)
	if want := `{"version":"1.2.3","latest":"1.2.4","outdated":true}` + "\n"; code != exitFailure || stdout.String() != want {
		t.Errorf("%d: %s", code, &stdout)
	}
}
