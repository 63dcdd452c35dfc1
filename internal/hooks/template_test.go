package hooks

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

func TestParse_RefusesWhatCouldRunLong(t *testing.T) {
	for source, sentence := range map[string]string{
		``:                       "template is required",
		`githb`:                  "template must be one of alertmanager",
		`{{`:                     "line 1",
		"a\n{{.x}}{{":            "line 2",
		"a\n{{if .payload}}":     "unexpected EOF",
		`{{.paylod.title}}`:      "there is .payload and .headers, and no .paylod",
		`{{$.title}}`:            "and no .title",
		"x\n  {{html .payload}}": `line 2`,
		`{{call .payload}}`:      "no function call",
		`{{.payload | js}}`:      "no function js",
		`{{default urlquery 1}}`: "no function urlquery",
		`{{_show 1}}`:            "no function _show",
		`{{env "HOME"}}`:         `function "env" not defined`,
		`{{truncate .payload}}`:  "truncate needs 2 arguments, not 1",
		`{{upper 1 2}}`:          "upper needs 1 arguments, not 2",
		`{{.payload.x 1}}`:       "is not a function",
		`{{1 | .payload}}`:       "is not a function",
		`{{define "x"}}{{template "x"}}{{end}}{{template "x"}}`:          "define, block and template",
		`{{block "x" .}}a{{end}}`:                                        "define, block and template",
		`{{template "y"}}`:                                               "cannot be used in hooks",
		`{{template "template"}}`:                                        "cannot be used in hooks",
		`{{range .payload}}{{range .}}{{range .}}a{{end}}{{end}}{{end}}`: "nested at most 2 deep",
		`{{range 1000000000}}a{{end}}`:                                   "not over numbers",
		`{{range (1000000000)}}a{{end}}`:                                 "not over numbers",
		`{{range len .payload}}a{{end}}`:                                 "not over numbers",
		`{{range $i := 9}}{{end}}`:                                       "not over numbers",
		`{{with .payload}}{{range .}}{{if .}}{{range .}}{{else}}{{range .}}a{{end}}{{end}}{{end}}{{end}}{{end}}`: "",
		`{{"` + strings.Repeat("x", maxSource) + `"}}`:                                                           "at most 16384 bytes",
	} {
		_, err := Parse(source)
		switch {
		case sentence == "" && err != nil:
			t.Errorf("%.60s: %v", source, err)
		case sentence != "" && (err == nil || bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), sentence)):
			t.Errorf("%.60s: %v, want %q", source, err, sentence)
		}
	}
}

// hostile are templates that try to run long or to grow, with the payloads that
// suit them.
var hostile = map[string]string{
	"nothing printed":    `{{range .payload.many}}{{range $.payload.many}}{{end}}{{end}}`,
	"much printed":       `{{range .payload.many}}{{range $.payload.many}}xxxxxxxxxxxxxxxx{{end}}{{end}}`,
	"long bodies":        `{{range .payload.many}}{{range $.payload.many}}` + strings.Repeat(`{{if eq $.payload.long $.payload.long}}{{end}}`, 300) + `{{end}}{{end}}`,
	"assignments":        `{{$x := 1}}{{range .payload.many}}{{range $.payload.many}}` + strings.Repeat(`{{$x = $}}`, 1500) + `{{end}}{{end}}`,
	"a number":           `{{range .payload.number}}a{{end}}`,
	"a number in a list": `{{range .payload.numbers}}{{range .}}a{{end}}{{end}}`,
	"a text":             `{{range .payload.long}}a{{end}}`,
	"doubling":           `{{$x := "xxxxxxxxxxxxxxxx"}}` + strings.Repeat(`{{$x = print $x $x}}`, 60) + `{{$x}}`,
	"doubling a list":    `{{$x := .payload.long}}` + strings.Repeat(`{{$x = split "" (print $x)}}`, 60),
	"joining":            `{{range .payload.many}}{{$x := join $.payload.long $.payload.many}}{{end}}`,
	"replacing":          `{{replace "x" .payload.long .payload.long}}`,
	"replacing nothing":  `{{replace "" .payload.long .payload.long}}`,
	"a width":            `{{printf "%1000000000d" 1}}`,
	"a width outside":    `{{printf .payload.format 1}}`,
	"a precision":        `{{printf "%.999999999f" 1}}`,
	"a star":             `{{printf "%*d" 1000000000 1}}`,
	"an index":           `{{printf "%[1]s%[1]s" .payload.long}}`,
	"many verbs":         `{{printf (replace "x" "%99d" .payload.long) 1}}`,
	"many prints":        strings.Repeat(`{{$x := printf "%q%q" $.payload.long $.payload.long}}`, 300),
	"much JSON":          strings.Repeat(`{{$x := json .payload}}`, 600),
	"a long text":        `{{.payload.long}}{{.payload.long}}`,
	"case":               strings.Repeat(`{{$x := upper .payload.long}}`, 500),
	"dates":              strings.Repeat(`{{$x := date $.payload.long "2026-01-01T00:00:00Z"}}`, 300),
	"a truncation":       `{{truncate .payload.number .payload.long}}`,
}

