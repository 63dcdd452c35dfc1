package content

import (
	"bufio"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

// emojiList is Unicode's emoji-test.txt, which lists all emoji there are:
//
//	go test ./internal/api -run TestEmoji -emoji /usr/share/unicode/emoji/emoji-test.txt
var emojiList = flag.String("emoji", "", "the path of emoji-test.txt")

func TestEmoji_IsOne(t *testing.T) {
	t.Parallel()
	for _, one := range []string{
		"", "👍", "🙏🏾", "❤", "❤️", "✌️🏽", "1️⃣", "1⃣", "#️⃣", "*️⃣", "🇮🇹", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "👩‍👩‍👧‍👦", "👩🏽‍❤️‍💋‍👨🏿", "🕵🏽‍♂️", "🏳️‍🌈",
		"ℹ️", "™️", "©", "‼️", "〰️", "㊗️", "↔️", "☺", "🅰️", "🏻", "\U0001FAE9", "\U0001FAFF",
	} {
		if !IsEmoji(one) {
			t.Errorf("%q (%+q) is refused", one, one)
		}
	}
	for _, not := range []string{
		"👍👍", "👍❤️", "1️⃣2️⃣", "🇮🇹🇫🇷", "🇮", "🇮🇹🇫", "🙏🏾🏾", "👍\u200d", "\u200d👍", "👩\u200d\u200d👩", "\ufe0f", "\u20e3", "1", "1️", "a⃣", "ok", "да", "文", "é", "👍a", "a👍", "👍 ", "👍\n",
		"🏴\U000E0067", "\U000E007F", "€", "!", "\ufffd", "\xff", "👍\xff", strings.Repeat("👩‍", 16) + "👩",
	} {
		if IsEmoji(not) {
			t.Errorf("%q (%+q) is accepted", not, not)
		}
	}
}

func TestEmoji_AllOfUnicode(t *testing.T) {
	t.Parallel()
	if *emojiList == "" {
		t.Skip("needs -emoji")
	}
	file, err := os.Open(*emojiList)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		points, _, found := strings.Cut(lines.Text(), ";")
		if !found || strings.HasPrefix(points, "#") {
			continue
		}
		var emoji strings.Builder
		for point := range strings.FieldsSeq(points) {
			r, err := strconv.ParseUint(point, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			emoji.WriteRune(rune(r))
		}
		all = append(all, emoji.String())
	}
	if len(all) < 4000 {
		t.Fatalf("%d emoji in the list", len(all))
	}
	for i, one := range all {
		if !IsEmoji(one) {
			t.Errorf("%q (%+q) is refused", one, one)
		}
		if two := one + all[(i*7+1)%len(all)]; IsEmoji(two) && !strings.HasSuffix(two, "🏻") && !strings.ContainsAny(two[len(one):], "🏻🏼🏽🏾🏿") {
			t.Errorf("%q (%+q) is accepted", two, two)
		}
	}
}
