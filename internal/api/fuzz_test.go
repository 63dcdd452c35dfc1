package api

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"bridged/internal/api/content"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// mustBeRefusal fails where a caller's input ended in anything but a refusal
// that says something, in valid UTF-8.
func mustBeRefusal(t *testing.T, err error, codes ...bridge.Code) {
	t.Helper()
	for _, code := range codes {
		if bridge.CodeOf(err) == code {
			if e, _ := front.Public(err); e.Msg == "" || !utf8.ValidString(e.Msg) {
				t.Errorf("sentence %q", e.Msg)
			}
			return
		}
	}
	t.Errorf("not a refusal: %v", err)
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"jid":"15557654321@s.whatsapp.net","contacts":[{"displayName":"Alan"}],"quotedMsgId":"x","latitude":1e5,"values":["a"]}`,
		`{"contacts":[{"displayName":1}]}`, `{"values":[[]]}`, `{"latitude":"1"}`, `[]`, `null`, ` `, `{}{}`, "{\"text\":\"\xff\"}", `{"QuotedMsgId":null}`, `{"a":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzbudget.Usual.Check(t, len(body), func() {
			var req struct {
				Text     string               `json:"text"`
				Latitude *float64             `json:"latitude"`
				Count    *int                 `json:"selectableCount"`
				Values   []string             `json:"values"`
				Contacts []bridge.ContactCard `json:"contacts"`
				addressed
			}
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
			in := &input{server: &server{bodies: front.NewBodies()}, w: httptest.NewRecorder(), r: r}
			raw := in.body(&req, lenient)
			if in.err != nil {
				mustBeRefusal(t, in.err, bridge.CodeInvalid, bridge.CodePayloadTooLarge)
				return
			}
			if !json.Valid(raw) || !utf8.Valid(raw) {
				t.Errorf("accepted %q", raw)
			}
			if err := content.CheckContacts(req.Contacts); err != nil {
				mustBeRefusal(t, err, bridge.CodeInvalid)
			}
		})
	})
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"limit=10&offset=3&order=asc&q=%25&since=2026-11-21&until=2026-11-21T08:15:30+01:00&sender=1@lid&cursor=x", "limit=&limit=", "%zz", "a;b",
		"since=9999-12-31T23:59:59.9999999Z", "until=0000-01-01", "q=%ff", "since=2026-11-21T08:15:30.123456789-23:59",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		fuzzbudget.Usual.Check(t, len(raw), func() {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.URL.RawQuery = raw
			q := &input{r: r}
			h := q.history("1@g.us")
			sender := q.person("sender")
			if q.err != nil {
				mustBeRefusal(t, q.err, bridge.CodeInvalid)
				return
			}
			if h.Limit < 1 || h.Limit > maxMessages || h.Offset < 0 || (h.Order != bridge.OrderAsc && h.Order != bridge.OrderDesc) {
				t.Errorf("%q: %+v", raw, h)
			}
			if !utf8.ValidString(h.Q) || !utf8.ValidString(h.Cursor) || (sender != "" && !sender.IsPerson()) {
				t.Errorf("%q: %+v from %q", raw, h, sender)
			}
			if _, err := json.Marshal(h); err != nil {
				t.Errorf("%q: %v", raw, err)
			}
		})
	})
}

func FuzzPathJID(f *testing.F) {
	for _, seed := range []string{
		"15557654321@s.whatsapp.net", "15557654321%40s.whatsapp.net", "1-2%40g.us", "1%2540g.us", "%FF", "..%2f..", "1:2@s.whatsapp.net", "%", "+1@lid", "１@lid",
	} {
		f.Add(seed)
	}
	var jid bridge.JID
	var err error
	routes := chi.NewRouter()
	routes.Get("/person/{jid}", func(_ http.ResponseWriter, r *http.Request) { in := &input{r: r}; jid, err = in.pathPerson(), in.err })
	routes.Get("/group/{jid}", func(_ http.ResponseWriter, r *http.Request) { in := &input{r: r}; jid, err = in.pathGroup(), in.err })
	f.Fuzz(func(t *testing.T, segment string) {
		fuzzbudget.Usual.Check(t, len(segment), func() {
			for _, kind := range []string{"person", "group"} {
				r, bad := http.NewRequest(http.MethodGet, "http://x/"+kind+"/"+segment, nil)
				if bad != nil {
					continue // no client could send it
				}
				jid, err = "", nil
				routes.ServeHTTP(httptest.NewRecorder(), r)
				if err != nil {
					mustBeRefusal(t, err, bridge.CodeInvalid)
					continue
				}
				again, bad := bridge.ParseJID(string(jid))
				if jid != "" && (bad != nil || again != jid || (kind == "person") != jid.IsPerson()) {
					t.Errorf("%q is the %s %q", segment, kind, jid)
				}
			}
		})
	})
}

func FuzzVCard(f *testing.F) {
	for _, seed := range []string{"BEGIN:VCARD\nFN:x\nEND:VCARD", "begin:vcard\r\nend:vcard\r\n", "BEGIN:VCARDX\nEND:VCARD", "\nBEGIN:VCARD\nEND:VCARD"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, card string) {
		fuzzbudget.Usual.Check(t, len(card), func() {
			if !content.IsVCard(card) {
				return
			}
			upper := strings.ToUpper(card)
			if !strings.Contains(upper, "BEGIN:VCARD") || !strings.Contains(upper, "END:VCARD") || strings.ContainsRune(card, 0) || len(card) > content.MaxVCard {
				t.Errorf("accepted %q", card)
			}
		})
	})
}

func FuzzEmoji(f *testing.F) {
	for _, seed := range []string{"👍", "", "ok", "1️⃣", "\xff", "\u200d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fuzzbudget.Usual.Check(t, len(s), func() {
			if content.IsEmoji(s) && (!utf8.ValidString(s) || strings.ContainsAny(s, " \n\r\tabcXYZ<>&\"'") || utf8.RuneCountInString(s) > content.MaxEmoji) {
				t.Errorf("accepted %q", s)
			}
		})
	})
}

// A form's fields are bounded, whatever its parts are.
func FuzzForm(f *testing.F) {
	part := func(head, body string) string {
		return "--x\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	for _, parts := range []string{
		part(`name="jid"`, "1@g.us") + part(`name="caption"`, "a\xff"), part(`name="ptt"`, "true") + part(`name="ptt"`, "true"), part(`name*=utf-8''jid`, "x"),
		part(`name="nothing"`, ""), part(`name="jid"; filename="../a"`, "x"), strings.Repeat(part(`name=""`, ""), 20), part(`name="file"`, "hello"),
	} {
		f.Add([]byte(parts + "--x--\r\n"))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzbudget.Usual.Check(t, len(body), func() {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			form, s, fields := &fileForm{Form: front.NewForm(w, r, 0)}, &server{bodies: front.NewBodies()}, 0
			err := form.Each(w, r, func(part *multipart.Part) error {
				if part.FormName() == "file" {
					return bridge.Invalid("the file would be next")
				}
				fields++
				return form.take(t.Context(), s, part)
			})
			if code := bridge.CodeOf(err); err != nil && (code == bridge.CodeInvalid || code == bridge.CodePayloadTooLarge) {
				mustBeRefusal(t, err, code)
			}
			if fields > front.MaxFields || len(form.Caption) > front.MaxField {
				t.Errorf("%d fields, a caption of %d bytes", fields, len(form.Caption))
			}
		})
	})
}
