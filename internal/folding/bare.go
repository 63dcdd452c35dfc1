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
	return string(AppendBare(nil, []byte(folded)))
}

// AppendBare appends [Bare] of folded texts, which bytes that are not UTF-8 may separate.
// It is for reading thousands of them: the letters of the five scripts are looked up in a table.
func AppendBare(bare, folded []byte) []byte {
	table, kept := bareTable(), 0 // up to where the texts are appended
	loses := false                // whether the letter before loses its marks
	for i := 0; i < len(folded); {
		first, from := folded[i], i
		if first < utf8.RuneSelf {
			i += leadingASCII(folded[i:])
			loses = isLetter(folded[i-1])
			continue
		}
		var r rune
		switch {
		case 0xC2 <= first && first < 0xE0 && i+1 < len(folded): // two bytes, as most letters have that may change
			r, i = rune(first&0x1F)<<6|rune(folded[i+1]&0x3F), i+2
		case 0xE4 <= first && first < 0xEA && i+2 < len(folded): // U+4000 to U+9FFF, which are Han
			i, loses = i+3, false
			continue
		default:
			var size int
			r, size = utf8.DecodeRune(folded[i:])
			i += size
		}
		if r >= tableEnd {
			if !isMark(r) {
				loses = losesMarks(r)
			} else if loses {
				bare, kept = append(bare, folded[kept:from]...), i
			}
			continue
		}
		switch e := table[r]; {
		case e.bare == mark && loses:
			bare, kept = append(bare, folded[kept:from]...), i
		case e.bare == mark:
		case e.bare != 0:
			bare, kept = utf8.AppendRune(append(bare, folded[kept:from]...), rune(e.bare)), i
			loses = true
		default:
			loses = e.loses
		}
	}
	return append(bare, folded[kept:]...)
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

var bareTable = sync.OnceValue(func() *[tableEnd]entry {
	table := new([tableEnd]entry)
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

// isMark reports whether a character from tableEnd on is a mark. Han and Hangul, the most
// frequent ones there, have none.
func isMark(r rune) bool { return !isHanOrHangul(r) && unicode.Is(unicode.Mn, r) }

func isHanOrHangul(r rune) bool { return 0x3400 <= r && r < 0xA000 || 0xAC00 <= r && r < 0xD7A4 }

// losesMarks reports whether a letter without its marks is the same letter to searches.
func losesMarks(letter rune) bool {
	return !isHanOrHangul(letter) && unicode.In(letter, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
}
