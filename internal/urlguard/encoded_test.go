package urlguard

import (
	"net/url"
	"testing"
)

// Package net/url leaves queries as they are: a space in one broke the request line.
func TestEncoded_WritesQueriesAsBrowsersDo(t *testing.T) {
	for raw, want := range map[string]string{
		"https://host/p?q=two words":        "https://host/p?q=two%20words",
		"https://host/p?q=käse&r=日本":        "https://host/p?q=k%C3%A4se&r=%E6%97%A5%E6%9C%AC",
		"https://host/p?q=k%C3%A4se+%20":    "https://host/p?q=k%C3%A4se+%20",
		"https://host/p?q=100%&r=%zz":       "https://host/p?q=100%&r=%zz",
		`https://host/p?q="'<>` + "`{|}^[]": "https://host/p?q=%22%27%3C%3E`{|}^[]",
		"https://host/a b/ä?x=1":            "https://host/a%20b/%C3%A4?x=1",
		"https://host/p?":                   "https://host/p?",
		"https://host":                      "https://host",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := Encoded(u).String(); got != want {
			t.Errorf("%s is sent as %s, want %s", raw, got, want)
		}
	}
}
