package fleet

import (
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// What is no envelope is refused with the field's name, whatever is wrong with it.
func TestEnvelope_Refusals(t *testing.T) {
	t.Parallel()
	head := `"method":"GET","path":"/api/chats"`
	for envelope, says := range map[string]string{
		``:                                                                   "must be a JSON object",
		`[]`:                                                                 "must be a JSON object",
		`null`:                                                               "must be a JSON object",
		`{"method":"GET"`:                                                    "not valid JSON",
		`{` + head + `} {}`:                                                  "not valid JSON",
		`{` + head + `,"verb":"GET"}`:                                        `no field "verb"`,
		`{` + head + `,"Method":"GET"}`:                                      `no field "Method"`,
		`{` + head + `,"method":"PUT"}`:                                      `"method" is given twice`,
		`{"path":"/api/chats"}`:                                              "method is required",
		`{"method":"get","path":"/"}`:                                        "method must be GET",
		`{"method":7,"path":"/"}`:                                            `"method" must be a string`,
		`{"method":"GET"}`:                                                   "path is required",
		`{"method":"GET","path":"api/chats"}`:                                "path must be a path",
		`{"method":"GET","path":"//h/api"}`:                                  "path must be a path",
		`{"method":"GET","path":"http://h/"}`:                                "path must be a path",
		`{"method":"GET","path":"/%zz"}`:                                     "path must be a path",
		`{"method":"GET","path":"/a#b"}`:                                     "path must be a path",
		`{"method":"GET","path":"/a b"}`:                                     "path must be a path",
		long(`{"method":"GET","path":"/%s"}`):                                "path must not be longer",
		`{` + head + `,"headers":[]}`:                                        `"headers" must be a JSON object`,
		`{` + head + `,"headers":{"A":1}}`:                                   `"headers.A" must be a string`,
		`{` + head + `,"headers":{"A b":"1"}}`:                               "not a valid header name",
		`{` + head + `,"headers":{"Accept":"a","accept":"b"}}`:               "headers.Accept is given twice",
		`{` + head + `,"headers":{"content-length":"5"}}`:                    "headers.Content-Length is for HTTP connections only",
		`{` + head + `,"headers":{"A":"b\r\nC: d"}}`:                         "headers.A must not contain line breaks",
		long(`{` + head + `,"headers":{"A":"%s"}}`):                          `headers."A" must not be longer`,
		many(`{`+head+`,"headers":{%s}}`, 33):                                "headers must have at most 32 members",
		`{` + head + `,"body":7}`:                                            "body must be an object, a list or a string",
		`{` + head + `,"body":null}`:                                         "body must be an object, a list or a string",
		`{` + head + `,"body":"a","bodyBase64":"YQ=="}`:                      "body and bodyBase64 exclude each other",
		`{` + head + `,"bodyBase64":"YQ"}`:                                   `"bodyBase64" must be base64`,
		`{` + head + `,"body":"a","form":{}}`:                                "body and form exclude each other",
		`{` + head + `,"form":{"jid":1}}`:                                    `"form.jid" must be a string`,
		`{` + head + `,"form":{"a":"1","a":"2"}}`:                            `"form.a" is given twice`,
		many(`{`+head+`,"form":{%s}}`, 17):                                   "form must have at most 16 members",
		`{` + head + `,"file":{"name":"a"}}`:                                 "file needs form",
		`{` + head + `,"form":{},"file":{}}`:                                 "file.name is required",
		`{` + head + `,"form":{},"file":{"name":"a","x":""}}`:                `no field "file.x"`,
		`{` + head + `,"form":{},"file":{"name":"a","contentType":"a/b/c"}}`: "file.contentType must be a media type",
		`{` + head + `,"timeout":30}`:                                        `"timeout" must be a string`,
		`{` + head + `,"timeout":"10m"}`:                                     "timeout must be 1s to 5m0s",
		`{` + head + `,"timeout":"soon"}`:                                    "timeout must be 1s to 5m0s",
	} {
		_, err := readEnvelope([]byte(envelope))
		if bridge.CodeOf(err) != CodeInvalidEnvelope || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: %v, want %q", envelope, err, says)
		}
	}
}

func long(format string) string { return fmt.Sprintf(format, strings.Repeat("x", 9<<10)) }

func many(format string, n int) string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf(`"N%d":"v"`, i))
	}
	return fmt.Sprintf(format, strings.Join(pairs, ","))
}

// Whatever comes, it is an envelope or refused by name.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"method":"POST","path":"/api/messages/send?x=1","headers":{"Authorization":"Bearer x"},"body":{"a":[1]},"timeout":"2s"}`))
	f.Add([]byte(`{"method":"POST","path":"/","form":{"a":"b"},"file":{"name":"n","fileName":"a.png","contentType":"image/png"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzbudget.Usual.Check(t, len(data), func() {
			e, err := readEnvelope(data)
			if err != nil {
				if bridge.CodeOf(err) != CodeInvalidEnvelope {
					t.Errorf("%q: %v", data, err)
				}
				return
			}
			if _, err := e.request(t.Context(), nil); err != nil {
				t.Errorf("%q: %v", data, err)
			}
		})
	})
}
