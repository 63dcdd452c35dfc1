package receiving

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

// Chats that do not exist: a request's own faults are reported before any look-up,
// and before the socket is needed.
const (
	somebody  = "491510000009%40s.whatsapp.net"
	someGroup = "120363000000000009%40g.us"
)

// TestRefusals_ReadingParameters passes invalid values in every parameter of every
// read endpoint. The error names the parameter.
func TestRefusals_ReadingParameters(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t))
	group, individual := "/api/groups/"+someGroup+"/messages", "/api/messages/individual/"+somebody
	numbers := func(more ...string) []string {
		return append([]string{"", "abc", "1.5", "-1", "1e2", "99999999999999999999", "0x10"}, more...)
	}
	moments := []string{"", "yesterday", "2026-13-01", "2026-02-30", "2026-01-01T25:00:00Z", "2026-01-01T10:00:00", "1763700000"}
	people := []string{"", "491510000009", "@s.whatsapp.net", "491510000009:3@s.whatsapp.net", "anna@s.whatsapp.net", "491510000009@example.org", "120363000000000009@g.us", "status@broadcast"}
	words := []string{"", "ALL", "x", "group,individual"}
	for _, c := range []struct {
		path, parameter string
		values          []string
	}{
		{"/api/chats?", "type", words},
		{"/api/chats?", "q", []string{"\xff"}},
		{"/api/chats?", "limit", numbers("0", "501")},
		{"/api/chats?", "offset", numbers()},
		{"/api/chats?", "cursor", []string{"x", "AAAA", "\xff", "1.2.3"}},

		{group + "?", "since", moments},
		{group + "?", "until", moments},
		{group + "?", "q", []string{"\xff"}},
		{group + "?", "sender", people},
		{group + "?", "order", []string{"", "ASC", "up", "asc,desc"}},
		{group + "?", "limit", numbers("0", "1001")},
		{group + "?", "offset", numbers()},

		{individual + "?", "since", moments},
		{individual + "?", "until", moments},
		{individual + "?", "q", []string{"\xff"}},
		{individual + "?", "order", []string{"", "ASC", "up", "asc,desc"}},
		{individual + "?", "limit", numbers("0", "1001")},
		{individual + "?", "offset", numbers()},

		{"/api/messages/search?", "q", []string{"", " ", "\t\n", "\xff"}},
		{"/api/messages/search?q=x&", "since", moments},
		{"/api/messages/search?q=x&", "until", moments},
		{"/api/messages/search?q=x&", "chatType", words},
		{"/api/messages/search?q=x&", "limit", numbers("0", "501")},
		{"/api/messages/search?q=x&", "cursor", []string{"x", "AAAA", "\xff"}},
	} {
		route, _, _ := strings.Cut(c.path, "?")
		t.Run(route+" "+c.parameter, func(t *testing.T) {
			for _, value := range c.values {
				Refused(t, b.Get(c.path+c.parameter+"="+percent(value)), http.StatusBadRequest, bridge.CodeInvalid, c.parameter)
			}
			Refused(t, b.Get(c.path+c.parameter+"=1&"+c.parameter+"=1"), http.StatusBadRequest, bridge.CodeInvalid, c.parameter)
		})
	}
	Refused(t, b.Get("/api/messages/search"), http.StatusBadRequest, bridge.CodeInvalid, "q is required")
	for _, route := range []string{"/api/chats", group, individual, "/api/messages/search"} {
		Refused(t, b.Get(route+"?q=%zz"), http.StatusBadRequest, bridge.CodeInvalid, "query")
	}
}

// percent escapes every byte.
func percent(s string) string {
	var out strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&out, "%%%02x", s[i])
	}
	return out.String()
}

