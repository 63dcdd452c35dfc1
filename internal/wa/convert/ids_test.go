package convert

import (
	"strings"
	"testing"
)

// TestMessageID_IsTheSendersOwnUnlessItLeadsAstray covers ids that browsers
// normalise away, that proxies decode into other paths, and that forge lines.
func TestMessageID_IsTheSendersOwnUnlessItLeadsAstray(t *testing.T) {
	for _, id := range []string{"", "3EB0D467C0908FF4C75180", "A", "1700000000.123-4", "a:b=c+d", strings.Repeat("F", maxIDLength)} {
		if got := ID(id); got != id {
			t.Errorf("idOf(%q) = %q, want it unchanged", id, got)
		}
	}
	seen := map[string]string{}
	for _, id := range []string{".", "..", "a/b", `a\b`, "%2e", "a b", "a\nb", "\x1b[31m", "a\x00", "ä", "\xff", "\u202e", strings.Repeat("F", maxIDLength+1)} {
		got := ID(id)
		if got == id || !isPlainID(got) || got != ID(id) {
			t.Errorf("idOf(%q) = %q", id, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %q have the same id", id, other)
		}
		seen[got] = id
	}
}
