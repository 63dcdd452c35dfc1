package convert

import "testing"

func TestReplaceName(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		found      bool
	}{
		"absent":                 {"nobody here", "nobody here", false},
		"alone":                  {"@123", "@9", true},
		"in the text":            {"hey @123, and @123!", "hey @9, and @9!", true},
		"of a longer number":     {"@1234", "@1234", false},
		"beside a longer number": {"@1234 @123", "@1234 @9", true},
		"within a longer one":    {"@@123 x@123", "@@9 x@9", true},
		"without the sign":       {"123", "123", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, found := ReplaceName(test.text, "123", "9"); got != test.want || found != test.found {
				t.Errorf("got %q, %v, want %q, %v", got, found, test.want, test.found)
			}
		})
	}
	if got, found := ReplaceName("@123", "123", "1234"); got != "@1234" || !found {
		t.Errorf("a name that begins like its replacement: got %q, %v", got, found)
	}
}
