package folding

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// StripAccents returns a case-folded text without the accents of Latin, Greek and Cyrillic
// letters and without the points of Hebrew and Arabic letters. Marks in other scripts stay,
// because they make different letters there: kana, or the vowels of Indic scripts.
func StripAccents(folded string) string {
	if isASCII(folded) {
		return folded
	}
	stripped, _ := AppendStripped(nil, []byte(folded), AppendAccents(nil, []byte(folded)))
	return string(stripped)
}

// AppendAccents appends the places at which [StripAccents] changes case-folded texts. Bytes that
// are not UTF-8 may separate the texts. For each letter or mark that changes, it appends the
// number of unchanged bytes before it; a byte of maxRun means that many unchanged bytes and that
// the number continues in the next byte.
func AppendAccents(accents, folded []byte) []byte {
	table, done := accentTable(), 0 // the offset after the last change
	loses := false                  // whether the letter before loses its marks
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
			changes, loses = table[r].base != 0, table[r].loses
		default:
			loses = losesMarks(r)
		}
		if changes {
			for ; i-done >= maxRun; done += maxRun {
				accents = append(accents, maxRun)
			}
			accents, done = append(accents, byte(i-done)), i+size
		}
		i += size
	}
	return accents
}

const maxRun = 0xFF

// MayHaveAccents reports whether [StripAccents] may change a case-folded text. Such a text has a
// letter of the five scripts, or begins with a mark that belongs to a letter before it.
func MayHaveAccents(folded string) bool {
	for i, r := range folded {
		if losesMarks(r) || i == 0 && unicode.Is(unicode.Mn, r) {
			return true
		}
	}
	return false
}

// AppendStripped appends case-folded texts without the accents that [AppendAccents] found in
// them. It returns false if the texts cannot have accents there, as in a damaged file.
func AppendStripped(stripped, folded, accents []byte) ([]byte, bool) {
	table := accentTable()
	for _, run := range accents {
		n := int(run)
		if n >= len(folded) {
			return stripped, false
		}
		stripped, folded = append(stripped, folded[:n]...), folded[n:]
		if n == maxRun {
			continue
		}
		r, size := utf8.DecodeRune(folded)
		folded = folded[size:]
		switch {
		case table.isMark(r):
		case r >= tableEnd || table[r].base == 0:
			return stripped, false
		default:
			stripped = utf8.AppendRune(stripped, rune(table[r].base))
		}
	}
	return append(stripped, folded...), true
}

// leadingASCII returns the number of ASCII bytes at the start of s.
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

// entry says how one character changes. An accented letter becomes base; 0 means no change. If
// loses is set, the marks after the letter are left out.
type entry struct {
	base  uint16
	loses bool
}

const (
	// tableEnd follows the last letter of the five scripts that is encoded with its accent.
	tableEnd = 0x2000
	// mark is the base of a combining mark, which is left out.
	mark = 0xFFFF
)

// entries has an entry for each character up to tableEnd.
type entries [tableEnd]entry

var accentTable = sync.OnceValue(func() *entries {
	table := new(entries)
	for r := rune(utf8.RuneSelf); r < tableEnd; r++ {
		if unicode.Is(unicode.Mn, r) {
			table[r].base = mark
			continue
		}
		letter, _ := utf8.DecodeRune(norm.NFD.AppendString(nil, string(r)))
		table[r].loses = losesMarks(letter)
		if letter != r && table[r].loses {
			table[r].base = uint16(letter)
		}
	}
	return table
})

// isMark reports whether a character is a combining mark. Han and Hangul are the most frequent
// characters beyond the table and have no marks.
func (t *entries) isMark(r rune) bool {
	if r < tableEnd {
		return t[r].base == mark
	}
	return !isHanOrHangul(r) && unicode.Is(unicode.Mn, r)
}

func isHanOrHangul(r rune) bool { return 0x3400 <= r && r < 0xA000 || 0xAC00 <= r && r < 0xD7A4 }

// tatweel lengthens Arabic words and carries points. Unicode assigns it to no script.
const tatweel = 'ـ'

// losesMarks reports whether searches ignore the marks of a letter.
func losesMarks(letter rune) bool {
	return letter == tatweel || !isHanOrHangul(letter) && unicode.In(letter, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
}
