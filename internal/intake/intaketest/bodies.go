// Package intaketest has bodies that would take a multiple of their bytes in memory, which tests
// send to every route.
package intaketest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/fuzzbudget"
)

// Usual bounds what one body of at most 1 MiB may allocate, in bytes: the body, its values, and the
// call of the API with both.
const Usual = 15 << 20

// bodySize is that of hostile bodies, which stay within 1 MiB.
const bodySize = 1_000_000

// typed names those of values that a member's type may make large, which are tried in
// place of each member. The others are in place of one that no route has.
var typed = []string{"empty objects", "empty objects in lists", "a text of commas", "a list in a text"}

// values has values that take a multiple of their bytes in memory.
var values = map[string]string{
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

// Typed is a body with its Content-Type, and a Content-Encoding if it has one.
type Typed struct{ Name, Type, Encoding, Text string }

// Boundary is that of the forms of [Others].
const Boundary = "line"

// Others returns bodies that are no JSON: forms with a file, most of them with more parts, or larger
// ones, than any route takes, and bodies in types and encodings that no route takes.
func Others() []Typed {
	const form = "multipart/form-data; boundary=" + Boundary
	part := func(head, content string) string {
		return "--" + Boundary + "\r\n" + head + "\r\n\r\n" + content + "\r\n"
	}
	const disposition, end = `Content-Disposition: form-data; name="`, "--" + Boundary + "--\r\n"
	field := func(name, content string) string { return part(disposition+name+`"`, content) }
	squeezed := &bytes.Buffer{}
	writer := gzip.NewWriter(squeezed)
	_, err := writer.Write([]byte("{" + members(20*bodySize/10) + "}"))
	if err = errors.Join(err, writer.Close()); err != nil {
		panic(err) // the buffer takes everything
	}
	return []Typed{
		{"many parts", form, "", strings.Repeat(field("jid", ""), bodySize/60) + end},
		{"many files", form, "", strings.Repeat(part(disposition+`file"; filename="a"`, "x"), bodySize/80) + end},
		{"a long field", form, "", field("jid", strings.Repeat("x", bodySize)) + end},
		{"many lines before a part", form, "", part(strings.Repeat("A: b\r\n", bodySize/6)+disposition+`jid"`, "x") + end},
		{"a long line before a part", form, "", part("A: "+strings.Repeat("b", bodySize), "x") + end},
		{"a file without an end", form, "", part(disposition+`file"; filename="a"`, strings.Repeat("x", bodySize))},
		{"a list in a field", form, "", field("mentions", "["+strings.Repeat("[],", bodySize/3)+"[]]") + end},
		{"a form in the address's way", "application/x-www-form-urlencoded", "", strings.Repeat("a=b&", bodySize/4)},
		{"a text", "text/plain; charset=utf-16", "", strings.Repeat("x", bodySize)},
		{"a picture that is none", "image/png", "", "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", bodySize)},
		{"compressed", "application/json", "gzip", squeezed.String()},
	}
}

// Check fails the test if a body that is sent makes the program allocate more than so many bytes or
// compute for more than two seconds, or is answered as a failure of the program.
func Check(t testing.TB, name string, most uint64, send func() (status int)) {
	t.Helper()
	budget := fuzzbudget.Budget{Base: most, Time: 2 * time.Second}
	status, within := 0, &failures{}
	budget.Check(within, 0, func() { status = send() })
	if within.said != "" {
		t.Errorf("%s: %s", name, within.said)
	}
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		t.Errorf("%s: %d", name, status)
	}
}

// failures is a test that has the sentence of its failure.
type failures struct{ said string }

func (*failures) Helper()                             {}
func (f *failures) Failed() bool                      { return f.said != "" }
func (f *failures) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

// ignored is a member that no route has.
const ignored = "ignored"

// Body is a hostile body.
type Body struct {
	Where string // what is in place of which member
	Text  string
}

// Bodies returns a body with hostile values in place of its members, and some that have nothing of
// it. One that is no JSON object counts as empty.
func Bodies(body string) (bodies []Body) {
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
			for kind, text := range values {
				if name != ignored && !slices.Contains(typed, kind) {
					continue
				}
				bodies = append(bodies, Body{kind + " as " + path + name, strings.Replace(string(marked), mark, text, 1)})
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
	for kind, text := range values {
		bodies = append(bodies, Body{kind + " as the body", text})
	}
	return append(bodies, Body{"a member that comes again and again", `{"` + strings.Repeat(`jid":"x","`, bodySize/10) + `jid":"x"}`},
		Body{"a long name", `{"` + strings.Repeat("a", bodySize) + `":1}`})
}
