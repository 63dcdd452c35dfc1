package bridge

import (
	"strings"
	"unicode"
)

// The lengths of phone numbers in E.164 digits, with the country code. The
// network takes no shorter ones.
const (
	minPhone = 7
	maxPhone = 15
)

// ParsePhone returns the E.164 digits of a phone number as people write it:
// with a + or 00 before the country code, with spaces, dashes, dots, slashes
// and parentheses anywhere. What is no international number is refused with an
// [Error] of [CodeInvalid], whose sentence goes on after the name of the field.
func ParsePhone(s string) (string, error) {
	// "(0)" is the national prefix, which is not dialled from abroad.
	number := strings.Replace(s, "(0)", "", 1)
	number = strings.Map(func(r rune) rune {
		if isPhonePunctuation(r) {
			return -1
		}
		return r
	}, number)
	if international, ok := strings.CutPrefix(number, "+"); ok {
		number = international
	} else {
		number = strings.TrimPrefix(number, "00")
	}
	switch {
	case !digits(number):
		return "", Invalid("must be a phone number in E.164 digits with the country code, such as 15551234567 or +1 555 123-4567")
	case number[0] == '0':
		return "", Invalid("must begin with the country code, not with 0: E.164 digits such as 15551234567")
	case len(number) < minPhone || len(number) > maxPhone:
		return "", Invalid("must have %d to %d E.164 digits with the country code, such as 15551234567", minPhone, maxPhone)
	}
	return number, nil
}

// isPhonePunctuation reports whether r only makes a phone number readable.
// Address books add marks of the direction of writing.
func isPhonePunctuation(r rune) bool {
	return strings.ContainsRune(`-.()/`, r) || r == ' ' || r == '\t' || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Pd, r) || unicode.Is(unicode.Bidi_Control, r)
}
