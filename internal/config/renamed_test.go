package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

// renames gives variables former names for a test.
func renames(t *testing.T, table map[string]rename) {
	t.Helper()
	before := renamed
	renamed = table
	t.Cleanup(func() { renamed = before })
}

const tokenSetting = "BRIDGE_TOKEN=a-token-of-the-tests-0123456789"

// A former name counts for one more minor version, in the environment, in .env and with _FILE, and a
// warning names the new one. A value under the new name wins; values of the environment win over the
// file, whatever their names.
func TestRenamed_FormerNamesCountWithAWarning(t *testing.T) {
	renames(t, map[string]rename{"ACCOUNT_NUMBER": {"PHONE_NUMBER", "1.4"}, "HOOK_SECRET": {"WEBHOOK_SECRET", "1.4"}})
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("whsec_"+strings.Repeat("YWFh", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		useNew  = "ACCOUNT_NUMBER has a new name, PHONE_NUMBER: rename it, because bridged 1.4 no longer reads ACCOUNT_NUMBER"
		ignored = "ACCOUNT_NUMBER is ignored, because PHONE_NUMBER is set, which is its new name: remove ACCOUNT_NUMBER"
	)
	for name, test := range map[string]struct {
		environ  []string
		file     string
		number   string
		warnings []string
	}{
		"in the environment":                 {[]string{"ACCOUNT_NUMBER=15551234567"}, "", "15551234567", []string{useNew}},
		"in .env":                            {nil, "ACCOUNT_NUMBER=15551234567\n", "15551234567", []string{useNew}},
		"both":                               {[]string{"ACCOUNT_NUMBER=15551234567", "PHONE_NUMBER=15557654321"}, "", "15557654321", []string{ignored}},
		"the new one is empty":               {[]string{"ACCOUNT_NUMBER=15551234567", "PHONE_NUMBER="}, "", "15551234567", []string{useNew}},
		"both in .env":                       {nil, "PHONE_NUMBER=15557654321\nACCOUNT_NUMBER=15551234567\n", "15557654321", []string{ignored}},
		"the file has the new one":           {[]string{"ACCOUNT_NUMBER=15551234567"}, "PHONE_NUMBER=15557654321\n", "15551234567", []string{useNew}},
		"the file has the former one":        {[]string{"PHONE_NUMBER=15557654321"}, "ACCOUNT_NUMBER=15551234567\n", "15557654321", nil},
		"neither":                            {nil, "", "", nil},
		"a variable that only looks similar": {[]string{"ACCOUNT_NUMBER_FILE=/x"}, "", "", nil},
	} {
		file := filepath.Join(dir, "file.env")
		if err := os.WriteFile(file, []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		environ, _, err := WithEnvFile(append(test.environ, tokenSetting), file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Read(environ)
		if err != nil || c.PhoneNumber != test.number || !slices.Equal(c.Misspelt, test.warnings) {
			t.Errorf("%s: %q, %q, %v", name, c.PhoneNumber, c.Misspelt, err)
		}
	}
	for _, environ := range [][]string{{"HOOK_SECRET_FILE=" + secret}, {"HOOK_SECRET_FILE=" + secret, "WEBHOOK_SECRET="}} {
		c, err := Read(append(environ, tokenSetting, "WEBHOOK_URL=https://hooks.example.com"))
		if err != nil || len(c.Webhooks) != 1 || len(c.Misspelt) != 1 || !strings.HasPrefix(c.Misspelt[0], "HOOK_SECRET_FILE has a new name, WEBHOOK_SECRET_FILE:") {
			t.Errorf("with _FILE: %q, %v", c.Misspelt, err)
		}
	}
	// The secret of the new name wins over the file of the former one.
	own := "whsec_" + strings.Repeat("YmJi", 8)
	if c, err := Read([]string{tokenSetting, "WEBHOOK_URL=https://hooks.example.com", "WEBHOOK_SECRET=" + own, "HOOK_SECRET_FILE=" + secret}); err != nil || c.WebhookSecret != own {
		t.Errorf("both forms: %v", err)
	}
	if _, err := Part([]string{"ACCOUNT_NUMBER=no number"}, (*Config).checkPhoneNumber); err == nil || !strings.Contains(err.Error(), "PHONE_NUMBER") {
		t.Errorf("a faulty value under a former name: %v", err)
	}
}

// Each former name leads to a variable, and is read only until the version that is announced.
func TestRenamed_FormerNamesEnd(t *testing.T) {
	changelog, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	released := "v0.0"
	if found := regexp.MustCompile(`(?m)^## \[(\d+\.\d+)`).FindSubmatch(changelog); found != nil {
		released = "v" + string(found[1])
	}
	for former, to := range renamed {
		if slices.Contains(Variables(), former) || !slices.Contains(Variables(), to.name) {
			t.Errorf("%s is renamed to %s", former, to.name)
		}
		if !semver.IsValid("v"+to.until) || semver.Compare("v"+to.until, released) <= 0 {
			t.Errorf("%s is read until %q, and %s is released: move it to retired", former, to.until, released)
		}
	}
}

// What "bridged config" shows of a variable under a former name: its value and where it comes from.
func TestRenamed_AreExplained(t *testing.T) {
	renames(t, map[string]rename{"ACCOUNT_NUMBER": {"PHONE_NUMBER", "1.4"}})
	environ := []string{tokenSetting, "ACCOUNT_NUMBER=15551234567"}
	for source, file := range map[string]FileRead{FromEnvironment: {}, "x.env": {Name: "x.env", Set: []string{"ACCOUNT_NUMBER"}}} {
		e := Explain(environ, file)
		i := slices.IndexFunc(e.Variables, func(v Explained) bool { return v.Name == "PHONE_NUMBER" })
		if v := e.Variables[i]; v.Value != "15551234567" || !v.IsSet || v.From != source || len(e.Unknown) != 1 || !strings.Contains(e.Unknown[0].Sentence, "PHONE_NUMBER") {
			t.Errorf("%s: %+v, %+v", source, v, e.Unknown)
		}
	}
}
