package console_test

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	byN8n  = `"startedBy":{"name":"n8n","through":"api","tokenId":7,"hookId":null,"ended":false}`
	dryRun = `{"id":"J1","state":"done","error":null,"dryRun":true,"chatJid":"000000000000000007@import","total":1241,"imported":1234,"duplicates":7,"media":3,"system":2,
		"doubtful":[{"line":12,"text":"<b>1/13/25</b>","why":"it looks like the beginning of a message"}],"unknownNames":["Olga O'Neil","Xaver"]}`
	ambiguous = `{"error":"the dates of the export can be read in more than one order, DMY and MDY: say which with dateOrder","code":"ambiguous_dates","orders":["DMY","MDY"],
		"examples":[{"text":"1/2/25, 10:00","reads":{"DMY":"2025-02-01","MDY":"2025-01-02"}}]}`
)

// importing returns a console over an API with one answer to imports.
func importing(t *testing.T, status int, body string) (s *site, all *[]apiCall, csrf string) {
	s, all = overAPI(t, map[string]http.HandlerFunc{
		"/api/chats": replies(chatsByName), "/api/chats/" + grace: replies(`{"jid":"` + grace + `","name":"Grace, Hopper"}`),
		"/api/auth/status": replies(`{"status":"open","since":"2026-11-21T08:15:30.000Z","user":{"jid":"15550100200@s.whatsapp.net"}}`),
		"/api/imports": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		},
	})
	csrf = s.logIn().csrf()
	*all = nil
	return s, all, csrf
}

