package hooks

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// perTemplate is what a rendering may cost: it may compute for a second, and write
// its text anew in each of its steps.
var perTemplate = fuzzbudget.Budget{Base: 64 << 20, PerByte: 1 << 10, Time: 5 * time.Second}

// Whatever is given as a template is refused, or ends in time with a text within
// bounds or an error that names its place.
func FuzzTemplate(f *testing.F) {
	for _, source := range hostile {
		f.Add(source, `{"many":[1,2,{"a":[3]}],"long":"xxxx","number":9,"numbers":[7],"format":"%999d"}`)
	}
	for _, source := range []string{
		`{{$x := .payload.a}}{{with $x}}{{.b.c}}{{else with .payload.d}}{{.}}{{end}}`, `{{range $i, $e := .payload}}{{$i}}{{($e).a.b}}{{break}}{{end}}`,
		`{{.payload | printf "%s%d" "x"}}`, `{{(index .payload 0).x | default .headers | json}}`, `{{/* */}}{{- nil -}}`, `{{if not}}{{end}}`, `{{$.payload}}{{$}}`,
	} {
		f.Add(source, `[{"a":{"b":"*c*"}},2.5,null,true,"_d_"]`)
	}
	f.Fuzz(func(t *testing.T, source, body string) {
		perTemplate.Check(t, len(source)+len(body), func() {
			if len(source) > maxSource || len(body) > 4096 || !strings.Contains(source, "{{") {
				return
			}
			template, err := Parse(source)
			if err != nil {
				if bridge.CodeOf(err) != bridge.CodeInvalid {
					t.Fatalf("%q: %v", source, err)
				}
				return
			}
			payload, err := JSONPayload([]byte(body))
			if err != nil {
				return
			}
			text, err := template.Render(payload, http.Header{"X-Kind": {"news"}})
			if err != nil && bridge.CodeOf(err) != bridge.CodeTemplateFailed || len(text) > maxOutput {
				t.Errorf("%q: %d bytes, %v", source, len(text), err)
			}
		})
	})
}
