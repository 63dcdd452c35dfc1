package hooks

import (
	"net/http"
	"testing"
)

// What a payload says marks nothing up; what the template says does.
func TestRender_PayloadsMarkNothingUp(t *testing.T) {
	template, err := Parse(`*{{.payload}}* {{raw .payload}}`)
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		"*bold*":                          "∗bold∗",
		"_it_ and ~no~":                   "ˍitˍ and ∼no∼",
		"```code``` `x`":                  "ˋˋˋcodeˋˋˋ ˋxˋ",
		"snake_case_name":                 "snake_case_name",
		"__init__":                        "ˍˍinitˍˍ",
		"see https://x.example/_a_/~b?c*": "see https://x.example/%5Fa%5F/%7Eb?c%2A",
		"https://x.example/a_b":           "https://x.example/a_b",
		"one\r\ntwo\x00\x1b[31m":          "one\ntwo[31m",
		"\u202Eevil\u2066":                "evil",
		"5 * 3":                           "5 ∗ 3",
	} {
		got, err := template.Render(said, http.Header{})
		if want := "*" + want + "* " + said; got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", said, got, err, want)
		}
	}
}
