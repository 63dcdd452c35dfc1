package console_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// aDocument describes four calls of an API.
const aDocument = `{"info":{"description":"**Errors.** They are sentences."},"tags":[{"name":"reading","description":"What is stored."}],"paths":{
"/api/chats/{jid}":{"parameters":[{"$ref":"#/components/parameters/Chat"}],"get":{"tags":["reading"],"operationId":"getChat","summary":"One chat","parameters":[
 {"name":"order","in":"query","schema":{"type":"string","enum":["asc","desc"],"default":"desc"}},{"name":"limit","in":"query","schema":{"type":"integer","default":100}},{"name":"kind","in":"query","example":"image","schema":{"type":"string"}}],
 "responses":{"200":{"description":"The chat.","content":{"application/json":{"example":{"jid":"1@g.us"}}}}}},
 "patch":{"tags":["reading"],"operationId":"updateChat","summary":"Change a chat","parameters":[{"name":"Idempotency-Key","in":"header","schema":{"type":"string"}}],
 "requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"pinned":{"type":"boolean"}}},"example":{"pinned":true}}}},"responses":{"200":{"description":"It is changed."}}}},
"/api/chats/{jid}/picture":{"parameters":[{"$ref":"#/components/parameters/Chat"}],"get":{"tags":["reading"],"operationId":"getPicture","summary":"A picture","responses":{}}},
"/api/files":{"post":{"tags":["reading"],"operationId":"sendIt","summary":"Send a file","requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","required":["file","jid"],"properties":{
 "file":{"type":"string"},"jid":{"type":"string","pattern":"^([0-9]+@(s\\.whatsapp\\.net|lid)|[0-9]+@g\\.us)$"},"caption":{"type":"string"}}}}}},"responses":{}}}},
"components":{"parameters":{"Chat":{"name":"jid","in":"path","required":true,"schema":{"type":"string","pattern":"^([0-9]+@(s\\.whatsapp\\.net|lid)|[0-9]+@g\\.us)$"}}}}}`

// tried returns a console over an API that describes itself.
func tried(t *testing.T) (*site, *[]apiCall) {
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/openapi.json": replies(aDocument), "/api/chats": replies(chatsByName), "/api/contacts": replies(`{"count":0,"contacts":[],"nextCursor":null}`),
		"/api/files": replies(`{"ok":true}`),
		"/api/chats/" + grace: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Request-Id", "r1")
			if r.Method == http.MethodPatch {
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, `{"error":"this token <b>lacks</b> the scope send","code":"forbidden"}`)
				return
			}
			_, _ = io.WriteString(w, `{"jid":"`+grace+`","name":"Grace, Hopper"}`)
		},
		"/api/chats/" + grace + "/picture": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = io.WriteString(w, "<svg/>")
		},
	})
	return s, all
}

// The reference lists all calls; each has a page with a form.
func TestReference_ListsCallsWithTheirPaths(t *testing.T) {
	t.Parallel()
	s, _ := tried(t)
	s.logIn()
	list := s.get("/console/api").want(t, http.StatusOK, "").body
	for _, want := range []string{`<li id="getChat"><a href="/console/api/getChat">`, "<code>/api/chats/{jid}/picture</code>", "<strong>Errors.</strong>"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	read := s.get("/console/api/getChat").want(t, http.StatusOK, "").body
	for _, want := range []string{`name="path.jid" value="` + grace + `" checked`, `<option value="">desc (default)</option>`, `placeholder="100"`, `name="query.kind" value="" placeholder="image"`, `href="/console/api/updateChat"`} {
		if !strings.Contains(read, want) {
			t.Errorf("the page of a call lacks %q\n%s", want, read)
		}
	}
	write := s.get("/console/api/updateChat").want(t, http.StatusOK, "").body
	for _, want := range []string{`name="confirm"`, "&#34;pinned&#34;: true", `name="header.Idempotency-Key" value="console-`} {
		if !strings.Contains(write, want) {
			t.Errorf("the page of a change lacks %q", want)
		}
	}
	if strings.Contains(read, `name="confirm"`) || strings.Contains(write, `name="path.jid" value="`+grace) {
		t.Error("a read asks for confirmation, or a change has a chat already")
	}
	s.get("/console/api/nothing").want(t, http.StatusNotFound, "")
}

// A call uses the visitor's token, and the page shows its answer.
func TestReference_TriesACall(t *testing.T) {
	t.Parallel()
	s, all := tried(t)
	csrf := s.logIn().csrf()
	try := func(operation string, form url.Values) answer {
		form.Set("csrf", csrf)
		*all = nil
		return s.do(http.MethodPost, "/console/api/"+operation, form)
	}
	page := try("getChat", url.Values{"path.jid": {"grace, hopper"}, "query.order": {"asc"}, "query.limit": {""}}).want(t, http.StatusOK, "").body
	for _, want := range []string{"200 OK", "{\n  &#34;jid&#34;: &#34;" + grace, "<dt>X-Request-Id</dt><dd>r1</dd>", "<option selected>asc</option>", "/api/chats/" + grace + "?order=asc&#34;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the answer lacks %q\n%s", want, page)
		}
	}
	if !slices.ContainsFunc(*all, func(one apiCall) bool {
		return one.path == "/api/chats/"+grace && one.header.Get("Authorization") == "Bearer "+token
	}) {
		t.Errorf("called %+v", *all)
	}

	change := url.Values{"path.jid": {grace}, "header.Idempotency-Key": {"key-1"}, "body": {"{\"pinned\": false}"}}
	for what, form := range map[string]url.Values{
		"Check this box to run the call.": change, "This isn’t valid JSON.": {"path.jid": {grace}, "body": {"{pinned}"}, "confirm": {"yes"}}, "Fill this in: the call needs it.": {"confirm": {"yes"}},
	} {
		if page := try("updateChat", form).want(t, http.StatusBadRequest, "").body; !strings.Contains(page, what) || len(writes(*all)) > 0 {
			t.Errorf("%q: wrote %+v\n%s", what, writes(*all), page)
		}
	}
	change.Set("confirm", "yes")
	refused := try("updateChat", change).want(t, http.StatusOK, "").body
	if !strings.Contains(refused, "403 Forbidden") || strings.Contains(refused, "<b>lacks</b>") || !strings.Contains(refused, `value="key-1"`) {
		t.Errorf("a refusal is shown as\n%s", refused)
	}
	if done := writes(*all); len(done) != 1 || done[0].method != http.MethodPatch || done[0].body != `{"pinned": false}` || done[0].header.Get("Idempotency-Key") != "key-1" || done[0].header.Get("Prefer") != "handling=strict" || done[0].header.Get("Content-Type") != "application/json" {
		t.Errorf("called %+v", done)
	}
	change.Set("once", regexp.MustCompile(`name="once" value="([^"]+)"`).FindStringSubmatch(refused)[1])
	try("updateChat", change).want(t, http.StatusOK, "")
	try("updateChat", change).want(t, http.StatusSeeOther, "/console/api/updateChat") // the result is reloaded
	if done := writes(*all); len(done) > 0 {
		t.Errorf("a reload called %+v", done)
	}
	s.do(http.MethodPost, "/console/api/updateChat", url.Values{"path.jid": {grace}, "confirm": {"yes"}}).want(t, http.StatusForbidden, "")
}

