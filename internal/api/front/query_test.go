package front

import (
	"net/url"
	"strings"
	"testing"
)

func TestCheckParameters_NamesTheOneThatWasMeant(t *testing.T) {
	known := []string{"type", "limit", "cursor", "fromMe", "hasMedia", "since"}
	for query, want := range map[string]string{
		"":                          "",
		"type=image&limit=1&since=": "",
		"limti=1":                   `"limti" is not a parameter of this route: did you mean limit?`,
		"types=x":                   "did you mean type?",
		"FROMME=true":               "did you mean fromMe?",
		"hasmedia=true":             "did you mean hasMedia?",
		"before=2026-01-01":         `"before" is not a parameter of this route, which has cursor, fromMe, hasMedia, limit, since, type`,
		"z=1&before=2":              `"before"`,
		"%0a=1":                     `"\n" is not a parameter`,
		strings.Repeat("x", 500):    "x…\"",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		switch err := CheckParameters(values, known); {
		case err == nil && want != "":
			t.Errorf("%s is accepted", query)
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
	if err := CheckParameters(url.Values{"limit": {"1"}}, nil); err == nil || !strings.Contains(err.Error(), "which has none") {
		t.Error(err)
	}
}
