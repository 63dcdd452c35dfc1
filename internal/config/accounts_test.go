package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The accounts at one address can all have the same list, in which each finds itself by its path or
// its URL.
func TestConfig_Accounts(t *testing.T) {
	const list = "ACCOUNTS= Anna=/a/anna , Shop & Co=/a/shop/, Berlin=https://berlin.example.com/wa,Home=/"
	for own, settings := range map[string][]string{
		"Anna":      {"BASE_PATH=/a/anna"},
		"Shop & Co": {"BASE_PATH=/a/shop"},
		"Berlin":    {"BASE_PATH=/wa", "PUBLIC_URL=https://Berlin.example.com"},
		"Home":      nil,
	} {
		c, err := Read(append(settings, list, "BRIDGE_TOKEN=a-token-of-the-tests-0123456789"))
		want := []Account{{Name: "Anna", Address: "/a/anna"}, {Name: "Shop & Co", Address: "/a/shop"}, {Name: "Berlin", Address: "https://berlin.example.com/wa"}, {Name: "Home"}}
		for i := range want {
			want[i].IsOwn = want[i].Name == own
		}
		if err != nil || !slices.Equal(c.AccountList, want) {
			t.Errorf("%s: %+v, %v", own, c.AccountList, err)
		}
	}
}

func TestConfig_AccountsAreChecked(t *testing.T) {
	var many strings.Builder
	for i := range 51 {
		fmt.Fprintf(&many, ",N%d=/a/n%d", i, i)
	}
	const must, own, twice, below = "ACCOUNTS must be NAME=PATH", "ACCOUNTS must have this bridge once", "ACCOUNTS has two accounts", "ACCOUNTS has"
	for wrong, want := range map[string]string{
		"Anna": must, "=/a/anna": must, "Anna=": must, "Anna=a/anna": must, "Anna=/a/an na": must, "Anna=//evil.example": must, "Anna=/a/../b": must, "Anna=/a?b": must,
		strings.Repeat("x", 31) + "=/a/anna": must, "A\u202eb=/a/anna": must,
		"Anna=ftp://x.example": must, "Anna=https://": must, "Anna=https://me:secret@x.example": must, "Anna=https://x.example?a=b": must, "Anna=https://x.example/a.b": must, "Anna=javascript:alert(1)": must,
		"Shop=/a/shop": own, "Anna=https://other.example/a/anna": own, "Anna=/a/anna,Anna too=https://home.example/a/anna": own,
		"Anna=/a/anna,ANNA=/a/shop": twice, "Anna=/a/anna,Shop=/a/anna/": twice,
		"Anna=/a/anna,Shop=/a/anna/shop": below, "Anna=/a/anna,All=/a": below,
		"Anna=/a/anna" + many.String(): "ACCOUNTS must have at most 50",
	} {
		_, err := Read([]string{"BRIDGE_TOKEN=a-token-of-the-tests-0123456789", "BASE_PATH=/a/anna", "PUBLIC_URL=https://home.example", "ACCOUNTS=" + wrong})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", wrong, err, want)
		}
	}
}