// fieldsOf returns the form that the API received.
func fieldsOf(t *testing.T, sent apiCall) map[string]string {
	t.Helper()
	_, parameters, err := mime.ParseMediaType(sent.header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(strings.NewReader(sent.body), parameters["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[string]string)
	for name, values := range form.Value {
		fields[name] = values[0]
	}
	return fields
}

// A dry run shows the result, with a field for each unknown name.
func TestImport_ShowsTheDryRun(t *testing.T) {
	t.Parallel()
	s, all, csrf := importing(t, http.StatusOK, dryRun)
	page := s.upload(t, "/console/import", [][2]string{{"csrf", csrf}, {"chat", ""}, {"chat", "Old friends"}, {"timezone", "Europe/Madrid"}, {"order", ""}}).want(t, http.StatusOK, "").body
	for _, want := range []string{
		"1\u202f234", "a new chat, <strong dir=\"auto\">Old friends</strong>", `name="name-0" value="Olga O&#39;Neil"`, `name="person-1"`, "Line 12", "&lt;b&gt;1/13/25", "It looks like the beginning of a message.",
		`action="/console/import/run"`, `name="chat" value="Old friends"`, `name="timezone" value="Europe/Madrid"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	done := writes(*all)
	if len(done) != 1 {
		t.Fatalf("called %+v", done)
	}
	if diff := cmp.Diff(map[string]string{"chat": "Old friends", "timezone": "Europe/Madrid", "dryRun": "true"}, fieldsOf(t, done[0])); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(done[0].body, "the bytes") || done[0].header.Get("Prefer") != "" {
		t.Errorf("sent %+v", done[0])
	}
}

// The import has the chosen names, and redirects to its page.
func TestImport_SendsThePeopleOfNames(t *testing.T) {
	t.Parallel()
	s, all, csrf := importing(t, http.StatusAccepted, `{"id":"J2","state":"running","chatJid":"`+grace+`","doubtful":[],"unknownNames":[]}`)
	fields := [][2]string{
		{"csrf", csrf},
		{"chat", grace},
		{"timezone", "UTC"},
		{"order", "MDY"},
		{"name-0", "Olga"},
		{"person-0", ""},
		{"me-0", ""},
		{"name-1", "Grace H."},
		{"person-1", grace},
		{"person-1", ""},
		{"name-2", "Ben"},
		{"person-2", "+49 151 0000 0301"},
		{"name-3", "Alex"},
		{"me-3", "yes"},
	}
	s.upload(t, "/console/import/run", fields).want(t, http.StatusSeeOther, "/console/import/J2")
	done := writes(*all)
	if len(done) != 1 || done[0].header.Get("Prefer") != "respond-async" {
		t.Fatalf("called %+v", done)
	}
	sent := fieldsOf(t, done[0])
	var names map[string]string
	if err := json.Unmarshal([]byte(sent["names"]), &names); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"Grace H.": grace, "Ben": "4915100000301@s.whatsapp.net", "Alex": "15550100200@s.whatsapp.net"}, names); diff != "" {
		t.Error(diff)
	}
	if sent["chat"] != grace || sent["dateOrder"] != "MDY" || sent["dryRun"] != "" {
		t.Errorf("sent %v", sent)
	}
}

// A name that the bridge matched to the wrong person can be corrected.
func TestImport_CorrectsNames(t *testing.T) {
	t.Parallel()
	s, all, csrf := importing(t, http.StatusOK, dryRun)
	fields := [][2]string{{"csrf", csrf}, {"chat", "Old friends"}, {"timezone", "UTC"}, {"name-0", "Olga O'Neil"}, {"name-1", "Xaver"}, {"name-2", "Anna"}, {"person-2", grace}}
	page := s.upload(t, "/console/import", fields).want(t, http.StatusOK, "").body
	if names := fieldsOf(t, writes(*all)[0])["names"]; names != `{"Anna":"`+grace+`"}` {
		t.Errorf("told %s", names)
	}
	for _, want := range []string{`name="name-0" value="Anna"`, `name="person-0" value="` + grace + `" checked`, `value="Xaver"`, "Correct another name", `<input name="name-3"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// If dates are ambiguous, the page shows the dates of each order.
func TestImport_AsksHowDatesAreRead(t *testing.T) {
	t.Parallel()
	s, _, csrf := importing(t, http.StatusConflict, ambiguous)
	page := s.upload(t, "/console/import", [][2]string{{"csrf", csrf}, {"chat", "Old friends"}, {"timezone", "UTC"}}).want(t, http.StatusConflict, "").body
	for _, want := range []string{`type="radio" name="order" value="DMY"`, "1 February 2025", `type="radio" name="order" value="MDY"`, "2 January 2025", "1/2/25, 10:00"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s\n%s", want, page)
		}
	}
}

// The form shows refusals next to their fields.
func TestImport_ShowsErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ refusal, want string }{
		{`{"error":"timezone must be a zone like Europe/Berlin: \"Atlantis\" is not known","code":"invalid_request"}`, `<span>That time zone isn’t known. Enter one such as Europe/Berlin or &#43;02:00.</span>`},
		{`{"error":"the archive is refused: \"a.txt\" is encrypted","code":"invalid_request"}`, `role="alert"><p dir="auto">This ZIP is encrypted. Upload it without a password.</p>`},
	} {
		s, _, csrf := importing(t, http.StatusBadRequest, c.refusal)
		page := s.upload(t, "/console/import", [][2]string{{"csrf", csrf}, {"chat", "Old friends"}, {"timezone", "Atlantis"}, {"name-0", "Olga"}, {"person-0", grace}}).want(t, http.StatusBadRequest, "").body
		if !strings.Contains(page, c.want) || !strings.Contains(page, `value="Atlantis"`) || !strings.Contains(page, `name="person-0" value="`+grace+`" checked`) {
			t.Errorf("the page lacks %s, or what was typed\n%s", c.want, page)
		}
	}
	s, all, csrf := importing(t, http.StatusOK, dryRun)
	for _, c := range []struct {
		fields [][2]string
		want   string
	}{
		{[][2]string{{"csrf", csrf}, {"chat", " "}}, "Choose a chat, or enter a name for a new one."},
		{[][2]string{{"csrf", csrf}, {"chat", "Old friends"}, {"name-0", "Olga"}, {"person-0", "Nobody"}}, "There’s no chat called “Nobody”."},
		{[][2]string{{"csrf", csrf}, {"chat", "Old friends"}, {"name-0", ""}, {"person-0", grace}}, "Enter the name that you want to correct, as it is in the export."},
	} {
		if page := s.upload(t, "/console/import/run", c.fields).want(t, http.StatusBadRequest, "").body; !strings.Contains(page, c.want) {
			t.Errorf("the page lacks %q", c.want)
		}
	}
	s.upload(t, "/console/import/run", [][2]string{{"csrf", "guessed"}, {"chat", "Old friends"}}).want(t, http.StatusForbidden, "")
	if done := writes(*all); len(done) > 0 {
		t.Errorf("called %+v", done)
	}
}

// The page of an import follows the events, shows how far it is, and then links to the chat.
func TestImport_IsFollowed(t *testing.T) {
	t.Parallel()
	states := map[string][]string{
		`"state":"running","error":null`:                            {`max="40" value="30"`, "30 of 40 messages", "You can leave this page"},
		`"state":"done","error":null,"removable":1180`:              {"Remove 1\u202f180 messages?", `href="` + gracePath + `"`, "1 name doesn’t belong to a contact yet.", "2 lines may have been misread or left out.", "Line 12", "&lt;b&gt;1/13/25", "It is much older."},
		`"state":"undoing","error":null,"removed":5`:                {`max="20" value="5"`, "5 messages removed"},
		`"state":"undone","error":null,"removed":1`:                 {"Import undone", "1 message was removed."},
		`"state":"cancelled","error":"x","removable":0`:             {"It removes no messages"},
		`"state":"done","error":null,"removable":3`:                 {"Imported"}, // another token began it
		`"state":"failed","error":"the disk is full","removable":1`: {"Remove 1 message?", "The disk is full.", `href="/console/import?chat=15550100301%40s.whatsapp.net"`},
	}
	for state, wants := range states {
		by := byN8n
		if strings.Contains(state, `"removable":3`) {
			by = `"startedBy":null`
		}
		job := `{"id":"J1",` + state + `,` + by + `,"startedAt":"2026-11-20T08:15:30.000Z","chatJid":"` + grace + `","total":40,"imported":20,"duplicates":10,"doubtful":[{"line":12,"text":"<b>1/13/25</b>","why":"it is much older"},{"line":14,"text":"x","why":"it is much older"}],"unknownNames":["Olga"]}`
		s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/imports/J1": replies(job), "/api/chats/" + grace: replies(`{"jid":"` + grace + `","name":"Grace"}`)})
		s.logIn()
		page := s.get("/console/import/J1").want(t, http.StatusOK, "").body
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s\n%s", state, want, page)
			}
		}
		if part := s.get("/console/import/J1?part").want(t, http.StatusOK, "").body; strings.Contains(part, "<html") || !strings.Contains(part, `data-live="import"`) {
			t.Errorf("%s: the script gets\n%s", state, part)
		}
		canCancel, canUndo := strings.Contains(state, "running"), strings.Contains(state, "removable") && by == byN8n
		if strings.Contains(page, "cancel-import") != canCancel || strings.Contains(page, "undo-import") != canUndo {
			t.Errorf("%s: buttons\n%s", state, page)
		}
	}
	s, _, _ := importing(t, http.StatusOK, dryRun)
	s.get("/console/import/GONE").want(t, http.StatusNotFound, "")
}

