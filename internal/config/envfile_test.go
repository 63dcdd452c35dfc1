package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
)

// Each of these is what docker compose reads out of the same lines.
func TestEnvFile_ReadsWhatComposeReads(t *testing.T) {
	for text, want := range map[string][]string{
		"A=b":                                  {"A=b"},
		"\ufeffA=b\r\nexport B = c d \r\n":     {"A=b", "B=c d"},
		"# A=b\n\n  # c\nA=b # c\nB=b#c\nC=#c": {"A=b", "B=b#c", "C="},
		`A="b # c" # d`:                        {"A=b # c"},
		"A='b $C ${D} \\n' # d":                {`A=b $C ${D} \n`},
		`A="b\n\"c\"\\ \$D"`:                   {"A=b\n\"c\"\\ $D"},
		"A=\"b\n# c\nd\"\nB=e":                 {"A=b\n# c\nd", "B=e"},
		"A='b\nc'":                             {"A=b\nc"},
		"A: b\nB=":                             {"A=b", "B="},
		"OUTSIDE\nA=$OUTSIDE-${OUTSIDE}s":      {"A=out-outs"},
		"A=b\nA=${A}c":                         {"A=b", "A=bc"},
		"A=${NONE:-b c}\nB=${NONE-d}\nC=$NONE": {"A=b c", "B=d", "C="},
		"A=${EMPTY:-b}${EMPTY-c}":              {"A=b"},
		"A=b$$c":                               {"A=b$c"},
	} {
		read, err := parseEnvFile(text, map[string]string{"OUTSIDE": "out", "EMPTY": ""})
		var got []string
		for _, v := range read {
			got = append(got, v.name+"="+v.value)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// A bad line is named by its number. What it holds may be a secret.
func TestEnvFile_NamesABadLine(t *testing.T) {
	for text, want := range map[string]string{
		"A=b\nhush hush":          "line 2 must be NAME=value",
		"\n\n1A=hush":             "line 3 must be NAME=value",
		"A=$(hush)":               "line 1 has a $ that names no variable",
		"A=hush$":                 "line 1 has a $ that names no variable",
		"A=${hush:?or}":           "line 1 has a $ that names no variable",
		"B=1\nA=\"hush\nhush":     "line 2 opens a quote that nothing closes",
		"A='hush' hush":           "line 1 goes on behind the closing quote",
		"A=hush\x00":              "line 1 has a zero byte",
		"A=\"hush\nhush\" hush\n": "line 2 goes on behind the closing quote",
	} {
		_, err := parseEnvFile(text, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The environment overrides the file, also with the other one of a variable and its file.
func TestEnvFile_IsOverridden(t *testing.T) {
	file := filepath.Join(t.TempDir(), "variables")
	if err := os.WriteFile(file, []byte("BRIDGE_TOKEN=of-the-file\nWEBHOOK_SECRET_FILE=/x\nPHONE_NUMBER=1\nENABLE_SEND=true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ, warning, err := WithEnvFile([]string{"BRIDGE_TOKEN_FILE=/run/token", "WEBHOOK_SECRET=own", "PHONE_NUMBER="}, file)
	got := env.ToMap(environ)
	if err != nil || warning != "" || got["BRIDGE_TOKEN"] != "" || got["WEBHOOK_SECRET_FILE"] != "" || got["PHONE_NUMBER"] != "" || got["ENABLE_SEND"] != "true" {
		t.Errorf("%q, %q, %v", environ, warning, err)
	}
}

// .env is read where it is private, and otherwise left out with a sentence; a file that was
// named has to be read.
func TestEnvFile_IsPrivate(t *testing.T) {
	t.Chdir(t.TempDir())
	if environ, warning, err := WithEnvFile([]string{"A=b"}, ""); err != nil || warning != "" || len(environ) != 1 {
		t.Errorf("without a file: %q, %q, %v", environ, warning, err)
	}
	if _, _, err := WithEnvFile(nil, EnvFile); !strings.Contains(errorText(err), "cannot be read") {
		t.Errorf("a file that is named and missing: %v", err)
	}
	for mode, isPrivate := range map[fs.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o622: false} {
		if err := errors.Join(os.RemoveAll(EnvFile), os.WriteFile(EnvFile, []byte("A=hush"), 0o600), os.Chmod(EnvFile, mode)); err != nil {
			t.Fatal(err)
		}
		environ, warning, err := WithEnvFile(nil, "")
		if err != nil || (len(environ) == 1) != isPrivate || strings.Contains(warning, "chmod 600 .env") == isPrivate {
			t.Errorf("%o: %q, %q, %v", mode, environ, warning, err)
		}
		if _, warning, err := WithEnvFile(nil, EnvFile); (err == nil) != isPrivate || warning != "" || strings.Contains(errorText(err), "hush") {
			t.Errorf("%o, named: %q, %v", mode, warning, err)
		}
	}
}

// A file .env of another program does not have to be mended, and the null device has no mode to change.
func TestEnvFile_CanBeLeftOut(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(EnvFile, []byte("source other.env\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := WithEnvFile(nil, ""); !strings.Contains(errorText(err), "--env-file "+os.DevNull) {
		t.Errorf("a file with faults: %v", err)
	}
	if environ, warning, err := WithEnvFile([]string{"A=b"}, os.DevNull); err != nil || warning != "" || len(environ) != 1 {
		t.Errorf("without: %q, %q, %v", environ, warning, err)
	}
	if _, _, err := WithEnvFile(nil, "."); !strings.Contains(errorText(err), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
