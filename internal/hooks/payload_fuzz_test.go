package hooks

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// What anybody posts, with whatever headers of the services, becomes a bounded
// text with every shipped template, or is refused.
func FuzzPayload(f *testing.F) {
	err := filepath.WalkDir("testdata", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		body, err := os.ReadFile(path)
		f.Add(body, "application/json", strings.TrimSuffix(filepath.Base(path), ".json"), "sha256=00")
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("payload=%7B%22a%22%3A1%7D&payload=x"), "application/x-www-form-urlencoded", "push", "")
	f.Add([]byte(strings.Repeat("[", 100)), "", "ping", "v1,x v1,y")
	f.Add([]byte(`{"groupKey":1,"alerts":[{"labels":{"a":"b"}}],"heartbeat":{"time":1}}`), "text/plain", "release", "Bearer x")
	f.Fuzz(func(t *testing.T, body []byte, contentType, event, signature string) {
		if len(body) > 64<<10 {
			return
		}
		header := http.Header{
			"Content-Type": {contentType}, "X-Github-Event": {event}, "X-Gitea-Event": {event}, "X-Hub-Signature-256": {signature}, "X-Gitea-Signature": {signature},
			"Webhook-Signature": {signature}, "Authorization": {signature},
		}
		perTemplate.Check(t, len(body)*len(Names())+len(contentType)+len(event)+len(signature), func() {
			if _, err := Verify("a secret of the tests", header, body, time.Now()); err == nil {
				t.Errorf("%q signs %q", signature, body)
			}
			for name, template := range shipped() {
				payload, err := template.Payload(header, body)
				if err != nil {
					if bridge.CodeOf(err) != bridge.CodeInvalid {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				Identify(header, payload, body)
				text, err := template.Render(payload, header)
				if err != nil && bridge.CodeOf(err) != bridge.CodeTemplateFailed || len(text) > maxOutput {
					t.Errorf("%s: %d bytes, %v", name, len(text), err)
				}
			}
		})
	})
}

// Reading a payload takes a small multiple of it.
func FuzzJSONPayload(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e3,"x",null,true,{"b":{}}]}`))
	f.Add([]byte(`[` + strings.Repeat(`{},`, 1000) + `{}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzbudget.Usual.Check(t, len(body), func() {
			if _, err := JSONPayload(body); err != nil && bridge.CodeOf(err) != bridge.CodeInvalid {
				t.Errorf("%q: %v", body, err)
			}
		})
	})
}