// TestRefusals_Paths: a chat in the path has to be of the route's kind.
func TestRefusals_Paths(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t))
	for _, c := range []struct {
		name  string
		jid   string
		words string
	}{
		{"no server", "491510000009", "did you mean 491510000009@s.whatsapp.net?"},
		{"the server of other libraries", "491510000009%40c.us", "did you mean 491510000009@s.whatsapp.net?"},
		{"no user", "%40g.us", "digits"},
		{"a device", "491510000009:3%40s.whatsapp.net", "device"},
		{"letters", "anna%40s.whatsapp.net", "digits"},
		{"another server", "1%40example.org", "must end in"},
		{"status updates", "status%40broadcast", "must name"},
		{"two dashes", "1-2-3%40g.us", "digits"},
		{"a path in it", "..%2F..%2Fetc%40g.us", "digits"},
		{"very long", strings.Repeat("9", 100) + "%40s.whatsapp.net", "too long"},
		{"not UTF-8", "%ff%40s.whatsapp.net", "digits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, route := range []string{"/api/groups/%s", "/api/groups/%s/messages", "/api/messages/individual/%s"} {
				Refused(t, b.Get(fmt.Sprintf(route, c.jid)), http.StatusBadRequest, bridge.CodeInvalid, "path", c.words)
			}
		})
	}
	Refused(t, b.Get("/api/groups/"+somebody), http.StatusBadRequest, bridge.CodeInvalid, "path", "a group")
	Refused(t, b.Get("/api/groups/"+somebody+"/messages"), http.StatusBadRequest, bridge.CodeInvalid, "path", "a group")
	Refused(t, b.Get("/api/messages/individual/"+someGroup), http.StatusBadRequest, bridge.CodeInvalid, "path", "a person")
}

// TestRefusals_Sending sends invalid bodies. The error names the field.
func TestRefusals_Sending(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t))
	jid := "491510000009@s.whatsapp.net"
	ok := Object{"jid": jid, "text": "hi"}
	for _, c := range []struct {
		name string
		body any
		word string
	}{
		{"no body", nil, "body"},
		{"a blank body", " \n", "body"},
		{"no JSON", "hello", "JSON"},
		{"half of it", `{"jid": "`, "JSON"},
		{"something behind it", `{"jid": "` + jid + `", "text": "hi"} {}`, ""},
		{"a list", "[]", "object"},
		{"null", "null", ""},
		{"not UTF-8", "{\"jid\": \"" + jid + "\", \"text\": \"\xff\"}", "UTF-8"},
		{"no jid", Object{"text": "hi"}, "jid"},
		{"a number as jid", With(ok, Object{"jid": 1}), "jid"},
		{"null as jid", With(ok, Object{"jid": nil}), "jid"},
		{"an empty jid", With(ok, Object{"jid": ""}), "jid"},
		{"a bare number", With(ok, Object{"jid": "491510000009"}), "jid"},
		{"a device", With(ok, Object{"jid": "491510000009:3@s.whatsapp.net"}), "jid"},
		{"another network", With(ok, Object{"jid": "anna@example.org"}), "jid"},
		{"status updates", With(ok, Object{"jid": "status@broadcast"}), "jid"},
		{"a broadcast list", With(ok, Object{"jid": "12345@broadcast"}), "jid"},
		{"no text", Object{"jid": jid}, "text"},
		{"an empty text", With(ok, Object{"text": ""}), "text"},
		{"a number as text", With(ok, Object{"text": 1}), "text"},
		{"a text too long", With(ok, Object{"text": strings.Repeat("ü", 65537)}), "65536"},
		{"mentions that are no list", With(ok, Object{"mentions": jid}), "mentions"},
		{"mentions that are no JIDs", With(ok, Object{"mentions": []string{"anna"}}), "mentions"},
		{"mentions that are numbers", With(ok, Object{"mentions": []int{1}}), "mentions"},
		{"a group mentioned", With(ok, Object{"mentions": []string{"120363000000000009@g.us"}}), "mentions"},
		{"a device mentioned", With(ok, Object{"mentions": []string{"491510000009:3@s.whatsapp.net"}}), "mentions"},
		{"too many mentions", With(ok, Object{"mentions": slicesOf(jid, 1025)}), "mentions"},
		{"a quote's chat without its message", With(ok, Object{"quotedChatJid": jid}), "quotedMsgId"},
		{"a quote from nowhere", With(ok, Object{"quotedChatJid": "nowhere", "quotedMsgId": "M"}), "quotedChatJid"},
		{"a quote from a device", With(ok, Object{"quotedChatJid": "491510000009:3@s.whatsapp.net", "quotedMsgId": "M"}), "quotedChatJid"},
		{"a number as quote", With(ok, Object{"quotedMsgId": 5}), "quotedMsgId"},
		{"a number as the quote's chat", With(ok, Object{"quotedChatJid": 5, "quotedMsgId": "M"}), "quotedChatJid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			Refused(t, b.Post("/api/messages/send", c.body), http.StatusBadRequest, bridge.CodeInvalid, c.word)
		})
	}
	t.Run("another content type", func(t *testing.T) {
		for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "nonsense/"} {
			Refused(t, b.Post("/api/messages/send", ok, "Content-Type", kind), http.StatusBadRequest, bridge.CodeInvalid, "Content-Type")
		}
	})
	t.Run("a body too large", func(t *testing.T) {
		Refused(t, b.Post("/api/messages/send", With(ok, Object{"padding": strings.Repeat("x", 1<<20)})), http.StatusRequestEntityTooLarge, bridge.CodePayloadTooLarge, "1 MiB")
	})
	t.Run("a key that is none", func(t *testing.T) {
		for _, key := range []string{strings.Repeat("k", 256), "two words", "umläut"} {
			Refused(t, b.Post("/api/messages/send", ok, "Idempotency-Key", key), http.StatusBadRequest, bridge.CodeInvalid, "Idempotency-Key")
		}
	})
	t.Run("what is at the limit, or unknown, is not refused", func(t *testing.T) {
		for _, body := range []Object{
			With(ok, Object{"text": strings.Repeat("ü", 65536)}), With(ok, Object{"mentions": slicesOf(jid, 1024)}),
			With(ok, Object{"mentions": nil, "quotedMsgId": "", "quotedChatJid": ""}), With(ok, Object{"color": "red"}),
			With(ok, Object{"jid": "1234567890-1600000000@g.us"}), With(ok, Object{"jid": "123456789012345@lid"}),
		} {
			Refused(t, b.Post("/api/messages/send", body), http.StatusServiceUnavailable, bridge.CodeNotConnected)
		}
		Refused(t, b.Post("/api/messages/send", ok, "Content-Type", "application/json; charset=utf-8"), http.StatusServiceUnavailable, bridge.CodeNotConnected)
	})
}

