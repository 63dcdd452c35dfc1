package bridge

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNameByMembers_IsShort(t *testing.T) {
	for _, test := range []struct {
		want    string
		names   []string
		unnamed int
	}{
		{"", nil, 0},
		{"1 member", nil, 1},
		{"3 members", nil, 3},
		{"Ada", []string{"Ada"}, 0},
		{"Ada, Grace, 1 other", []string{"Ada", "Grace"}, 1},
		{"A, B, C, D", []string{"A", "B", "C", "D"}, 0},
		{"A, B, C, D, 3 others", []string{"A", "B", "C", "D", "E"}, 2},
	} {
		if got := NameByMembers(test.names, test.unnamed); got != test.want {
			t.Errorf("%v and %d: %q, want %q", test.names, test.unnamed, got, test.want)
		}
	}
	long := NameByMembers(slices.Repeat([]string{strings.Repeat("é", 60)}, 1024), 0)
	if n := utf8.RuneCountInString(long); n > maxMembersName || !strings.HasSuffix(long, "…, 1023 others") {
		t.Errorf("%d characters: %s", n, long)
	}
}
