package bridge

import "testing"

func TestPhoneAliases_AreTheSameSubscriber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ long, short string }{
		{"5531987654321", "553187654321"},
		{"5511961234567", "551161234567"},
		{"5215512345678", "525512345678"},
		{"5491123456789", "541123456789"},
		{"5493511234567", "543511234567"},
	} {
		for _, pair := range [][2]string{{c.long, c.short}, {c.short, c.long}} {
			if got := PhoneAliases(pair[0]); len(got) != 1 || got[0] != pair[1] {
				t.Errorf("%s: %v, want %s", pair[0], got, pair[1])
			}
			if !SamePhone(pair[0], pair[1]) {
				t.Errorf("%s is not %s", pair[0], pair[1])
			}
		}
	}
}

// TestPhoneAliases_NeverNameAnother: a message to the wrong person is worse than one
// that is refused.
func TestPhoneAliases_NeverNameAnother(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]string{
		"fixed line in Brazil":              "551132345678",
		"mobile that never was shorter":     "5511951234567",
		"too long for Brazil":               "55119612345678",
		"Mexico, area codes never have a 1": "521512345678",
		"Argentina, no area code":           "545123456789",
		"Germany":                           "4915112345678",
		"United States":                     "15215512345678"[:11],
		"short":                             "5255",
		"empty":                             "",
	} {
		if got := PhoneAliases(number); len(got) != 0 {
			t.Errorf("%s (%s): %v", name, number, got)
		}
	}
	if !SamePhone("4915112345678", "4915112345678") || SamePhone("5531987654321", "5531987654322") {
		t.Error("SamePhone compares wrongly")
	}
}
