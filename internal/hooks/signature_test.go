package hooks

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// The example of GitHub's documentation.
const (
	documentedSecret    = "It's a Secret to Everybody"
	documentedBody      = "Hello, World!"
	documentedSignature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
)

func TestVerify_TheDocumentedExample(t *testing.T) {
	for _, header := range []http.Header{
		{"X-Hub-Signature-256": {"sha256=" + documentedSignature}},
		{"X-Gitea-Signature": {documentedSignature}},
		{"X-Forgejo-Signature": {documentedSignature}, "X-Gitea-Signature": {documentedSignature}, "X-Hub-Signature-256": {"sha256=" + documentedSignature}},
		{"X-Grafana-Alerting-Signature": {documentedSignature}},
	} {
		if signed, err := Verify(documentedSecret, header, []byte(documentedBody), time.Now()); err != nil || string(signed) != documentedBody {
			t.Errorf("%v: %q, %v", header, signed, err)
		}
	}
}

func TestVerify_Ways(t *testing.T) {
	const secret, json = "hush", `{"a":1}`
	form := "payload=" + url.QueryEscape(json)
	sign := func(body string) string { return hex.EncodeToString(Sign(secret, []byte(body))) }
	asForm := []string{"application/x-www-form-urlencoded"}
	type delivery struct {
		header  http.Header
		body    string
		refused string
	}
	grafana := func(late int) delivery {
		at, refused := fmt.Sprint(1700000000-late), ""
		if late > 300 || late < -300 {
			refused = "X-Grafana-Alerting-Timestamp is not within 5 minutes"
		}
		return delivery{http.Header{"X-Grafana-Alerting-Signature": {sign(at + ":" + json)}, "X-Grafana-Alerting-Timestamp": {at}}, json, refused}
	}
	for name, c := range map[string]delivery{
		"nothing":                           {http.Header{}, json, "has a secret"},
		"another body":                      {http.Header{"X-Gitea-Signature": {sign(json)}}, json + " ", "X-Gitea-Signature"},
		"no hex":                            {http.Header{"X-Gitea-Signature": {"zz"}}, json, "X-Gitea-Signature"},
		"empty":                             {http.Header{"X-Gitea-Signature": {""}}, json, "X-Gitea-Signature"},
		"cut":                               {http.Header{"X-Gitea-Signature": {sign(json)[:32]}}, json, "X-Gitea-Signature"},
		"one of two":                        {http.Header{"X-Gitea-Signature": {sign(json)}, "X-Hub-Signature-256": {"sha256=" + sign("x")}}, json, "X-Hub-Signature-256"},
		"given twice":                       {http.Header{"X-Gitea-Signature": {sign(json), sign("x")}}, json, "X-Gitea-Signature"},
		"GitHub's form":                     {http.Header{"X-Hub-Signature-256": {"sha256=" + sign(form)}, "Content-Type": asForm}, form, ""},
		"Gitea's form":                      {http.Header{"X-Gitea-Signature": {sign(json)}, "Content-Type": asForm}, form, ""},
		"two payloads":                      {http.Header{"X-Gitea-Signature": {sign(json)}, "Content-Type": asForm}, form + "&payload=x", "X-Gitea-Signature"},
		"SHA-1 alone":                       {http.Header{"X-Hub-Signature": {"sha1=" + sign(json)}}, json, "has a secret"},
		"Grafana with time":                 {http.Header{"X-Grafana-Alerting-Signature": {sign("1700000000:" + json)}, "X-Grafana-Alerting-Timestamp": {"1700000000"}}, json, ""},
		"Grafana's time":                    {http.Header{"X-Grafana-Alerting-Signature": {sign(json)}, "X-Grafana-Alerting-Timestamp": {"1700000000"}}, json, "X-Grafana"},
		"Grafana, a little late":            grafana(300),
		"Grafana, too late":                 grafana(301),
		"Grafana, a little early":           grafana(-300),
		"Grafana, too early":                grafana(-301),
		"no time":                           {http.Header{"X-Grafana-Alerting-Signature": {sign("soon:" + json)}, "X-Grafana-Alerting-Timestamp": {"soon"}}, json, "X-Grafana-Alerting-Timestamp"},
		"a bearer":                          {http.Header{"Authorization": {"Bearer " + secret}}, json, ""},
		"a wrong bearer":                    {http.Header{"Authorization": {"Bearer x"}}, json, "Authorization"},
		"a password":                        {http.Header{"Authorization": {"Basic aG9vazpodXNo"}}, json, ""},
		"a wrong password":                  {http.Header{"Authorization": {"Basic aG9vazp4"}}, json, "Authorization"},
		"a bearer beside a wrong signature": {http.Header{"Authorization": {"Bearer " + secret}, "X-Gitea-Signature": {sign("x")}}, json, "X-Gitea-Signature"},
	} {
		signed, err := Verify(secret, c.header, []byte(c.body), time.Unix(1700000000, 0))
		want := c.body
		switch {
		case c.header.Get("Authorization") != "":
			want = ""
		case name == "Gitea's form":
			want = json
		}
		switch {
		case err == nil && string(signed) != want:
			t.Errorf("%s: signed is %q", name, signed)
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.refused != "" && (bridge.CodeOf(err) != bridge.CodeSignatureInvalid || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}

func TestIdentify_TellsDeliveriesApart(t *testing.T) {
	of := func(header http.Header, body string) Identity {
		payload, err := JSONPayload([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return Identify(header, payload, []byte(body))
	}
	const firing = `{"groupKey":"g","alerts":[{"status":"firing"}],"status":"firing"}`
	beat := func(at string) string { return `{"heartbeat":{"monitorID":1,"time":"` + at + `","status":0}}` }
	gitea := func(id, event, body string) Identity {
		return of(http.Header{"X-Gitea-Delivery": {id}, "X-Github-Delivery": {id}, "X-Gitea-Event": {event}}, body)
	}
	const tried = `{"before":"b1ffeb7","after":"b1ffeb7"}`
	seen := map[string]bool{}
	for _, id := range []Identity{
		gitea("f1", "issues", `{"a":1}`), gitea("f1", "issues", `{"a":2}`), gitea("f1", "push", `{"a":1}`), gitea("f1", "push", tried), gitea("f2", "push", tried),
		of(http.Header{"X-Github-Delivery": {"f3"}}, `{"a":1}`), of(http.Header{"X-Github-Delivery": {"f4"}}, `{"a":1}`), of(http.Header{"Idempotency-Key": {"k"}}, `{}`),
		of(http.Header{}, beat("2026-03-01 10:11:12.345")), of(http.Header{}, beat("2026-03-01 10:11:13.345")), of(http.Header{}, firing),
	} {
		if id.ID == "" || seen[id.ID] || len(id.ID) > 100 {
			t.Errorf("%+v is not one of its own", id)
		}
		seen[id.ID] = true
	}
	if gitea("f1", "issues", `{"a":1}`) != gitea("f5", "issues", `{"a":1}`) {
		t.Error("what Gitea delivers again, under another id, is another delivery")
	}
	worded := strings.Replace(beat("2026-03-01 10:11:12.345"), "}}", `},"msg":"down again"}`, 1)
	if of(http.Header{}, worded) == of(http.Header{}, beat("2026-03-01 10:11:12.345")) {
		t.Error("a heartbeat with another text counts as the first one, and would be refused")
	}
	if id := of(http.Header{}, firing); !id.IsBrief {
		t.Error("alerts that go on would be told once")
	}
	if id := of(http.Header{}, `{"text":"hi"}`); id.ID != "" {
		t.Errorf("%+v: what has no name was given one", id)
	}
}

// TestIdentifySigned_IsTheEventAndWhatIsSigned: nothing else that a delivery
// carries makes it another one.
func TestIdentifySigned_IsTheEventAndWhatIsSigned(t *testing.T) {
	gitea, custom := shipped()["gitea"], shipped()["json"]
	of := func(template *Template, signed string, headers ...string) Identity {
		header := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			header.Set(headers[i], headers[i+1])
		}
		return template.IdentifySigned(header, []byte(signed))
	}
	push := of(gitea, "a", "X-Gitea-Event", "push")
	if !push.IsSigned || push.IsBrief || push != of(gitea, "a", "X-Forgejo-Event", "push", "X-Gitea-Delivery", "1", "Idempotency-Key", "2") {
		t.Errorf("%+v: an id makes it another one", push)
	}
	if push == of(gitea, "b", "X-Gitea-Event", "push") || push == of(gitea, "a", "X-Gitea-Event", "issues") {
		t.Error("another body, or event, is the same")
	}
	if of(custom, "a") != of(custom, "a", "X-Gitea-Event", "push") || of(gitea, "a") != of(gitea, "a", "X-Gitea-Event", "none") {
		t.Error("an event that no text depends on makes it another one")
	}
}

func TestIsPing(t *testing.T) {
	if !IsPing(http.Header{"X-Github-Event": {"ping"}}) || IsPing(http.Header{"X-Github-Event": {"push"}}) {
		t.Error("not told apart")
	}
}

func TestPayload_IsReadByItsType(t *testing.T) {
	template, err := Parse("json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, body, want string }{
		{"application/json; charset=utf-8", `{"text":"a"}`, "a"},
		{"application/cloudevents+json", `{"text":"a"}`, "a"},
		{"", ` {"text":"a"}`, "a"},
		{"application/x-www-form-urlencoded", "payload=" + url.QueryEscape(`{"text":"a"}`), "a"},
		{"application/x-www-form-urlencoded", "text=a+b&x=%zz", "text=a+b&x=%zz"},
		{"application/x-www-form-urlencoded", "text=a+b", "a b"},
		{"application/x-www-form-urlencoded", "backup done", "backup done"},
		{"text/plain", "ba\xffck", "ba\uFFFDck"},
		{"application/json", "{\"text\":\"ba\xffck\"}", "ba\uFFFDck"},
		{"application/json", `{"text":"a","text":"b"}`, "b"}, // of a name that is given twice the last value holds
	} {
		header := http.Header{"Content-Type": {c.kind}}
		if got := render(t, "json", header, []byte(c.body)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.body, got, c.want)
		}
	}
	for kind, body := range map[string]string{"multipart/form-data; boundary=x": "--x--", "application/json": "{"} {
		if _, err := template.Payload(http.Header{"Content-Type": {kind}}, []byte(body)); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