// A file is a link, and browsers do not run it.
func TestReference_FilesAreLinks(t *testing.T) {
	t.Parallel()
	s, _ := tried(t)
	page := s.do(http.MethodPost, "/console/api/getPicture", url.Values{"csrf": {s.logIn().csrf()}, "path.jid": {grace}}).want(t, http.StatusOK, "").body
	link := "/console/api/getPicture/file?path.jid=15550100301%40s.whatsapp.net"
	if !strings.Contains(page, `href="`+link+`"`) || strings.Contains(page, "&lt;svg") {
		t.Fatalf("the page is\n%s", page)
	}
	file := s.get(link).want(t, http.StatusOK, "")
	if file.body != "<svg/>" || file.Header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment") || file.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
		t.Errorf("the file is %q with %v", file.body, file.Header)
	}
	s.get("/console/api/updateChat/file?path.jid="+grace).want(t, http.StatusNotFound, "")
}

// A call with a file forwards the fields and the file after a confirmation, with the visitor's token.
func TestReference_TriesACallWithAFile(t *testing.T) {
	t.Parallel()
	s, all := tried(t)
	csrf := s.logIn().csrf()
	page := s.get("/console/api/sendIt").want(t, http.StatusOK, "").body
	for _, want := range []string{`action="/console/api/sendIt/upload#result" enctype="multipart/form-data"`, `name="form.jid"`, `name="form.caption"`, `<input type="file" name="file" required>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	*all = nil
	fields := [][2]string{{"csrf", csrf}, {"form.jid", "grace, hopper"}, {"form.caption", "look"}}
	s.upload(t, "/console/api/sendIt/upload", append([][2]string{{"csrf", "guessed"}}, fields[1:]...)).want(t, http.StatusForbidden, "")
	s.upload(t, "/console/api/updateChat/upload", fields).want(t, http.StatusNotFound, "")
	s.do(http.MethodPost, "/console/api/sendIt", url.Values{"csrf": {csrf}, "confirm": {"yes"}}).want(t, http.StatusNotFound, "")
	if page := s.upload(t, "/console/api/sendIt/upload", fields).want(t, http.StatusBadRequest, "").body; !strings.Contains(page, "Check this box to run the call.") {
		t.Errorf("without confirmation it says\n%s", page)
	}
	if done := writes(*all); len(done) > 0 {
		t.Errorf("called %+v", done)
	}
	page = s.upload(t, "/console/api/sendIt/upload", append(fields, [2]string{"confirm", "yes"})).want(t, http.StatusOK, "").body
	if !strings.Contains(page, "200 OK") || !strings.Contains(page, "-F &#39;file=@a.txt&#39;") || !strings.Contains(page, "-F &#39;jid="+grace) {
		t.Errorf("the answer is\n%s", page)
	}
	done := writes(*all)
	if len(done) != 1 || done[0].path != "/api/files" || done[0].header.Get("Authorization") != "Bearer "+token {
		t.Fatalf("called %+v", done)
	}
	for _, want := range []string{"the bytes", `filename="a.txt"`, "look", grace} {
		if !strings.Contains(done[0].body, want) {
			t.Errorf("the form lacks %q:\n%s", want, done[0].body)
		}
	}
	if strings.Contains(done[0].body, csrf) || strings.Contains(done[0].body, "confirm") {
		t.Errorf("the form has more than the call takes:\n%s", done[0].body)
	}
}
