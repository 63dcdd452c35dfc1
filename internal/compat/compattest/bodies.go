package compattest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// bodyBudget bounds what one body of at most 1 MiB may cost, in bytes and time: the body,
// its values, and the call of the API with both.
var bodyBudget = fuzzbudget.Budget{Base: 15 << 20, Time: 2 * time.Second}

// bodySize is that of hostile bodies, which stay within 1 MiB.
const bodySize = 1_000_000

// typed names those of hostile that a member's type may make large, which are tried in
// place of each member. The others are in place of one that no route has.
var typed = []string{"empty objects", "empty objects in lists", "a text of commas", "a list in a text"}

// hostile has values that take a multiple of their bytes in memory.
var hostile = map[string]string{
	"empty objects":          "[{}" + strings.Repeat(",{}", bodySize/3) + "]",
	"empty objects in lists": "[[{}" + strings.Repeat(",{}", 300) + "]" + strings.Repeat(",[{}"+strings.Repeat(",{}", 300)+"]", 1000) + "]",
	"numbers":                "[1" + strings.Repeat(",1", bodySize/2) + "]",
	"lists in each other":    strings.Repeat("[", bodySize/2) + strings.Repeat("]", bodySize/2),
	"objects in each other":  strings.Repeat(`{"a":`, bodySize/6) + "1" + strings.Repeat("}", bodySize/6),
	"members":                "{" + members(bodySize/10) + "}",
	"a text of lists":        `"` + strings.Repeat("[", bodySize) + `"`,
	"a text of commas":       `"` + strings.Repeat(",", bodySize) + `"`,
	"a text of escapes":      `"` + strings.Repeat(`\u0001`, bodySize/6) + `"`,
	"a list in a text":       `"[{}` + strings.Repeat(",{}", bodySize/3) + `]"`,
	"base64":                 `"` + strings.Repeat("AAAA", bodySize/4) + `"`,
	"a long number":          strings.Repeat("1", bodySize),
}

func members(count int) string {
	text := &strings.Builder{}
	for i := range count {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(text, `"%06d":1`, i)
	}
	return text.String()
}

// HostileBodies sends each route bodies that would take a multiple of their bytes in
// memory, in place of each member of those that are tried, with the smallest token that may
// call it and with one that may not. None may cost more than the budget.
func (s Scene) HostileBodies(tries []Try) {
	t := s.t
	t.Helper()
	reader, sender := s.Token([]bridge.JID{Club}, bridge.ScopeRead).Secret, s.Token([]bridge.JID{Club}, bridge.ScopeSend, bridge.ScopeRead).Secret
	manager := s.Token([]bridge.JID{Club}, bridge.ScopeManage, bridge.ScopeRead).Secret
	seen := make(map[string]bool)
	for _, r := range tries {
		if r.Type != "" || strings.HasPrefix(r.Route, http.MethodGet) {
			continue
		}
		allowed := map[bridge.Scope]string{bridge.ScopeSend: sender, bridge.ScopeManage: manager}[r.Scope]
		for _, body := range hostileBodies(r.Body) {
			if seen[r.Route+body.where] {
				continue
			}
			seen[r.Route+body.where] = true
			if allowed == "" {
				s.hostileBody(t, r, body, reader)
				continue
			}
			s.hostileBody(t, r, body, allowed)
			if !seen[r.Route] { // refused before the body
				seen[r.Route] = true
				s.hostileBody(t, r, body, reader)
			}
		}
	}
}

func (s Scene) hostileBody(t *testing.T, r Try, body hostileOne, token string) {
	t.Helper()
	r.Body = body.text
	code := 0
	within := &failures{}
	bodyBudget.Check(within, 0, func() { code = s.Ask(r, token).Code })
	if within.said != "" {
		t.Errorf("%s with %s: %s", r.Route, body.where, within.said)
	}
	if code >= http.StatusInternalServerError && code != http.StatusServiceUnavailable {
		t.Errorf("%s with %s: %d", r.Route, body.where, code)
	}
}

// failures is a test that has the sentence of its failure.
type failures struct{ said string }

func (*failures) Helper()                             {}
func (f *failures) Failed() bool                      { return f.said != "" }
func (f *failures) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

// ignored is a member that no route has.
const ignored = "ignored"

type hostileOne struct{ where, text string }

// hostileBodies returns a body with hostile values in place of its members.
func hostileBodies(body string) (bodies []hostileOne) {
	var object map[string]any
	if json.Unmarshal([]byte(body), &object) != nil {
		object = map[string]any{}
	}
	object[ignored] = true
	const mark = `"put the value here"`
	var walk func(in map[string]any, path string)
	walk = func(in map[string]any, path string) {
		for name, value := range in {
			in[name] = json.RawMessage(mark)
			marked, _ := json.Marshal(object) // of values that were read from JSON
			in[name] = value
			for kind, text := range hostile {
				if name != ignored && !slices.Contains(typed, kind) {
					continue
				}
				bodies = append(bodies, hostileOne{kind + " as " + path + name, strings.Replace(string(marked), mark, text, 1)})
			}
			if list, is := value.([]any); is && len(list) > 0 {
				value = list[0]
			}
			if inner, is := value.(map[string]any); is {
				walk(inner, path+name+".")
			}
		}
	}
	walk(object, "")
	return bodies
}