// No template runs longer than about a second, nor takes memory beyond a bound
// that has nothing to do with what it asks for.
func TestRender_HostileTemplatesEnd(t *testing.T) {
	many := make([]any, 40_000)
	payload := map[string]any{
		"many": many, "long": strings.Repeat("x", 900_000), "number": int64(1 << 40), "numbers": []any{int64(1 << 40)}, "format": "%999999999d",
	}
	for name, source := range hostile {
		t.Run(name, func(t *testing.T) {
			template, err := Parse(source)
			if err != nil {
				t.Fatalf("not even parsed: %v", err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err = template.Render(payload, http.Header{})
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if bridge.CodeOf(err) != bridge.CodeTemplateFailed {
				t.Errorf("it ended with %v", err)
			}
			if took > 20*runTimeout { // as long as a busy machine may make a second
				t.Errorf("it took %s: %v", took, err)
			}
			taken := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d MiB, %s: %v", taken>>20, took, err)
			if taken > 96<<20 {
				t.Errorf("it took %d MiB", taken>>20)
			}
		})
	}
}

// A range cannot be made to wait or to run on: there are no channels and no
// functions in a payload, and JSON is all that it is made of.
func TestPayload_IsBounded(t *testing.T) {
	for body, sentence := range map[string]string{
		"[" + strings.Repeat("0,", maxValues) + "0]":      "more than 50000 values",
		strings.Repeat("[", 40) + strings.Repeat("]", 40): "deeper than 32 levels",
		`{"a":1} {"b":2}`: "nothing after it",
		`{"a":`:           "not valid JSON",
		`{"a":1e999,"b":9223372036854775808,"c":"\ud800","d":-0}`: "",
	} {
		_, err := JSONPayload([]byte(body))
		if sentence == "" && err != nil || sentence != "" && (bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), sentence)) {
			t.Errorf("%.40s: %v, want %q", body, err, sentence)
		}
	}
}

// A megabyte of payload takes a few times its size, whatever it is made of.
func TestPayload_CostsAFewTimesItsSize(t *testing.T) {
	const size = 1 << 20
	for name, part := range map[string]string{
		"numbers": "1,", "objects": "{},", "lists": "[[[]]],", "names": `{"a":{"b":1}},`, "texts": `"` + strings.Repeat("x", 1000) + `",`,
	} {
		body := []byte("[" + strings.Repeat(part, size/len(part)) + "0]")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := JSONPayload(body)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 24*size {
			t.Errorf("%s: %d MiB, %v", name, taken>>20, err)
		}
	}
}

