package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestBody_Forms(t *testing.T) {
	t.Parallel()
	good := `{"jid":"15557654321@s.whatsapp.net","text":"hi"}`
	tests := []struct {
		name, contentType, body string
		status                  int
		says                    string
	}{
		{"json", "application/json", good, 200, ""},
		{"json with charset", "application/json; charset=UTF-8", good, 200, ""},
		{"no type", "", good, 200, ""},
		{"suffix", "application/vnd.api+json", good, 200, ""},
		{"white space around", "application/json", " \r\n" + good + "\n\t", 200, ""},
		{"unknown field", "application/json", `{"jid":"15557654321@s.whatsapp.net","text":"hi","x":{"y":[1]}}`, 200, ""},
		{"form", "application/x-www-form-urlencoded", good, 400, "Content-Type"},
		{"plain", "text/plain", good, 400, "Content-Type"},
		{"broken type", "json", good, 400, "Content-Type"},
		{"latin1", "application/json; charset=latin1", good, 400, "charset"},
		{"empty", "application/json", " ", 400, "empty"},
		{"null", "application/json", "null", 400, "JSON object"},
		{"array", "application/json", "[" + good + "]", 400, "JSON object"},
		{"string", "application/json", `"hi"`, 400, "JSON object"},
		{"cut off", "application/json", good[:20], 400, "not valid JSON"},
		{"trailing word", "application/json", good + " x", 400, "with nothing after it"},
		{"second object", "application/json", good + good, 400, "with nothing after it"},
		{"invalid UTF-8", "application/json", "{\"jid\":\"15557654321@s.whatsapp.net\",\"text\":\"\xff\"}", 400, "text is not valid UTF-8"},
		{"invalid UTF-8 in a name", "application/json", "{\"\xff\":1}", 400, "not valid UTF-8"},
		{"largest", "application/json", good + strings.Repeat(" ", 1<<20-len(good)), 200, ""},
		{"too large", "application/json", good + strings.Repeat(" ", 1<<20-len(good)+1), 413, "1 MiB"},
	}
	s := stocked(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := s.Post("/api/messages/send", test.body, "Content-Type", test.contentType)
			if got.Status != test.status || !strings.Contains(got.Error(), test.says) {
				t.Errorf("%d %s, want %d %q", got.Status, got.Body, test.status, test.says)
			}
			if test.status == http.StatusRequestEntityTooLarge && got.Code() != "payload_too_large" {
				t.Errorf("code %q", got.Code())
			}
		})
	}
}
