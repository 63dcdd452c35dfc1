package folding

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bare returns a folded text without the accents of Latin, Greek and Cyrillic letters and
// the points of Hebrew and Arabic ones. In other scripts marks make letters: those of kana
// and Indic vowels stay.
func Bare(folded string) string {
	if isASCII(folded) {
		return folded
	}
	bare, _ := AppendBare(nil, []byte(folded), AppendAccents(nil, []byte(folded)))
	return string(bare)
}

// AppendAccents appends where folded texts, which bytes that are not UTF-8 may separate, have
// the accents that [Bare] leaves out: before each letter or mark that changes, how many bytes
// do not. A byte of mostKept stands for as many, with more to come.
func AppendAccents(accents, folded []byte) []byte {
	table, kept := bareTable(), 0 // from where on nothing changes
	loses := false                // whether the letter before loses its marks
	for i := 0; i < len(folded); {
		if folded[i] < utf8.RuneSelf {
			i += leadingASCII(folded[i:])
			loses = isLetter(folded[i-1])
			continue
		}
		r, size := utf8.DecodeRune(folded[i:])
		changes := false
		switch {
		case table.isMark(r):
			changes = loses
		case r < tableEnd:
			changes, loses = table[r].bare != 0, table[r].loses
		default:
			loses = losesMarks(r)
		}
		if changes {
			for ; i-kept >= mostKept; kept += mostKept {
				accents = append(accents, mostKept)
			}
			accents, kept = append(accents, byte(i-kept)), i+size
		}
		i += size
	}
	return accents
}

const mostKept = 0xFF

// MayHaveAccents reports whether [Bare] may make a folded text of another one: then it has a
// letter of the five scripts, or begins with a mark of a letter before it.
func MayHaveAccents(folded string) bool {
	for i, r := range folded {
		if losesMarks(r) || i == 0 && unicode.Is(unicode.Mn, r) {
			return true
		}
	}
	return false
}

// AppendBare appends folded texts without the accents that [AppendAccents] has found in them.
// It reports whether the texts can have them there: a damaged file may say otherwise.
func AppendBare(bare, folded, accents []byte) ([]byte, bool) {
	table := bareTable()
	for _, kept := range accents {
		n := int(kept)
		if n >= len(folded) {
			return bare, false
		}
		bare, folded = append(bare, folded[:n]...), folded[n:]
		if n == mostKept {
			continue
		}
		r, size := utf8.DecodeRune(folded)
		folded = folded[size:]
		switch {
		case table.isMark(r):
		case r >= tableEnd || table[r].bare == 0:
			return bare, false
		default:
			bare = utf8.AppendRune(bare, rune(table[r].bare))
		}
	}
	return append(bare, folded...), true
}

// leadingASCII returns how many of the first bytes are ASCII.
func leadingASCII(s []byte) (n int) {
	for len(s)-n >= 8 && binary.LittleEndian.Uint64(s[n:])&0x8080808080808080 == 0 {
		n += 8
	}
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

func isLetter(ascii byte) bool { return 'a' <= ascii && ascii <= 'z' || 'A' <= ascii && ascii <= 'Z' }

// entry says what becomes of a character: a letter that has its accents in itself becomes
// bare, others stay. If it loses its marks, those that follow it are left out.
type entry struct {
	bare  uint16
	loses bool
}

const (
	// tableEnd comes after the last letter of the five scripts that has an accent in itself.
	tableEnd = 0x2000
	// mark is what a mark becomes.
	mark = 0xFFFF
)

// entries has the entry of each character below tableEnd.
type entries [tableEnd]entry

var bareTable = sync.OnceValue(func() *entries {
	table := new(entries)
	for r := rune(utf8.RuneSelf); r < tableEnd; r++ {
		if unicode.Is(unicode.Mn, r) {
			table[r].bare = mark
			continue
		}
		letter, _ := utf8.DecodeRune(norm.NFD.AppendString(nil, string(r)))
		table[r].loses = losesMarks(letter)
		if letter != r && table[r].loses {
			table[r].bare = uint16(letter)
		}
	}
	return table
})

// isMark reports whether a character is a mark. Han and Hangul, the most frequent ones beyond
// the table, have none.
func (t *entries) isMark(r rune) bool {
	if r < tableEnd {
		return t[r].bare == mark
	}
	return !isHanOrHangul(r) && unicode.Is(unicode.Mn, r)
}

func isHanOrHangul(r rune) bool { return 0x3400 <= r && r < 0xA000 || 0xAC00 <= r && r < 0xD7A4 }

// tatweel lengthens Arabic words, and carries points. Unicode counts it to no script.
const tatweel = 'ـ'

// losesMarks reports whether a letter without its marks is the same letter to searches.
func losesMarks(letter rune) bool {
	return letter == tatweel || !isHanOrHangul(letter) && unicode.In(letter, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
}