func TestRender_Functions(t *testing.T) {
	header := http.Header{"X-Kind": {"news"}, "Authorization": {"Bearer secret"}}
	payload, err := JSONPayload([]byte(`{"title":" Good news ","n":3,"big":12345678901234567,"f":2.5,"bytes":8123456789.5,"million":1e6,"tiny":1e-9,"list":["a","b","c"],"o":{"k":{"d":"deep"}},"zero":0,"empty":"",
		"at":"2026-03-04T05:06:07+01:00","unix":1700000000,"ref":"refs/heads/main","text":"one\ntwo"}`))
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		`{{.payload.title | trim | upper}}`:                                                                   "GOOD NEWS",
		`{{.payload.o.k.d}} {{.payload.o.none.d}}{{.payload.title.x}}`:                                        "deep",
		`{{$o := .payload.o}}{{$o.k.d}}{{(index .payload "o").k.d}}`:                                          "deepdeep",
		`{{.payload.big}} {{.payload.f}} {{.payload.n}}`:                                                      "12345678901234567 2.5 3",
		`{{.payload.bytes}} {{.payload.million}} {{add .payload.f 1000000}} {{.payload.tiny}}`:                "8123456789.5 1000000 1000002.5 1e-9",
		"{{.payload.n}}\r\n{{/* as a form\r\nsends it */ -}}\r\n{{.payload.f}}":                               "3\n2.5",
		`{{.payload.none | default "nothing"}} {{default "x" .payload.zero}}`:                                 "nothing x",
		`{{truncate 5 "abcdefgh"}} {{truncate 5 "abc"}}`:                                                      "abcd… abc",
		`{{join ", " .payload.list}} {{.payload.list}}`:                                                       `a, b, c ["a","b","c"]`,
		`{{trimPrefix "refs/heads/" .payload.ref}} {{trimSuffix "main" "domain"}}`:                            "main do",
		`{{date "02.01.2006 15:04" .payload.at}} {{date "2006-01-02" .payload.unix}} {{date "2006" "soon"}}`:  "04.03.2026 05:06 2023-11-14 soon",
		`{{range $i, $e := .payload.list}}{{if $i}}-{{end}}{{$e}}{{end}}`:                                     "a-b-c",
		`{{range .payload.none}}x{{else}}none{{end}}`:                                                         "none",
		`{{range first 2 .payload.list}}{{.}}{{end}}{{range slice .payload.list 2}}{{.}}{{end}}`:              "abc",
		`{{range $k, $v := .payload.o}}{{$k}}{{end}}`:                                                         "k",
		`{{range .payload.list}}{{if eq . "b"}}{{continue}}{{end}}{{.}}{{break}}{{end}}`:                      "a",
		`{{if and .payload.n (gt .payload.n 2) (lt .payload.f 3)}}yes{{end}}`:                                 "yes",
		`{{if eq .payload.none ""}}yes{{else}}no{{end}}{{if not .payload.none}}!{{end}}`:                      "no!",
		`{{if eq .payload.n 1 2 3}}yes{{end}}{{if ne .payload.ref "x"}}!{{end}}{{if ge "b" "a"}}!{{end}}`:     "yes!!",
		`{{header "x-kind"}} {{index .headers "X-Kind"}}{{header "authorization"}}{{.headers.Authorization}}`: "news news",
		`{{printf "%03d|%-5s|%.1f" .payload.n "ab" .payload.f}}`:                                              "003|ab   |2.5",
		`{{len .payload.list}} {{len "äö"}} {{len .payload.none}}`:                                            "3 2 0",
		`{{line .payload.text}} {{short "0123456789"}} {{title "in_progress"}}`:                               "one 0123456 In progress",
		`{{index (split "/" .payload.ref) 2}}{{index .payload.list 9}}`:                                       "main",
		`{{contains "news" .payload.title}} {{hasPrefix "x" "xy"}} {{hasSuffix "x" "xy"}}`:                    "true true false",
		`{{add .payload.n 4}} {{sub 1 .payload.f}}`:                                                           "7 -1.5",
		`{{replace "/" "·" .payload.ref}} {{lower "ÄB"}} {{kind .payload.o}}`:                                 "refs·heads·main äb object",
		`{{json .payload.o}} {{print 1 "a" true}}`:                                                            `{"k":{"d":"deep"}} 1atrue`,
	} {
		template, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := template.Render(payload, header); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", source, got, err, want)
		}
	}
}

func TestRender_SaysWhereItFails(t *testing.T) {
	template, err := Parse("one\n  {{range .payload.n}}{{end}}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = template.Render(map[string]any{"n": int64(3)}, http.Header{})
	if want := "the hook's template failed: line 2, column 10: range goes over lists and objects only"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// One template renders for many deliveries at a time, each with its own limits.
func TestRender_AtTheSameTime(t *testing.T) {
	template, err := Parse(`{{range .payload}}{{.}}{{end}} {{header "X-N"}}`)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	for i := range 8 {
		go func() {
			n := fmt.Sprint(i)
			got, err := template.Render([]any{n, n}, http.Header{"X-N": {n}})
			if err == nil && got != n+n+" "+n {
				err = fmt.Errorf("got %q for %s", got, n)
			}
			ended <- err
		}()
	}
	for range 8 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
