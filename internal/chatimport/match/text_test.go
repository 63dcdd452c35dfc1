package match

import (
	"strings"
	"testing"

	"bridged/internal/fuzzbudget"
)

func TestText_IsTheSameWhateverAMentionIsSpelledLike(t *testing.T) {
	long := strings.Repeat("n", maxMention)
	for _, test := range []struct {
		stored   string
		spelled  []string
		exported string
		want     bool
	}{
		{"hi", nil, "hi", true},
		{"hi @Anna", nil, "hi @Ben", false},
		{"hi @15551234567!", []string{"15551234567"}, "hi @Anna Amsel!", true},
		{"hi @15551234567!", []string{"15551234567"}, "hi @15551234567!", true},
		{"hi @98765432101234!", []string{"15551234567", "98765432101234"}, "hi @Anna Amsel!", true},  // by LID
		{"hi @Anna Amsel!", []string{"15551234567", "Anna Amsel", "Anna"}, "hi @15551234567!", true}, // by name
		{"hi @Anna Amsel!", []string{"Anna", "Anna Amsel"}, "hi @A.!", true},                         // the longest one
		{"hi @15551234567!", []string{"15551234567"}, "hi @!", false},                                // nobody
		{"hi @15551234567!", []string{"15551234567"}, "hi Anna!", false},
		{"hi @15551234567!", []string{"15551234567"}, "hi @Anna?", false},
		{"@1", []string{"1"}, "@A\nB", false},
		{"@1", []string{"1"}, "@" + long, true},
		{"@1", []string{"1"}, "@" + long + "n", false},
		{"@1@1@1", []string{"1"}, "@A@B@C", true},
		{"@1@1@1", []string{"1"}, "@A@B", false},
		{"@1 @2", []string{"2", "1"}, "@Anna Amsel @Ben", true},
		{"@1 @2 and @3", []string{"2", "1"}, "@Anna @Ben and @3", true},
		{"@1 @2 and @3", []string{"2", "1"}, "@Anna @Ben and @C", false},
		{"@1 @1", []string{"1"}, "@you @home @you @home", true}, // names with an @ in them
		{"@1 x @1 y", []string{"1"}, "@A x x @B y", true},
		{"@", []string{"1"}, "@", true},
	} {
		if got := NewText(test.stored, test.spelled...).Is(test.exported); got != test.want {
			t.Errorf("%q as %q is %v", test.stored, test.exported, got)
		}
	}
}

// FuzzText compares texts that have thousands of mentions, in time that grows linearly with them.
func FuzzText(f *testing.F) {
	f.Add("@1@1@1", "@A@B@C", "1", 1000)
	f.Add("@1 ", "@@ ", "1", 4000)
	f.Add("a", "aa", "a", 3000)
	f.Fuzz(func(t *testing.T, stored, exported, spelled string, times int) {
		times = min(max(times, 1), 5000)
		stored, exported = strings.Repeat(stored, times), strings.Repeat(exported, times)
		if len(stored)+len(exported) > 1<<19 {
			t.Skip()
		}
		fuzzbudget.Usual.Check(t, len(stored)+len(exported), func() {
			text := NewText(stored, spelled)
			if !text.Is(stored) {
				t.Errorf("%q is not itself", stored)
			}
			text.Is(exported)
		})
	})
}
