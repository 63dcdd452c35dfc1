// Package intaketest has hostile bodies for tests of all routes. Without limits, they take a multiple of their size in memory.
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
	"sync"
	"testing"
	"time"

	"bridged/internal/fuzzbudget"
)

// Usual limits the bytes that a body of at most 1 MiB may allocate: the body, its values, and the call of the API with both.
const Usual = 15 << 20

// bodySize is the size of hostile bodies. It is below 1 MiB.
const bodySize = 1_000_000

// typed lists the values that the type of a member may make large. They replace each member in turn; the other values replace
// only a member that no route reads.
var typed = []string{"empty objects", "empty objects in lists", "a text of commas", "a list in a text"}

// values has values that take a multiple of their size in memory.
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

// Typed is a body with its Content-Type and its optional Content-Encoding.
type Typed struct{ Name, Type, Encoding, Text string }

// Boundary separates the parts of the forms of [Others].
const Boundary = "line"

// Others returns bodies that are not JSON: forms with more or larger parts than any route accepts, and bodies with types and
// encodings that no route accepts.
var Others = sync.OnceValue(func() []Typed {
	const form = "multipart/form-data; boundary=" + Boundary
	part := func(head, content string) string {
		return "--" + Boundary + "\r\n" + head + "\r\n\r\n" + content + "\r\n"
	}
	const disposition, end = `Content-Disposition: form-data; name="`, "--" + Boundary + "--\r\n"
	field := func(name, content string) string { return part(disposition+name+`"`, content) }
	squeezed := &bytes.Buffer{}
	writer, err := gzip.NewWriterLevel(squeezed, gzip.BestSpeed)
	if err != nil {
		panic(err) // there is this level
	}
	_, err = writer.Write([]byte("{" + members(20*bodySize/10) + "}"))
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
})

// Check sends a body and fails the test if the program allocates more than most bytes, computes for more than two seconds or
// answers with an internal error.
func Check(t testing.TB, name string, most uint64, send func() (status int)) {
	t.Helper()
	budget := fuzzbudget.Budget{Base: most, Time: 2 * time.Second}
	status, failure := 0, &failures{}
	budget.Check(failure, 0, func() { status = send() })
	if failure.text != "" {
		t.Errorf("%s: %s", name, failure.text)
	}
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		t.Errorf("%s: %d", name, status)
	}
}

// failures is a test that records the text of its failure.
type failures struct{ text string }

func (*failures) Helper()                             {}
func (f *failures) Failed() bool                      { return f.text != "" }
func (f *failures) Errorf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

// ignored is a member that no route reads.
const ignored = "ignored"

// Body is a hostile body.
type Body struct {
	Where string // the value and the member that it replaces
	Text  string
}

// Bodies returns copies of a body in which hostile values replace its members, and a few other hostile bodies. A body that is
// not a JSON object counts as empty.
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
			if list, ok := value.([]any); ok && len(list) > 0 {
				value = list[0]
			}
			if inner, ok := value.(map[string]any); ok {
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
