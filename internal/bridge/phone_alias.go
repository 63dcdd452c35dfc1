package bridge

import "slices"

// spelling describes the two ways in which numbers of a country are written: one has a
// digit more, in a fixed place. WhatsApp knows an account by one of them, which is not
// always the one that people dial.
type spelling struct {
	country string
	extra   byte   // the digit
	at      int    // its place, after the country and perhaps an area code
	short   int    // the length without it
	next    string // the digits that may follow it; the others are not the same subscriber
}

var spellings = []spelling{
	// Brazil put a 9 before mobile numbers, after the area code of two digits. Those
	// that begin with 2 to 5 are fixed lines, and other subscribers than with a 9.
	{country: "55", extra: '9', at: 4, short: 12, next: "6789"},
	// Mexico dropped the 1 that calls to mobiles from abroad had.
	{country: "52", extra: '1', at: 2, short: 12, next: "23456789"},
	// Argentina has a 9 before mobile numbers in calls from abroad.
	{country: "54", extra: '9', at: 2, short: 12, next: "123"},
}

// PhoneAliases returns the other spellings of the subscriber who has a number in E.164
// digits; none for most countries.
func PhoneAliases(number string) (aliases []string) {
	for _, s := range spellings {
		if alias, ok := s.other(number); ok {
			aliases = append(aliases, alias)
		}
	}
	return aliases
}

// SamePhone reports whether two numbers in E.164 digits are one subscriber's.
func SamePhone(a, b string) bool {
	return a == b || slices.Contains(PhoneAliases(a), b)
}

// other returns a number's other spelling.
func (s spelling) other(number string) (string, bool) {
	if len(number) < s.short || number[:len(s.country)] != s.country {
		return "", false
	}
	head, tail := number[:s.at], number[s.at:]
	switch {
	case len(number) == s.short && s.mayFollow(tail):
		return head + string(s.extra) + tail, true
	case len(number) == s.short+1 && tail[0] == s.extra && s.mayFollow(tail[1:]):
		return head + tail[1:], true
	}
	return "", false
}

// mayFollow reports whether these digits may follow the extra one.
func (s spelling) mayFollow(digits string) bool {
	return slices.Contains([]byte(s.next), digits[0])
}
