package compat

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// spooled reads a body as a door does: the object that is left, and its files.
func spooled(body io.Reader, members ...string) (rest []byte, files []string, mimeType string, err error) {
	rest, err = io.ReadAll(newSpooler(body, members, func(text io.Reader) error {
		kind, data, err := decodeBase64(text)
		if err != nil {
			return err
		}
		file, err := io.ReadAll(data)
		files, mimeType = append(files, string(file)), kind
		return err
	}))
	return rest, files, mimeType, err
}

func TestSpooler_TakesTheFileOutOfTheObject(t *testing.T) {
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
		"behind other objects": {`{"a":{"b":[{"media":"kept"}]},"c":"}\"{","media":"aGVsbG8="}`, `{"a":{"b":[{"media":"kept"}]},"c":"}\"{","media":""}`, "hello", ""},
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
		for way, in := range map[string]io.Reader{"whole": strings.NewReader(c.body), "byte by byte": iotest.OneByteReader(strings.NewReader(c.body))} {
			rest, files, mimeType, err := spooled(in, "media", "file.data")
			if err != nil || string(rest) != c.rest || strings.Join(files, "|") != c.file || mimeType != c.mimeType {
				t.Errorf("%s, %s: %s, %q of %q, %v", name, way, rest, files, mimeType, err)
			}
		}
	}
}

func TestSpooler_RefusesWhatIsNoFile(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a path":               {`{"media":"/tmp/a.png?"}`, "it is neither"},
		"a quote":              {`{"media":"aGVs\"bG8="}`, "it is neither"},
		"another script":       {`{"media":"\u0430GVs"}`, "it is neither"},
		"a character too many": {`{"media":"aGVsb"}`, "it is neither"},
		"behind the padding":   {`{"media":"aGVsbG8=aGVs"}`, "it is neither"},
		"no base64":            {`{"media":"data:text/plain,hello"}`, "must be in base64"},
		"no comma":             {`{"media":"data:` + strings.Repeat("x", 300) + `"}`, "no comma"},
		"only a scheme":        {`{"media":"data:image/png;base64"}`, "no comma"},
		"too deep":             {strings.Repeat(`{"a":`, 200), "levels deep"},
	} {
		_, _, _, err := spooled(strings.NewReader(c.body), "media")
		if bridge.CodeOf(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, body := range []string{`{"media":"aGVs`, `{"media":"aGVs\`, `{"media":"aGVs\u00`} {
		if _, _, _, err := spooled(strings.NewReader(body), "media"); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A file of 48 MiB passes through in little memory.
func TestSpooler_KeepsNoFileInMemory(t *testing.T) {
	line := bytes.Repeat([]byte("A"), 64<<10)
	fuzzbudget.Budget{Base: 1 << 20, Time: time.Minute}.Check(t, 0, func() {
		parts := []io.Reader{strings.NewReader(`{"media":"`)}
		for range 1 << 10 {
			parts = append(parts, bytes.NewReader(line))
		}
		size := int64(0)
		rest, err := io.ReadAll(newSpooler(io.MultiReader(append(parts, strings.NewReader(`"}`))...), []string{"media"}, func(text io.Reader) error {
			_, data, err := decodeBase64(text)
			n, copied := io.Copy(io.Discard, data)
			size = n
			return errors.Join(err, copied)
		}))
		if err != nil || string(rest) != `{"media":""}` || size != 48<<20 {
			t.Errorf("%s, %v, %d bytes", rest, err, size)
		}
	})
}

// A file in any JSON object is found, and the rest is what it was.
func FuzzSpooler(f *testing.F) {
	f.Add(`{"number":1,"media":"aGVsbG8="}`, []byte("hello"))
	f.Add(`{"file":{"data":"x"},"a":["\"",{}]}`, []byte{0xff})
	f.Add(`{"media":`, []byte{})
	f.Fuzz(func(t *testing.T, body string, file []byte) {
		fuzzbudget.Usual.Check(t, len(body)+len(file), func() {
			_, _, _, _ = spooled(strings.NewReader(body), "media", "file.data") // whatever it is
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(body), &object) != nil || object == nil || len(file) == 0 {
				return
			}
			for name := range object {
				if strings.EqualFold(name, "media") || strings.EqualFold(name, "file") {
					delete(object, name)
				}
			}
			object["media"] = must(json.Marshal(base64.URLEncoding.EncodeToString(file)))
			rest, files, _, err := spooled(bytes.NewReader(must(json.Marshal(object))), "media", "file.data")
			var left map[string]json.RawMessage
			if err != nil || len(files) != 1 || files[0] != string(file) || json.Unmarshal(rest, &left) != nil {
				t.Fatalf("%q: %q, %q, %v", body, rest, files, err)
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
