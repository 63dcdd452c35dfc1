package compat

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/intake"
)

// cut reads a body as an adapter does: it returns the object that is left, and its file.
func cut(body, member string) (rest, file, mimeType string, err error) {
	text, left := cutFile([]byte(body), member)
	if text == nil {
		return string(left), "", "", nil
	}
	mimeType, data, err := decodeBase64(text)
	if err != nil {
		return string(left), "", "", err
	}
	decoded, err := io.ReadAll(data)
	return string(left), string(decoded), mimeType, err
}

func TestBase64_TheFileIsTakenOutOfTheObject(t *testing.T) {
	for name, c := range map[string]struct{ body, rest, file, mimeType string }{
		"the file last":        {`{"number":"1","media":"aGVsbG8="}`, `{"number":"1","media":""}`, "hello", ""},
		"the file first":       {`{"media":"aGVsbG8=","number":"1"}`, `{"media":"","number":"1"}`, "hello", ""},
		"without padding":      {`{"media":"aGVsbG8"}`, `{"media":""}`, "hello", ""},
		"a data: URI":          {`{"media":"data:image/png;base64,aGVsbG8="}`, `{"media":""}`, "hello", "image/png"},
		"a type of its own":    {`{"media":"DATA:audio/ogg; codecs=opus;BASE64,aGVsbG8="}`, `{"media":""}`, "hello", "audio/ogg; codecs=opus"},
		"URL-safe":             {`{"media":"-_-_"}`, `{"media":""}`, "\xfb\xff\xbf", ""},
		"escaped":              {`{"media":"\u002b\/+\/"}`, `{"media":""}`, "\xfb\xff\xbf", ""},
		"lines":                {`{"media":"aGVs\r\nbG8=\n"}`, `{"media":""}`, "hello", ""},
		"spaces":               {` { "media" : "  aGVs bG8= " } `, ` { "media" : "" } `, "hello", ""},
		"an escaped name":      {`{"m\u0065dia":"aGVsbG8="}`, `{"m\u0065dia":""}`, "hello", ""},
		"another case":         {`{"Media":"aGVsbG8="}`, `{"Media":""}`, "hello", ""},
		"nested":               {`{"file":{"mimetype":"x","data":"aGVsbG8="},"data":"kept"}`, `{"file":{"mimetype":"x","data":""},"data":"kept"}`, "hello", ""},
		"after other objects":  {`{"a":{"b":[{"media":"kept"}]},"c":"}\"{","media":"aGVsbG8="}`, `{"a":{"b":[{"media":"kept"}]},"c":"}\"{","media":""}`, "hello", ""},
		"an address":           {`{"media":"https://example.org/a.png"}`, `{"media":"https://example.org/a.png"}`, "", ""},
		"an escaped address":   {`{"media":" HTTP:\/\/example.org"}`, `{"media":" HTTP:\/\/example.org"}`, "", ""},
		"empty":                {`{"media":"","number":""}`, `{"media":"","number":""}`, "", ""},
		"no text":              {`{"media":null,"number":[1,{"x":"media"}]}`, `{"media":null,"number":[1,{"x":"media"}]}`, "", ""},
		"a value that is like": {`{"caption":"media","x":"aGVsbG8="}`, `{"caption":"media","x":"aGVsbG8="}`, "", ""},
		"in a list":            {`["media",{"media":"aGVsbG8="}]`, `["media",{"media":"aGVsbG8="}]`, "", ""},
		"a long name":          {`{"` + strings.Repeat("n", 300) + `":"aGVsbG8="}`, `{"` + strings.Repeat("n", 300) + `":"aGVsbG8="}`, "", ""},
		"no object":            {`"media"`, `"media"`, "", ""},
		"nothing":              {``, ``, "", ""},
	} {
		member := "media"
		if name == "nested" {
			member = "file.data"
		}
		rest, file, mimeType, err := cut(c.body, member)
		if err != nil || rest != c.rest || file != c.file || mimeType != c.mimeType {
			t.Errorf("%s: %s, %q of %q, %v", name, rest, file, mimeType, err)
		}
	}
}

