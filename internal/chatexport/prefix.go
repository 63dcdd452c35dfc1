package chatexport

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// form is the separator between the prefix of a line and its text.
type form int8

const (
	brackets form = iota // [15.01.21, 09:41:00] Anna: Hi, on iPhones
	dash                 // 15.01.21, 09:41 - Anna: Hi, on Android
	colon                // 15.01.21, 09:41:00: Anna: Hi, on old iPhones
	comma                // 2021년 1월 15일 오전 9:41, Anna : Hi, on old Android
	space                // 15. 1. 2021. 9:41:00 Anna: Hi, on iPhones before 2019
)

// shape distinguishes prefixes from dates in people's texts: all prefixes of an export have one shape.
type shape struct {
	form      form
	timeFirst bool
	seconds   bool
}

// prefix is the beginning of a message's first line: the date and the time.
type prefix struct {
	shape
	date      [3]int // as written
	width     [3]int // in digits
	sign      string // between the numbers of the date, without spaces
	dotted    bool   // with spaces between them, and a dot at the end: 24. 2. 13.
	era       int    // years before the first of an era that is named; 0 if none
	eraLast   bool   // the era is named after the year, which is then the last number of the date
	named     bool   // the month has its name, and the date is given day first
	hour      int
	minute    int
	second    int
	marker    marker
	word      string // near the time, with a meaning that is not known
	timestamp string // date and time as written
	app       bool   // the app set a mark before it
	rest      string // after the prefix
}

const (
	maxPrefix = 96 // characters
	maxWords  = 48 // bytes between two numbers
)

// prefixOf reads the prefix of a line, and reports whether it has one.
func prefixOf(line string) (h prefix, ok bool) {
	first, size := utf8.DecodeRuneInString(line)
	marked := false
	for isMark(first) || first == ' ' || first == '\u00a0' {
		marked = marked || isMark(first)
		line = line[size:]
		first, size = utf8.DecodeRuneInString(line)
	}
	if first != '[' && !unicode.IsDigit(first) && !unicode.IsLetter(first) {
		return prefix{}, false
	}
	plain, at := plainPrefix(line)
	if first == '[' {
		end := strings.IndexByte(plain, ']')
		if end < 0 {
			return prefix{}, false
		}
		h, ok = timestampOf(plain[1:end])
		h.form, h.app, h.rest = brackets, marked, line[at[end]:]
		return h, ok && (h.rest == "" || strings.HasPrefix(h.rest, " "))
	}
	for _, end := range []struct {
		sign string
		form form
	}{{" - ", dash}, {" – ", dash}, {" — ", dash}, {": ", colon}, {", ", comma}} {
		for from := 0; ; {
			i := strings.Index(plain[from:], end.sign)
			if i < 0 {
				break
			}
			i += from
			if h, ok = timestampOf(plain[:i]); ok {
				if spaced, isSpaced := spacedPrefix(line, plain, at); isSpaced && end.form == colon {
					return spaced, true
				}
				h.form, h.rest = end.form, line[at[i+len(end.sign)-1]:]
				if end.form != comma || h.sign == "년" || strings.Contains(h.rest, " : ") {
					return h, true
				}
			}
			from = i + 1
		}
	}
	return spacedPrefix(line, plain, at)
}

// spacedPrefix reads a prefix that ends with a space only. It has seconds, optionally AM or PM, and a sender follows.
func spacedPrefix(line, plain string, at []int) (found prefix, ok bool) {
	for i := range len(plain) {
		if plain[i] != ' ' {
			continue
		}
		h, isPrefix := timestampOf(plain[:i])
		h.form, h.rest = space, line[at[i]:]
		sender, _, hasSender := strings.Cut(h.rest, ": ")
		if !isPrefix || !h.seconds || h.word != "" || !hasSender || len(sender) > maxName {
			continue
		}
		if marker, word := markerOf("", sender); marker != none && word == "" {
			continue // AM or PM, which a colon follows
		}
		if !ok || h.marker != none {
			found, ok = h, true
		}
	}
	return found, ok
}

// plainPrefix returns the beginning of a line without marks, with plain spaces and digits, and
// where in the line the characters of its bytes end.
func plainPrefix(line string) (string, []int) {
	plain, at := make([]byte, 0, maxPrefix), make([]int, 0, maxPrefix)
	count := 0
	for i, r := range line {
		if count++; count > maxPrefix || r == utf8.RuneError {
			break
		}
		if isMark(r) {
			continue
		}
		if unicode.IsSpace(r) {
			r = ' '
		} else if r > unicode.MaxASCII && unicode.IsDigit(r) {
			r = '0' + digit(r)
		}
		plain = utf8.AppendRune(plain, r)
		_, size := utf8.DecodeRuneInString(line[i:])
		for len(at) < len(plain) {
			at = append(at, i+size)
		}
	}
	return string(plain), at
}

// digit returns the value of a decimal digit: each script has ten of them in a row, and
// rows that touch begin at a multiple of ten from each other.
func digit(r rune) rune {
	n := rune(0)
	for unicode.IsDigit(r - n - 1) {
		n++
	}
	return n % 10
}

// isMark reports whether a character is invisible: marks of the writing direction, joiners
// and the mark of the byte order.
func isMark(r rune) bool {
	return r == '\ufeff' || r == '\u200b' || r == '\u200c' || r == '\u200d' || r == '\u2060' || unicode.Is(unicode.Bidi_Control, r)
}

// number is a number of a prefix, with the words before it.
type number struct {
	before string
	value  int
	width  int
}