func slicesOf[T any](value T, count int) []T {
	all := make([]T, count)
	for i := range all {
		all[i] = value
	}
	return all
}

// TestRefusals_ComeInOrder: permanent reasons come before transient ones.
func TestRefusals_ComeInOrder(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t), "ENABLE_SEND=false")
	bad, good := Object{"jid": "nobody"}, Object{"jid": "491510000009@s.whatsapp.net", "text": "hi"}
	for _, client := range []*Process{{Client: b.WithToken("")}, {Client: b.WithToken("wrong-token-0123456789")}, {Client: b.WithToken(TestToken + "x")}} {
		for _, route := range []string{"/api/auth/status", "/api/chats", "/api/messages/search", "/api/no-such-route", "/readyz", "/metrics", "/api/chats?token=" + TestToken} {
			Refused(t, client.Get(route), http.StatusUnauthorized, bridge.CodeUnauthorized, "Authorization: Bearer")
		}
		Refused(t, client.Post("/api/messages/send", bad), http.StatusUnauthorized, bridge.CodeUnauthorized)
		Refused(t, client.Post("/api/auth/logout", nil), http.StatusUnauthorized, bridge.CodeUnauthorized)
		client.Get("/healthz").Want(http.StatusOK)
	}
	Refused(t, b.Get("/api/no-such-route"), http.StatusNotFound, bridge.CodeNotFound)
	Refused(t, b.Get("/no-such-page"), http.StatusNotFound, bridge.CodeNotFound)
	Refused(t, b.Post("/api/chats", nil), http.StatusMethodNotAllowed, bridge.CodeMethodNotAllowed)
	Refused(t, b.Get("/api/messages/send"), http.StatusMethodNotAllowed, bridge.CodeMethodNotAllowed)
	for _, route := range []string{"send", "forward", "react", "send-location", "send-poll", "send-contact"} {
		for _, body := range []any{bad, good, "no JSON", nil} {
			Refused(t, b.Post("/api/messages/"+route, body), http.StatusForbidden, bridge.CodeSendDisabled, "ENABLE_SEND")
		}
	}
}
