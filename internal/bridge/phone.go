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
	number := plainPhone(s)
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

// plainPhone returns a number without what only makes it readable, and without
// "(0)", the national prefix that is not dialled from abroad.
func plainPhone(s string) string {
	return strings.Map(func(r rune) rune {
		if isPhonePunctuation(r) {
			return -1
		}
		return r
	}, strings.Replace(s, "(0)", "", 1))
}

// isPhonePunctuation reports whether r only makes a phone number readable.
// Address books add marks of the direction of writing.
func isPhonePunctuation(r rune) bool {
	return strings.ContainsRune(`-.()/`, r) || r == ' ' || r == '\t' || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Pd, r) || unicode.Is(unicode.Bidi_Control, r)
}

// PhoneDigits returns the digits of a number, or of a part of one, as people
// write it: without what stands before the country code or an area code. It
// returns nothing for text that is no number.
func PhoneDigits(s string) string {
	number := strings.TrimPrefix(plainPhone(s), "+")
	if number == "" || !digits(number) {
		return ""
	}
	if short := strings.TrimLeft(number, "0"); short != "" {
		return short
	}
	return number
}
