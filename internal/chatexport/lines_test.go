package chatexport

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// inUTF16 returns a text in the encoding of some programs on Windows.
func inUTF16(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return b.String()
}

// TestFormat_OtherEncodings are refused: names and words would be lost.
func TestFormat_OtherEncodings(t *testing.T) {
	for name, text := range map[string]string{
		"Latin-1":           "13.01.25, 09:05 - Anna: hi\n13.01.25, 09:05 - J\xfcrgen: Gr\xfc\xdfe\n13.01.25, 09:06 - Anna: \xe4\n",
		"UTF-16":            inUTF16("13.01.25, 09:05 - Anna: hi\n13.01.25, 09:05 - Jürgen: Grüße\n"),
		"UTF-16, all ASCII": inUTF16("13.01.25, 09:05 - Anna: hi\n"),
	} {
		a, err := Open(strings.NewReader(text), int64(len(text)), limits)
		if err == nil {
			err = a.DetectFormat(Options{Zone: time.UTC, Now: now})
		}
		if bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "is not UTF-8") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMessages_BrokenCharacters in some lines are replaced, and named.
func TestMessages_BrokenCharacters(t *testing.T) {
	got, notes := readAll(t, []byte("13.01.25, 09:05 - Jürgen: Grüße\n13.01.25, 09:05 - Anna: \xf0\x9f\x98\nand ä"), Options{})
	if diff := cmp.Diff([]string{"Jürgen: Grüße", "Anna: \ufffd\nand ä"}, said(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{2}, doubted(notes)); diff != "" {
		t.Errorf("%s %+v", diff, notes)
	}
}

// TestMessages_LongTexts are cut, and named by the line in which they begin.
func TestMessages_LongTexts(t *testing.T) {
	long := func(n int) string { return strings.Repeat("ä", n) }
	for name, test := range map[string]struct {
		text     string
		doubtful []int
	}{
		"within the limit":           {long(bridge.MaxContent), []int{}},
		"beyond it":                  {long(bridge.MaxContent + 1), []int{1}},
		"beyond it, in two lines":    {long(bridge.MaxContent/2) + "\n" + long(bridge.MaxContent/2), []int{1}},
		"beyond what a line has":     {"x" + long(maxLine/2), []int{1}},
		"beyond what is held":        {long(maxText/4) + strings.Repeat("\n"+long(maxText/4), 3), []int{1}},
		"within, with a long ending": {"x" + strings.Repeat("\n", 2*bridge.MaxContent), []int{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes := readAll(t, []byte("13.01.25, 09:05 - Anna: "+test.text+"\n13.01.25, 09:06 - Anna: ok"), Options{})
			if diff := cmp.Diff(test.doubtful, doubted(notes)); diff != "" || len(got) != 2 || bytes.ContainsRune([]byte(got[0].Text), '\ufffd') {
				t.Errorf("%d messages, doubts: %s %+v", len(got), diff, notes)
			}
		})
	}
}
