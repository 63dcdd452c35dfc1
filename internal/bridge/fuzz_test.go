package bridge

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bridged/internal/fuzzbudget"
)

// Names of accounts and chats are read as what they are, refused with a sentence,
// and never logged whole.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"15551234567@s.whatsapp.net", "1-2@g.us", "+1 (555) 123-4567", "1@lid", "１@lid", "@", "status@broadcast", "1:2@s.whatsapp.net", strings.Repeat("1", 300), "brt_ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		fuzzbudget.Usual.Check(t, len(name), func() {
			jid, err := ParseJID(name)
			if err != nil && (CodeOf(err) != CodeInvalid || !utf8.ValidString(err.Error())) {
				t.Errorf("%q: %v", name, err)
			}
			if again, twice := ParseJID(string(jid)); err == nil && (twice != nil || again != jid) {
				t.Errorf("%q is %q, and that %q, %v", name, jid, again, twice)
			}
			if digits, err := ParsePhone(name); err == nil && (len(digits) < 5 || strings.Trim(digits, "0123456789") != "") {
				t.Errorf("%q is the number %q", name, digits)
			}
			if user := jid.User(); err == nil && jid.IsPerson() && len(user) > 6 && strings.Contains(Redact(name), user) {
				t.Errorf("the log tells %q", Redact(name))
			}
			guessJID(name)
			if strings.Trim(PhoneDigits(name), "0123456789") != "" {
				t.Errorf("%q has the digits %q", name, PhoneDigits(name))
			}
		})
	})
}

// A server makes the bridge wait for a bounded time, whatever it asks for.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"5", "-1", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT", "", "1.5", "9223372036854775807"} {
		f.Add(value)
	}
	now := time.Date(2026, 10, 21, 7, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string) {
		fuzzbudget.Usual.Check(t, len(value), func() {
			if wait := RetryAfter(value, now, time.Hour); wait < 0 || wait > time.Hour {
				t.Errorf("%q is %v", value, wait)
			}
		})
	})
}
