package spelling

import "testing"

func TestNearest_CountsChangedLetters(t *testing.T) {
	known := []string{"limit", "cursor", "msgId"}
	for _, c := range []struct {
		name string
		most int
		want string
	}{
		{"limit", 0, "limit"},
		{"limti", 1, "limit"}, // two letters swapped
		{"lmit", 1, "limit"},
		{"cursors", 1, "cursor"},
		{"corsur", 1, ""},
		{"corsur", 2, "cursor"},
		{"msgid", 1, "msgId"},
		{"chat", 2, ""},
		{"", 2, ""},
	} {
		if got := Nearest(c.name, known, c.most); got != c.want {
			t.Errorf("%q within %d: %q, want %q", c.name, c.most, got, c.want)
		}
	}
}
