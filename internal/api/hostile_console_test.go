package api_test

import (
	"context"
	"crypto/sha256"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/console"
	"bridged/internal/intake/intaketest"
	"bridged/internal/longtest"
)

// memoryOfForms bounds what a form of the console may allocate, in bytes: the form, its fields, the call of
// the API, and the page that shows the form again.
const memoryOfForms = 48 << 20

var csrfOf = regexp.MustCompile(`name="csrf" value="([^"]+)"|data-csrf="([^"]+)"`)

// No form takes a multiple of its bytes in memory, on any route of the console: with all fields that its
// pages have, hostile values in them, and in other types and encodings. The visitor has a token for one chat.
func TestBodies_OfEveryFormOfTheConsoleHoldLittleMemory(t *testing.T) {
	s := newHooked(t)
	s.know(members(club, "Readers", grace, me), say(club, grace, "G1", "to all", 0))
	secret := s.server.token(`{"name":"x","scopes":["read","send","manage"],"chats":["` + string(club) + `"]}`).Secret
	router := s.handler.(*api.Handler)
	site, err := console.New(console.Options{
		TokenOf: func(ctx context.Context, hash [sha256.Size]byte) (token bridge.Token, known bool, err error) {
			caller, err := router.Tokens().ByHash(ctx, hash)
			if caller != nil {
				token = caller.Token
			}
			return token, caller != nil, err
		},
		API: func(hash [sha256.Size]byte) http.Handler { return router.Tokens().As(router, hash) }, Sessions: s.store, Token: token, EnableSend: true, Transcribes: true, MaxFile: 1 << 20, Streams: t.Context(), Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var cookies []*http.Cookie
	do := func(method, path, kind, encoding, csrf, body string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		for name, value := range map[string]string{"Content-Type": kind, "Content-Encoding": encoding, "X-CSRF-Token": csrf} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		for _, cookie := range cookies {
			req.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, req)
		return w
	}
	csrfIn := func(w *httptest.ResponseRecorder) string {
		found := csrfOf.FindStringSubmatch(w.Body.String())
		if found == nil {
			t.Fatalf("a page without a form: %d", w.Code)
		}
		return found[1] + found[2]
	}
	const form = "application/x-www-form-urlencoded"
	logIn := func() (csrf string) {
		cookies = nil
		shown := do(http.MethodGet, "/login", "", "", "", "")
		cookies = shown.Result().Cookies()
		begun := do(http.MethodPost, "/login", form, "", "", url.Values{"token": {secret}, "csrf": {csrfIn(shown)}}.Encode())
		cookies = begun.Result().Cookies()
		return csrfIn(do(http.MethodGet, "/console/chats", "", "", "", ""))
	}
	bodies := append(hostileForms(t), intaketest.Others()...)
	names := strings.NewReplacer("{jid}", string(club), "{id}", "G1", "{number}", "999", "{delivery}", "1", "{import}", "NONE")
	walked := 0
	for _, pattern := range site.Patterns() {
		path, isForm := strings.CutPrefix(pattern, "POST ")
		if !isForm {
			continue
		}
		for _, operation := range []string{"sendText", "sendFile", "createToken"} {
			path := strings.ReplaceAll(names.Replace(path), "{operation}", operation)
			csrf := logIn()
			for i, body := range bodies {
				if (i+walked)%longtest.Else(12, 1) != 0 { // each route takes others of the bodies
					continue
				}
				intaketest.Check(t, "POST "+path+" with "+body.Name, memoryOfForms, func() int {
					return do(http.MethodPost, path, body.Type, body.Encoding, csrf, body.Text).Code
				})
			}
			walked++
			if !strings.Contains(pattern, "{operation}") {
				break
			}
		}
	}
	if walked < 35 {
		t.Errorf("only %d forms were tried", walked)
	}
}

// hostileForms returns forms with all fields that pages have, within 1 MiB.
func hostileForms(t *testing.T) (forms []intaketest.Typed) {
	t.Helper()
	pages, err := filepath.Glob("../console/templates/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal("no templates", err)
	}
	fields := map[string]bool{"form.chat": true, "form.caption": true, "header.Idempotency-Key": true, "mention": true}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`name="([A-Za-z.-]+)"`).FindAllStringSubmatch(string(text), -1) {
			fields[found[1]] = true
		}
	}
	delete(fields, "csrf") // it is in the header
	names := slices.Sorted(maps.Keys(fields))
	const size = 1_000_000
	each := func(name string, value func(room int) string) {
		var text strings.Builder
		for _, field := range names {
			room := size / len(names)
			text.WriteString(field + "=" + value(room-len(field)-2) + "&")
		}
		forms = append(forms, intaketest.Typed{Name: name, Type: "application/x-www-form-urlencoded", Text: text.String()})
	}
	each("commas in all fields", func(room int) string { return strings.Repeat(",", room) })
	each("lines in all fields", func(room int) string { return strings.Repeat("a%0A", room/4) })
	each("tags in all fields", func(room int) string { return strings.Repeat("<", room) })
	each("lists in all fields", func(room int) string { return "[" + strings.Repeat("{},", room/3-1) + "{}]" })
	var again strings.Builder
	for again.Len() < size {
		for _, field := range names {
			again.WriteString(field + "=1&")
		}
	}
	forms = append(forms, intaketest.Typed{Name: "all fields again and again", Type: "application/x-www-form-urlencoded", Text: again.String()})
	for _, field := range []string{"text", "person", "mention", "options", "to", "chat", "body", "payload", "scope"} {
		if !fields[field] {
			t.Errorf("no page has the field %s", field)
		}
		head := "confirm=yes&kind=poll&do=try&go=1&" + field + "="
		forms = append(forms, intaketest.Typed{Name: "tags in " + field, Type: "application/x-www-form-urlencoded", Text: head + strings.Repeat("<", size)})
	}
	return forms
}