// timestampOf reads a date and a time in either order.
func timestampOf(s string) (prefix, bool) {
	numeric, named := inNumbers(s)
	numbers, tail, ok := numbersOf(numeric)
	if !ok || len(numbers) < 5 || len(numbers) > 6 {
		return prefix{}, false
	}
	dateFirst, first := timestampIn(numbers[:3], numbers[3:], false, tail)
	timeFirst, last := timestampIn(numbers[len(numbers)-3:], numbers[:len(numbers)-3], true, tail)
	h := dateFirst
	if last && (!first || !slices.Contains(numbers[:3], timeFirst.long()) && timeFirst.long().value > 31) {
		h = timeFirst
	}
	h.timestamp, h.named = strings.TrimSpace(s), named
	return h, first || last
}

// long returns the number of the date that has the most digits.
func (h prefix) long() number {
	most := number{}
	for i := range h.date {
		if h.width[i] > most.width {
			most = number{value: h.date[i], width: h.width[i]}
		}
	}
	return most
}

func numbersOf(s string) (numbers []number, tail string, ok bool) {
	start := 0
	for i := 0; i < len(s); {
		if s[i] < '0' || s[i] > '9' {
			i++
			continue
		}
		n := number{before: s[start:i]}
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n.value, n.width = n.value*10+int(s[i]-'0'), n.width+1
			if n.width > 4 {
				return nil, "", false
			}
		}
		if start = i; len(n.before) > maxWords || len(numbers) == 6 {
			return nil, "", false
		}
		numbers = append(numbers, n)
	}
	tail = s[start:]
	return numbers, tail, len(tail) <= maxWords && !strings.ContainsAny(tail, ",:،")
}

// timestampIn reads the numbers of a date and of a time.
func timestampIn(date, clock []number, timeFirst bool, tail string) (h prefix, ok bool) {
	if !isDate(date[1].before, date[2].before) || !isClock(clock) {
		return prefix{}, false
	}
	joint := clock[0].before
	leading := date[0].before
	if timeFirst {
		joint, leading = leading, joint
	}
	if strings.Trim(joint, "./-:") == "" {
		return prefix{}, false // it separates the numbers of one of the two
	}
	h.shape = shape{timeFirst: timeFirst, seconds: len(clock) == 3}
	long := 0
	for i, n := range date {
		h.date[i], h.width[i] = n.value, n.width
		if n.width > 2 {
			long++
		}
	}
	h.sign = strings.ReplaceAll(date[1].before, " ", "")
	h.dotted = h.sign == "." && date[1].before != h.sign && !timeFirst && strings.HasPrefix(joint, ".")
	h.hour, h.minute = clock[0].value, clock[1].value
	if len(clock) == 3 {
		h.second = clock[2].value
	}
	if long > 1 || h.hour > 24 || h.minute > 59 || h.second > 60 {
		return prefix{}, false
	}
	before, behind := joint, tail
	if timeFirst {
		before, behind = leading, joint+" "+tail
	} else if h.era, ok = eras[strings.ToLower(strings.TrimSpace(leading))]; !ok {
		return prefix{}, false
	} else if h.era == 0 {
		h.era, before = eraAfter(joint)
		h.eraLast = h.era != 0
	}
	if h.sign == "年" || h.sign == "년" {
		before, behind = withoutDay.Replace(before), withoutDay.Replace(behind)
	}
	h.marker, h.word = markerOf(before, behind)
	return h, strings.Count(h.word, " ") < 2
}

// withoutDay removes the word after the day of a date, which may follow without a space.
var withoutDay = strings.NewReplacer("日", " ", "일", " ")

// isDate reports whether two texts separate the numbers of a date.
func isDate(first, second string) bool {
	first, second = strings.ReplaceAll(first, " ", ""), strings.ReplaceAll(second, " ", "")
	switch first {
	case "/", ".", "-", "":
		return first == second
	case "年":
		return second == "月"
	case "년":
		return second == "월"
	}
	return false
}

// isClock reports whether texts separate the numbers of a time.
func isClock(clock []number) bool {
	if len(clock[1].before) > 8 || clock[0].width > 2 || clock[1].width != 2 {
		return false
	}
	first := strings.TrimSpace(clock[1].before)
	if !slices.Contains([]string{":", ".", "：", "h", "時", "时", "시"}, first) {
		return false
	}
	return len(clock) == 2 || clock[2].width == 2 && (first == strings.TrimSpace(clock[2].before) || slices.Contains([]string{"分", "분", "min"}, strings.TrimSpace(clock[2].before)))
}

// eras has the year before the first one of each era by its name in lower case (Unicode CLDR 47, calendars
// japanese and roc), and 0 for names of the common era, or none.
var eras = map[string]int{
	"令和": 2018, "平成": 1988, "昭和": 1925, "r": 2018, "h": 1988, "s": 1925, "reiwa": 2018, "heisei": 1988, "shōwa": 1925, "showa": 1925,
	"民國": 1911, "民国": 1911, "中華民國": 1911, "minguo": 1911, "r.o.c.": 1911, "roc": 1911,
	"西元": 0, "公元": 0, "西暦": 0, "": 0,
}

// eraAfter removes an era from the words between a date and a time, and returns the year before its
// first one; 0 without an era. A single letter must be a capital.
func eraAfter(joint string) (era int, rest string) {
	name := strings.TrimSpace(joint)
	if end := strings.IndexAny(name, " ,"); end >= 0 {
		name = name[:end]
	}
	era = eras[strings.ToLower(name)]
	if era == 0 || len(name) == 1 && strings.ToLower(name) == name {
		return 0, joint
	}
	return era, strings.Replace(joint, name, "", 1)
}
