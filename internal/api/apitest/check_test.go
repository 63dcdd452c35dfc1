package apitest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// recorder is a testing.TB that only remembers that it was failed.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// answers is a network that always gives one answer.
type answers struct {
	status int
	header http.Header
	body   string
}

func (a answers) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Header: a.header, Request: req,
		Body: io.NopCloser(strings.NewReader(a.body)),
	}, nil
}

// A checker that never objects would be worth nothing: each of these has one
// thing wrong, or nothing.
func TestChecked_ObjectsToWhatTheDocumentDoesNotAllow(t *testing.T) {
	sent := `{"ok":true,"msgId":"M","timestamp":"2026-11-21T12:00:00.000Z","chatJid":"1@lid"}`
	tests := []struct {
		name, method, path, body string
		status                   int
		answer                   string
		objects                  string
	}{
		{"as documented", "GET", "/healthz", "", 200, `{"ok":true,"ts":"2026-11-21T12:00:00.000Z"}`, ""},
		{"field missing", "GET", "/healthz", "", 200, `{"ok":true}`, "ts"},
		{"field too many", "GET", "/healthz", "", 200, `{"ok":true,"ts":"2026-11-21T12:00:00.000Z","x":1}`, "additional"},
		{"time without milliseconds", "GET", "/healthz", "", 200, `{"ok":true,"ts":"2026-11-21T12:00:00Z"}`, "pattern"},
		{"null list", "GET", "/api/chats", "", 200, `{"count":0,"chats":null,"hasMore":false,"nextCursor":null}`, "chats"},
		{"status not documented", "GET", "/healthz", "", 418, `{"error":"x","code":"internal"}`, "status"},
		{"code of another status", "GET", "/api/chats", "", 400, `{"error":"x","code":"internal"}`, "code"},
		{"unauthorized without challenge", "GET", "/api/chats", "", 401, `{"error":"x","code":"unauthorized"}`, "Authenticate"},
		{"accepted as documented", "POST", "/api/messages/send", `{"jid":"1@lid","text":"x"}`, 200, sent, ""},
		{"accepted against the document", "POST", "/api/messages/send", `{"jid":"1@lid"}`, 200, sent, "accepted"},
		{"refused against the document", "POST", "/api/messages/send", `{"jid":"1@lid"}`, 400, `{"error":"x","code":"invalid_request"}`, ""},
		{"accepted parameter out of range", "GET", "/api/chats?limit=501", "", 200, `{"count":0,"chats":[],"hasMore":false,"nextCursor":null}`, "limit"},
		{"unknown route refused", "GET", "/nothing", "", 404, `{"error":"x","code":"not_found"}`, ""},
		{"unknown route answered", "GET", "/nothing", "", 200, `{}`, "not documented"},
		{"unknown route with another body", "GET", "/nothing", "", 404, `{"message":"x"}`, "error"},
		{"405 without Allow", "PUT", "/healthz", "", 405, `{"error":"x","code":"method_not_allowed"}`, "Allow"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tb := &recorder{TB: t}
			client := http.Client{Transport: Checked(tb, answers{test.status, http.Header{"Content-Type": {"application/json"}}, test.answer})}
			req, err := http.NewRequest(test.method, "http://bridged"+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != test.answer {
				t.Errorf("the body became %q, %v", body, err)
			}
			objections := strings.Join(tb.failures, "\n")
			if (objections == "") != (test.objects == "") || !strings.Contains(objections, test.objects) {
				t.Errorf("objections %q, want %q", objections, test.objects)
			}
		})
	}
}

func TestCheckPosted_ObjectsToWhatTheDocumentDoesNotHave(t *testing.T) {
	const fine = `{"type":"reset","timestamp":"2026-11-21T12:00:00.000Z","data":{"after":3}}`
	tests := []struct{ name, body, without, objects string }{
		{"as documented", fine, "", ""},
		{"field too many", strings.Replace(fine, `"after":3`, `"after":3,"x":1`, 1), "", "additional"},
		{"field missing", `{"type":"reset","data":{"after":3}}`, "", "timestamp"},
		{"another type", strings.Replace(fine, "reset", "restart", 1), "", "restart"},
		{"another type's data", strings.Replace(fine, "reset", "webhook.test", 1), "", "webhookId"},
		{"no id", fine, "webhook-id", "webhook-id"},
		{"no time", fine, "webhook-timestamp", "webhook-timestamp"},
		{"no signature", fine, "webhook-signature", "webhook-signature"},
		{"another kind of body", fine, "Content-Type", "Content-Type"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPost, "http://receiver/in", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("webhook-id", "evt_3_19aa")
			req.Header.Set("webhook-timestamp", "1795262400")
			req.Header.Set("webhook-signature", "v1,"+strings.Repeat("A", 43)+"=")
			req.Header.Del(test.without)
			err = CheckPosted(req, []byte(test.body))
			if (err == nil) != (test.objects == "") || err != nil && !strings.Contains(err.Error(), test.objects) {
				t.Errorf("objection %v, want %q", err, test.objects)
			}
		})
	}
}
