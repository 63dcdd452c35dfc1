package bridge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// These are the lengths of phone numbers in E.164 digits, with the country code.
const (
	minPhone = 7
	maxPhone = 15
)

// ParsePhone returns the E.164 digits of a phone number in any common spelling: with a + or 00
// before the country code, with spaces, dashes, dots, slashes and parentheses anywhere. Its
// [Error] of [CodeInvalid] is a sentence that continues after the name of the field.
func ParsePhone(s string) (string, error) {
	number := plainPhone(s)
	if international, ok := strings.CutPrefix(number, "+"); ok {
		number = international
	} else {
		number = strings.TrimPrefix(number, "00")
	}
	switch {
	case !IsDigits(number):
		return "", Invalid("must be a phone number in E.164 digits with the country code, such as " + ExamplePhone + " or +1 555 123-4567")
	case number[0] == '0':
		return "", Invalid("must begin with the country code, not with 0: E.164 digits such as " + ExamplePhone)
	case len(number) < minPhone || len(number) > maxPhone:
		return "", Invalid("must have %d to %d E.164 digits with the country code, such as 15551234567", minPhone, maxPhone)
	}
	return number, nil
}

// plainPhone returns a number without punctuation and without "(0)", the national prefix that is
// not dialled from abroad.
func plainPhone(s string) string {
	return strings.Map(func(r rune) rune {
		if isPhonePunctuation(r) {
			return -1
		}
		return r
	}, strings.Replace(s, "(0)", "", 1))
}

// isPhonePunctuation reports whether r is only punctuation in a phone number. Address books add
// marks of the writing direction.
func isPhonePunctuation(r rune) bool {
	return strings.ContainsRune(`-.()/`, r) || r == ' ' || r == '\t' || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Pd, r) || unicode.Is(unicode.Bidi_Control, r)
}

// PhoneDigits returns the digits of a number, or of a part of one, in any common spelling,
// without leading zeros. It returns "" for other text.
func PhoneDigits(s string) string {
	number := strings.TrimPrefix(plainPhone(s), "+")
	if !IsDigits(number) {
		return ""
	}
	if short := strings.TrimLeft(number, "0"); short != "" {
		return short
	}
	return number
}

// spelling describes the two spellings of a country's numbers, one of which has an additional
// digit. WhatsApp knows an account by one of them, which is not always the one that people dial.
type spelling struct {
	country string
	extra   byte   // the additional digit
	at      int    // its position, after the country code and possibly an area code
	short   int    // the length without it
	next    string // the digits that may follow it in numbers of the same subscriber
}

var spellings = []spelling{
	// Brazil put a 9 before mobile numbers, after the area code. Numbers that start with 2 to 5
	// are fixed lines.
	{country: "55", extra: '9', at: 4, short: 12, next: "6789"},
	// Mexico dropped the 1 that was dialled before mobile numbers from abroad.
	{country: "52", extra: '1', at: 2, short: 12, next: "23456789"},
	// Argentina has a 9 before mobile numbers that are dialled from abroad.
	{country: "54", extra: '9', at: 2, short: 12, next: "123"},
}

// PhoneAliases returns the other spellings of a number in E.164 digits, if any.
func PhoneAliases(number string) (aliases []string) {
	for _, s := range spellings {
		if alias, ok := s.other(number); ok {
			aliases = append(aliases, alias)
		}
	}
	return aliases
}

// OtherPhone says that PHONE_NUMBER is not the number of the paired account.
func OtherPhone(paired, configured string) string {
	return fmt.Sprintf("PHONE_NUMBER (%s) is not the number of the paired account (%s), which runs nevertheless: "+
		"correct PHONE_NUMBER, or log out and pair the other account with an empty DATA_DIR", Redact(configured), Redact(paired))
}

// SamePhone reports whether two numbers in E.164 digits belong to the same subscriber.
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

// mayFollow reports whether these digits may follow the additional one.
func (s spelling) mayFollow(digits string) bool {
	return slices.Contains([]byte(s.next), digits[0])
}

// numberInText matches possible phone numbers: users with agent and device, with or without a
// server, and plain digits. In the ids of other bridges' messages they follow an underscore.
var numberInText = regexp.MustCompile(`\+?(?:\b|_)\d{7,}(?:[.:_]\d+)*(?:@[a-z.]+)?`)

// serverLegacyUser is the server of phone numbers in old JIDs.
const serverLegacyUser = "c.us"

// ExamplePhone is the number in sentences that show how to write one. It is not assigned to a subscriber.
const ExamplePhone = "15551234567"

// Redact returns a text for the log with only the last two digits of its phone numbers, including
// the numbers in ids of old groups. LIDs stay; without a server they appear in Signal addresses,
// with an agent.
func Redact(text string) string {
	return numberInText.ReplaceAllStringFunc(text, func(found string) string {
		bare := strings.TrimPrefix(found, "_")
		before := found[:len(found)-len(bare)]
		user, server, isJID := strings.Cut(strings.TrimPrefix(bare, "+"), "@")
		number, device := user, ""
		if i := strings.IndexAny(user, ".:_"); i >= 0 {
			number, device = user[:i], user[i:]
		}
		switch {
		case isJID && server != ServerUser && server != serverLegacyUser,
			!isJID && (len(number) > maxPhone || strings.HasPrefix(device, "_")):
			return found
		case isJID:
			server = "@" + server
		}
		return before + "…" + number[len(number)-2:] + device + server
	})
}