func TestBase64_OtherTextsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a path":               {`{"media":"/tmp/a.png?"}`, "is neither"},
		"a quote":              {`{"media":"aGVs\"bG8="}`, "is neither"},
		"another script":       {`{"media":"\u0430GVs"}`, "is neither"},
		"a control character":  {`{"media":"aG\bVs"}`, "is neither"},
		"a character too many": {`{"media":"aGVsb"}`, "is neither"},
		"after the padding":    {`{"media":"aGVsbG8=aGVs"}`, "is neither"},
		"no base64":            {`{"media":"data:text/plain,hello"}`, "must be in base64"},
		"no comma":             {`{"media":"data:` + strings.Repeat("x", 300) + `"}`, "no comma"},
		"only a scheme":        {`{"media":"data:image/png;base64"}`, "no comma"},
	} {
		_, _, _, err := cut(c.body, "media")
		if bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A body without a file, or with too much around it, stays as it is: it is refused later.
func TestBase64_OtherObjectsStay(t *testing.T) {
	large := strings.Repeat("A", intake.MaxBody)
	for name, body := range map[string]string{
		"broken": `{"media":"aGVs`, "broken before": `{"number":nul,"media":"aGVs"}`, "broken escape": `{"media":"aGVs\u00"}`, "too deep": strings.Repeat(`{"a":`, 20_000),
		"large before": `{"text":"` + large + `","media":"aGVs"}`, "large after": `{"media":"aGVs","text":"` + large + `"}`,
		"a long name": `{"` + large + `":"aGVs"}`, "deep names": strings.Repeat(`{"a":`, 5000) + "{" + strings.Repeat(`"b":"",`, 100_000),
	} {
		fuzzbudget.Budget{Base: 2 << 20, PerByte: 2, Time: time.Second}.Check(t, len(body), func() {
			if text, rest := cutFile([]byte(body), "media"); text != nil || string(rest) != body {
				t.Errorf("%s: %d bytes are a file", name, len(text))
			}
		})
	}
}

// A file of 32 MiB is decoded without a copy of its text.
func TestBase64_IsDecodedInLittleMemory(t *testing.T) {
	body := []byte(`{"number":"1","media":"` + strings.Repeat(`AAA\/`, maxFile/3) + `"}`)
	fuzzbudget.Budget{Base: 1 << 20, Time: time.Minute}.Check(t, 0, func() {
		text, rest := cutFile(body, "media")
		_, data, err := decodeBase64(text)
		size, copied := io.Copy(io.Discard, data)
		if err := errors.Join(err, copied); err != nil || string(rest) != `{"number":"1","media":""}` || size != maxFile/3*3 {
			t.Errorf("%s, %v, %d bytes", rest, err, size)
		}
	})
}

// A file in any JSON object is found, and the rest is what it was.
func FuzzCutFile(f *testing.F) {
	f.Add(`{"number":1,"media":"aGVsbG8="}`, []byte("hello"))
	f.Add(`{"file":{"data":"x"},"a":["\"",{}]}`, []byte{0xff})
	f.Add(`{"media":`, []byte{})
	f.Fuzz(func(t *testing.T, body string, file []byte) {
		fuzzbudget.Usual.Check(t, len(body)+len(file), func() {
			_, _, _, _ = cut(body, "media") // whatever it is
			_, _, _, _ = cut(body, "file.data")
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(body), &object) != nil || object == nil || len(file) == 0 {
				return
			}
			for name := range object {
				if strings.EqualFold(name, "media") {
					delete(object, name)
				}
			}
			object["media"] = must(json.Marshal(base64.URLEncoding.EncodeToString(file)))
			rest, found, _, err := cut(string(must(json.Marshal(object))), "media")
			var left map[string]json.RawMessage
			if err != nil || found != string(file) || json.Unmarshal([]byte(rest), &left) != nil {
				t.Fatalf("%q: %q, %q, %v", body, rest, found, err)
			}
			object["media"] = json.RawMessage(`""`)
			if !reflect.DeepEqual(reencoded(t, left), reencoded(t, object)) {
				t.Errorf("%q became %q", body, rest)
			}
		})
	})
}

func reencoded(t *testing.T, object map[string]json.RawMessage) (value any) {
	t.Helper()
	if err := json.Unmarshal(must(json.Marshal(object)), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
