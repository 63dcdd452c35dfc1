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

// Each of these is what systemd and docker compose read out of the same lines.
func TestEnvFile_ReadsWhatSystemdReads(t *testing.T) {
	for text, want := range map[string][]string{
		"A=b":                                 {"A=b"},
		"\ufeffA=b\r\n B = c d \r\n":          {"A=b", "B=c d"},
		"# A=b\n\n  # c\n; d\nA=b\nB=b#c\nC=": {"A=b", "B=b#c", "C="},
		`A="b # c" `:                          {"A=b # c"},
		`A='b $C ${D} "\n" # d'`:              {`A=b $C ${D} "\n" # d`},
		"A=b\nA=c":                            {"A=b", "A=c"},
		"A=''\nB=\"\"":                        {"A=", "B="},
	} {
		read, err := parseEnvFile(text)
		var got []string
		for _, v := range read {
			got = append(got, v.name+"="+v.value)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// A bad line is named by its number. Its value may be a secret. What systemd and docker
// compose read in different ways is refused.
func TestEnvFile_NamesABadLine(t *testing.T) {
	const must, quotes = "must be NAME=value", "put the value in single quotes"
	for text, want := range map[string]string{
		"A=b\nhush hush":     "line 2 " + must,
		"\n\n1A=hush":        "line 3 " + must,
		"export A=hush":      "line 1 " + must,
		"A: hush":            "line 1 " + must,
		"B=1\nA=\"hush\nc\"": quotes,
		"A=$hush":            quotes,
		"A=\"${hush}\"":      quotes,
		`A=hu\sh`:            quotes,
		`A="hu\"sh"`:         quotes,
		"A='hush' hush":      quotes,
		"A=hush'hush'":       quotes,
		"A=hush # hush":      quotes,
		"A=hush\t#hush":      quotes,
		"A=#hush":            quotes,
		"A=hush\x00":         quotes,
	} {
		_, err := parseEnvFile(text)
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
	environ, read, err := WithEnvFile([]string{"BRIDGE_TOKEN_FILE=/run/token", "WEBHOOK_SECRET=own", "PHONE_NUMBER="}, file)
	got := env.ToMap(environ)
	if err != nil || read.Warning != "" || got["BRIDGE_TOKEN"] != "" || got["WEBHOOK_SECRET_FILE"] != "" || got["PHONE_NUMBER"] != "" || got["ENABLE_SEND"] != "true" {
		t.Errorf("%q, %+v, %v", environ, read, err)
	}
	if set, overridden := strings.Join(read.Set, " "), strings.Join(read.Overridden, " "); set != "ENABLE_SEND" || overridden != "BRIDGE_TOKEN WEBHOOK_SECRET_FILE PHONE_NUMBER" {
		t.Errorf("it sets %s, and not %s", set, overridden)
	}
}

// .env is read where it is private, and otherwise left out with a sentence; a file that was
// named has to be read.
func TestEnvFile_IsPrivate(t *testing.T) {
	t.Chdir(t.TempDir())
	if environ, read, err := WithEnvFile([]string{"A=b"}, ""); err != nil || read.Warning != "" || len(environ) != 1 {
		t.Errorf("without a file: %q, %q, %v", environ, read.Warning, err)
	}
	if _, _, err := WithEnvFile(nil, EnvFile); !strings.Contains(errorText(err), "cannot be read") {
		t.Errorf("a file that is named and missing: %v", err)
	}
	for mode, isPrivate := range map[fs.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o622: false} {
		if err := errors.Join(os.RemoveAll(EnvFile), os.WriteFile(EnvFile, []byte("A=hush"), 0o600), os.Chmod(EnvFile, mode)); err != nil {
			t.Fatal(err)
		}
		environ, read, err := WithEnvFile(nil, "")
		if err != nil || (len(environ) == 1) != isPrivate || strings.Contains(read.Warning, "chmod 600 .env") == isPrivate {
			t.Errorf("%o: %q, %q, %v", mode, environ, read.Warning, err)
		}
		if _, read, err := WithEnvFile(nil, EnvFile); (err == nil) != isPrivate || read.Warning != "" || strings.Contains(errorText(err), "hush") {
			t.Errorf("%o, named: %q, %v", mode, read.Warning, err)
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
	if environ, read, err := WithEnvFile([]string{"A=b"}, os.DevNull); err != nil || read.Warning != "" || len(environ) != 1 {
		t.Errorf("without: %q, %q, %v", environ, read.Warning, err)
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