// The list shows the states of imports. A button cancels a running import and undoes a finished one.
func TestImport_IsListedAndUndone(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/imports": replies(`{"count":3,"imports":[
			{"id":"J3","state":"running","error":null,"chatJid":"` + grace + `","fileName":"more.zip",` + byN8n + `,"startedAt":"2026-11-21T09:15:30.000Z","imported":5,"duplicates":4,"total":60},
			{"id":"J2","state":"undone","error":null,"chatJid":"` + grace + `","fileName":"<b>chat</b>.zip","startedAt":"2026-11-21T08:15:30.000Z","imported":3},
			{"id":"J1","state":"done","error":null,"chatJid":"` + grace + `","fileName":"chat.zip",` + byN8n + `,"startedAt":"2026-11-20T08:15:30.000Z","imported":40,"duplicates":7,"media":3,"system":2}],"nextCursor":"C2"}`),
		"/api/imports/J1": replies(`{"id":"J1","state":"undone","chatJid":"` + grace + `","removed":40}`), "/api/chats/" + grace: replies(`{"jid":"` + grace + `","name":"Grace"}`),
	})
	s.logIn()
	page := s.get("/console/imports").want(t, http.StatusOK, "")
	for _, want := range []string{
		`href="/console/import/J1" dir="auto">Grace<`, `href="/console/import/J1#undo-import"`, ">Undone<", ">Imported<", "&lt;b&gt;chat", "/console/imports?cursor=C2",
		"40 new", "with the token n8n", "7 there already", "2 notices left out", `data-label="Files">3<`, `max="60" value="9"`, `action="/console/import/J3/end"`,
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %s\n%s", want, page.body)
		}
	}
	if strings.Contains(page.body, "J2#undo-import") {
		t.Error("what was undone can be undone again")
	}
	if part := s.get("/console/imports?part&cursor=").want(t, http.StatusOK, "").body; strings.Contains(part, "<html") || !strings.Contains(part, `data-live="imports"`) {
		t.Errorf("the script gets\n%s", part)
	}
	csrf := s.get("/console/chats").csrf()
	*all = nil
	s.do(http.MethodPost, "/console/import/J1/end", url.Values{"csrf": {csrf}}).want(t, http.StatusSeeOther, "/console/import/J1")
	if done := writes(*all); len(done) != 1 || done[0].method != http.MethodDelete {
		t.Errorf("called %+v", done)
	}
}

// Visitors without the scope manage find no link and get no page.
func TestImport_RequiresManage(t *testing.T) {
	t.Parallel()
	s, all, _ := importing(t, http.StatusOK, dryRun)
	if list := s.get("/console/chats").body; !strings.Contains(list, `href="/console/import"`) {
		t.Error("the chats do not lead to imports")
	}
	if page := s.get("/console/import?chat="+url.QueryEscape(grace)).want(t, http.StatusOK, "").body; !strings.Contains(page, `name="chat" value="`+grace+`" checked`) {
		t.Errorf("the chat is not chosen\n%s", page)
	}
	reader, _, _ := importing(t, http.StatusOK, dryRun)
	reader.try("brt_LIMITED").want(t, http.StatusSeeOther, "/console/")
	csrf := reader.get("/console/chats").csrf()
	for _, page := range []string{"/console/chats", "/console/settings"} {
		if strings.Contains(reader.get(page).body, `href="/console/import"`) {
			t.Errorf("%s leads a reader to imports", page)
		}
	}
	*all = nil
	reader.get("/console/import").want(t, http.StatusForbidden, "")
	reader.get("/console/import/J1").want(t, http.StatusForbidden, "")
	reader.get("/console/imports").want(t, http.StatusForbidden, "")
	reader.upload(t, "/console/import/run", [][2]string{{"csrf", csrf}, {"chat", "Old friends"}}).want(t, http.StatusForbidden, "")
	if done := writes(*all); len(done) > 0 {
		t.Errorf("called %+v", done)
	}
}

// An imported chat has the reason in place of the composer. Its messages name their senders and say
// that they were imported.
func TestImport_ChatIsForReading(t *testing.T) {
	t.Parallel()
	const chat = "000000000000000007@import"
	message := `{"msgId":"EXPORT-1","chatJid":"` + chat + `","senderJid":"000000000000000008@import","pushName":"Olga","fromMe":false,"imported":true,"messageType":"conversation","content":"without me","timestamp":"2026-10-21T10:00:00.000Z"}`
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats/" + chat:                        replies(`{"jid":"` + chat + `","name":"Old friends"}`),
		"/api/chats/" + chat + "/messages/EXPORT-1": replies(`{"chatJid":"` + chat + `","message":` + message + `}`),
		"/api/chats/" + chat + "/messages":          replies(`{"count":1,"messages":[` + message + `],"nextCursor":null}`),
	})
	s.logIn()
	page := s.get("/console/chats/"+url.PathEscape(chat)).want(t, http.StatusOK, "").body
	page += s.get("/console/chats/"+url.PathEscape(chat)+"/messages/EXPORT-1/menu").want(t, http.StatusOK, "").body
	for _, want := range []string{"You can only read it.", "<bdi>Olga</bdi>", `title="imported"`, `<p class="hint">Imported chat</p>`, "/forward"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s\n%s", want, page)
		}
	}
	for _, not := range []string{"<textarea", "data-reply", "data-can", "Contact info", `class="row-more"`} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %s", not)
		}
	}
}
