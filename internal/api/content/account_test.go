package content

import (
	"strings"
	"testing"

	"bridged/internal/bridge"
)

func TestCheckAccount(t *testing.T) {
	t.Parallel()
	for _, right := range []bridge.AccountPatch{
		{Name: new("A")},
		{Name: new(strings.Repeat("é", 25)), About: new(strings.Repeat("é", 139))},
		{About: new("")},
		{About: new("two\nlines")},
	} {
		if err := CheckAccount(right); err != nil {
			t.Errorf("%+v: %v", right, err)
		}
	}
	for _, wrong := range []bridge.AccountPatch{
		{}, {Name: new("")}, {Name: new(" ")}, {Name: new("two\nlines")}, {Name: new(strings.Repeat("x", 26))}, {About: new(strings.Repeat("x", 140))},
	} {
		if err := CheckAccount(wrong); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// Each setting has values, which no other setting's name or value can replace.
func TestCheckPrivacy(t *testing.T) {
	t.Parallel()
	if err := CheckPrivacy(bridge.Privacy{}); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("nothing: %v", err)
	}
	for i, setting := range new(bridge.Privacy).All() {
		if len(privacyValues[setting.Name]) < 2 {
			t.Errorf("%s has the values %v", setting.Name, privacyValues[setting.Name])
		}
		for _, value := range append([]string{"", "contact_blacklist", "Some"}, privacyValues[setting.Name]...) {
			var p bridge.Privacy
			*p.All()[i].Value = &value
			isRight := len(value) > 0 && value != "contact_blacklist" && value != "Some"
			if err := CheckPrivacy(p); (err == nil) != isRight || err != nil && !strings.HasPrefix(err.Error(), setting.Name+" must be") {
				t.Errorf("%s %q: %v", setting.Name, value, err)
			}
		}
	}
}
