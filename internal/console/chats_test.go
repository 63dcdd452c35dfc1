package console_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const gracePath = "/console/chats/" + escapedGrace

func listedChat(jid, name, rest string) string {
	return `{"jid":"` + jid + `","name":"` + name + `","isGroup":` + map[bool]string{true: "true", false: "false"}[strings.HasSuffix(jid, "@g.us")] + `,"participants":3,"lastMessageAt":"2026-11-21T10:00:00.000Z",` + rest + `}`
}

// answersBy answers with lists by one parameter of the query.
func answersBy(parameter string, lists map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, lists[r.URL.Query().Get(parameter)])
	}
}

// Pinned chats come first, archived ones have their own list, and rows show the delivery of own
// messages.
func TestChats_PinnedFirstArchivedApart(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/chats": answersBy("pinned", map[string]string{
		"true":  `{"chats":[` + listedChat(club, "Readers", `"pinned":true,"mutedUntil":"9999-12-31T23:59:59.999Z"`) + `],"nextCursor":null}`,
		"false": `{"chats":[` + listedChat(grace, "Grace", `"lastMessage":{"msgId":"M1","fromMe":true,"messageType":"conversation","content":"On my way","timestamp":"2026-11-21T10:00:00.000Z","status":"read"}`) + `],"nextCursor":null}`,
		"":      `{"chats":[` + listedChat(grace, "Old", `"archived":true,"unreadCount":2`) + `],"nextCursor":null}`,
	})})
	s.logIn()
	page := s.get("/console/chats").want(t, http.StatusOK, "").body
	if strings.Index(page, "Readers") > strings.Index(page, "Grace") || strings.Contains(page, ">Old<") {
		t.Errorf("the list is\n%s", page)
	}
	for _, want := range []string{`Archived</span><span class="archive-count">1<`, ", muted", ", pinned", `class="tick read"`, "read: ", `data-unread="1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the list is without %q", want)
		}
	}
	for _, filter := range []string{"unread=true", "type=individual", "type=group", "archived=true"} { // stays while chats are opened
		if page := s.get("/console/chats?"+filter).want(t, http.StatusOK, "").body; !strings.Contains(page, `href="`+gracePath+"?"+filter+`"`) {
			t.Errorf("the chats of the list with %s lead to another list:\n%s", filter, page)
		}
	}
}

// A list after much scrolling is read in pages that the API has, also the pinned chats in it.
func TestChats_ALongListIsReadInPages(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/chats": func(w http.ResponseWriter, r *http.Request) {
		if limit, err := strconv.Atoi(r.URL.Query().Get("limit")); err != nil || limit > 500 {
			http.Error(w, `{"error":"limit must be an integer between 1 and 500","code":"invalid"}`, http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"chats":[],"nextCursor":null}`)
	}})
	s.logIn()
	s.get("/console/list?rows=600").want(t, http.StatusOK, "")
}

// The menu of the list marks all chats as read that are unread and not archived. Visitors who may not mark chats, and the
// archive, have no such entry.
func TestChats_TheUnreadOnesAreListedForTheMenu(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/chats": func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		answer := `{"chats":[],"nextCursor":null}`
		switch {
		case query.Get("unread") == "true" && query.Get("archived") == "false" && query.Get("cursor") == "":
			answer = `{"chats":[` + listedChat(club, "Readers", `"pinned":true,"mutedUntil":"9999-12-31T23:59:59.999Z"`) + `],"nextCursor":"2"}`
		case query.Get("unread") == "true" && query.Get("cursor") == "2":
			answer = `{"chats":[` + listedChat(grace, "Grace", `"unreadCount":2`) + `],"nextCursor":null}`
		}
		_, _ = io.WriteString(w, answer)
	}})
	s.logIn()
	if got := s.get("/console/unread/chats").want(t, http.StatusOK, "").body; got != `{"chats":["`+club+`","`+grace+`"]}` {
		t.Errorf("unread are %s", got)
	}
	offers := func(path string) bool { return strings.Contains(s.get(path).body, "data-read-all") }
	if !offers("/console/chats") || offers("/console/chats?archived=true") {
		t.Error("the entry belongs to the menu of the chats, and not to that of the archived ones")
	}
	s.try("brt_LIMITED")
	if offers("/console/chats") || strings.Contains(s.get("/console/settings").body, "data-read-on") {
		t.Error("a visitor who may only read can mark chats")
	}
}

// Labels show on the rows of chats, filter the list with its archived chats, and are added and
// removed by the API. Unknown ones are left out.
func TestChats_Labels(t *testing.T) {
	t.Parallel()
	labelled := listedChat(grace, "Grace", `"archived":true,"labels":["7","9"]`)
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/labels":         replies(`{"labels":[{"id":"8","name":"<New>","color":1,"chats":0},{"id":"7","name":"","color":19,"chats":1}]}`),
		"/api/chats":          answersBy("label", map[string]string{"7": `{"chats":[` + labelled + `],"nextCursor":null}`, "8": `{"chats":[],"nextCursor":null}`, "": `{"chats":[],"nextCursor":null}`}),
		"/api/chats/" + grace: replies(labelled), "/api/chats/" + grace + "/labels/8": replies(`{"ok":true}`), "/api/chats/" + grace + "/labels/7": replies(`{"ok":true}`),
	})
	token := s.logIn().csrf()
	page := s.get("/console/chats?label=7").want(t, http.StatusOK, "").body
	for _, want := range []string{`href="` + gracePath + `?label=7"`, `class="label-dot label-19" aria-hidden="true"></i><bdi>Label 7</bdi></span>`, `<a href="/console/chats?label=8"`, "&lt;New&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list is without %q:\n%s", want, page)
		}
	}
	for path, want := range map[string]bool{"label=7": true, "label=8": false} {
		if rows := s.get("/console/list?only="+grace+"&"+path).want(t, http.StatusOK, "").body; strings.Contains(rows, "Grace") != want {
			t.Errorf("the changed rows with %s are\n%s", path, rows)
		}
	}
	if empty := s.get("/console/chats?label=8").want(t, http.StatusOK, "").body; !strings.Contains(empty, "No chats have this label.") {
		t.Errorf("the empty list is\n%s", empty)
	}
	for change, method := range map[string]string{"label": http.MethodPut, "unlabel": http.MethodDelete} {
		*all = nil
		id := map[string]string{"label": "8", "unlabel": "7"}[change]
		if menu := s.get(gracePath + "/state").body; !strings.Contains(menu, `name="`+change+`" value="`+id+`"`) {
			t.Errorf("the menu is\n%s", menu)
		}
		*all = nil
		s.do(http.MethodPost, gracePath+"/state", url.Values{"csrf": {token}, change: {id}}).want(t, http.StatusSeeOther, "/console/chats")
		if len(*all) == 0 || (*all)[0].method != method || (*all)[0].path != "/api/chats/"+grace+"/labels/"+id {
			t.Errorf("%s: %+v", change, *all)
		}
	}
}

// The page of labels creates, renames, recolours and deletes them. It passes only what the form changes, and refuses
// the name of another label. Nobody else finds it: neither visitors who may not change labels, nor accounts without.
func TestChats_LabelsAreChanged(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/labels": replies(`{"ok":true,"label":{"id":"9","name":"Late","color":3},"labels":[{"id":"8","name":"<New>","color":0,"chats":1},{"id":"7","name":"","color":19,"chats":0}]}`),
		"/api/labels/6": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"there is no label 6","code":"not_found"}`, http.StatusNotFound)
		},
		"/api/labels/8": replies(`{"ok":true}`), "/api/labels/7": replies(`{"ok":true}`),
	})
	const labels = "/console/labels"
	token := s.logIn().csrf()
	page := s.get(labels).want(t, http.StatusOK, "").body
	for _, want := range []string{"&lt;New&gt;", "Delete the label “&lt;New&gt;”? 1 chat and all messages", "Delete the label “Label 7”? No chat has it.", `placeholder="Label 7"`, `name="color" value="1" checked`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page is without %q:\n%s", want, page)
		}
	}
	if list := s.get("/console/chats").body; strings.Count(list, `href="`+labels+`"`) != 2 {
		t.Error("the list of chats does not lead to the labels from its menu and from the filter")
	}
	for name, test := range map[string]struct {
		path    string
		form    url.Values
		call    string
		problem string
	}{
		"creating":            {labels, url.Values{"name": {" Late "}, "color": {"3"}}, `POST /api/labels {"name":"Late","color":3}`, ""},
		"renaming":            {labels + "/8", url.Values{"name": {"Old"}, "color": {"0"}}, `PATCH /api/labels/8 {"name":"Old"}`, ""},
		"recolouring":         {labels + "/7", url.Values{"name": {""}, "color": {"5"}}, `PATCH /api/labels/7 {"color":5}`, ""},
		"changing nothing":    {labels + "/8", url.Values{"name": {"<New>"}, "color": {"0"}}, "", ""},
		"deleting":            {labels + "/8", url.Values{"do": {"delete"}}, "DELETE /api/labels/8 ", ""},
		"the name of another": {labels + "/7", url.Values{"name": {"<New>"}, "color": {"19"}}, "", "already a label with this name"},
		"a second one":        {labels, url.Values{"name": {"<New>"}, "color": {"3"}}, "", "already a label with this name"},
		"no colour":           {labels, url.Values{"name": {"Late"}}, "", "Choose a colour."},
	} {
		*all = nil
		test.form.Set("csrf", token)
		got, status, leads := s.do(http.MethodPost, test.path, test.form), http.StatusSeeOther, labels
		if test.problem != "" {
			status, leads = http.StatusBadRequest, ""
		}
		if got.want(t, status, leads); !strings.Contains(got.body, test.problem) {
			t.Errorf("%s: the page does not say %q", name, test.problem)
		}
		made := ""
		for _, call := range *all {
			if call.method != http.MethodGet {
				made += call.method + " " + call.path + " " + call.body
			}
		}
		if made != test.call {
			t.Errorf("%s: called %q, want %q", name, made, test.call)
		}
	}
	s.do(http.MethodPost, labels+"/6", url.Values{"csrf": {token}, "name": {"Late"}, "color": {"3"}}).want(t, http.StatusNotFound, "")
	s.try("brt_LIMITED")
	s.get(labels).want(t, http.StatusNotFound, "")
	ordinary, _ := overAPI(t, nil)
	ordinary.logIn()
	if got := ordinary.get(labels); got.StatusCode == http.StatusOK || !strings.Contains(got.body, "Labels need the WhatsApp Business app on your phone.") {
		t.Errorf("an account without labels gets %d:\n%s", got.StatusCode, got.body)
	}
	if strings.Contains(ordinary.get("/console/chats").body, labels) {
		t.Error("an account without labels is led to them")
	}
}

// The form of a message's labels changes what was chosen or removed in it, and nothing else.
func TestChats_LabelsOfAMessage(t *testing.T) {
	t.Parallel()
	base := "/api/chats/" + grace + "/messages/M1/labels/"
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/labels": replies(`{"labels":[{"id":"6","name":"Late","color":0},{"id":"7","name":"New","color":1},{"id":"8","name":"Paid","color":2},{"id":"9","name":"Sent","color":3}]}`),
		base + "7":    replies(`{"ok":true}`), base + "8": replies(`{"ok":true}`),
	})
	token := s.logIn().csrf()
	*all = nil
	form := url.Values{"csrf": {token}, "before": {"6", "7"}, "label": {"6", "8", "5"}}
	s.do(http.MethodPost, gracePath+"/messages/M1/labels", form).want(t, http.StatusSeeOther, gracePath)
	var changed []string
	for _, call := range *all {
		if call.method != http.MethodGet {
			changed = append(changed, call.method+" "+call.path)
		}
	}
	if want := []string{"DELETE " + base + "7", "PUT " + base + "8"}; !slices.Equal(changed, want) {
		t.Errorf("changed %v, want %v", changed, want)
	}
}

// A row's menu changes the chat by the API. Visitors who may only read have no menu.
func TestChats_AreChangedFromTheList(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats/" + grace: replies(listedChat(grace, "Grace", `"unreadCount":0`)), "/api/chats/" + grace + "/read": replies(`{"ok":true}`),
	})
	token := s.logIn().csrf()
	if menu := s.get(gracePath+"/state").want(t, http.StatusOK, "").body; !strings.Contains(menu, `value="mute-8h"`) || strings.Contains(menu, `value="unpin"`) {
		t.Errorf("the menu is\n%s", menu)
	}
	for change, body := range map[string]string{
		"pin": `{"pinned":true}`, "unpin": `{"pinned":false}`, "archive": `{"archived":true}`, "unarchive": `{"archived":false}`, "unread": `{"unread":true}`, "read": `{}`,
		"mute": `{"mutedUntil":"forever"}`, "unmute": `{"mutedUntil":null}`, "mute-8h": `{"mutedUntil":"2026-11-21T20:00:00.000Z"}`, "mute-week": `{"mutedUntil":"2026-11-28T12:00:00.000Z"}`,
	} {
		*all = nil
		s.do(http.MethodPost, gracePath+"/state", url.Values{"csrf": {token}, "change": {change}}).want(t, http.StatusSeeOther, "/console/chats")
		if len(*all) == 0 || (*all)[0].body != body || (*all)[0].header.Get("Idempotency-Key") == "" {
			t.Errorf("%s: %+v", change, *all)
		}
	}
	s.do(http.MethodPost, gracePath+"/state", url.Values{"csrf": {token}, "change": {"explode"}}).want(t, http.StatusBadRequest, "")
	if s.try("brt_LIMITED"); s.get(gracePath+"/state").StatusCode != http.StatusNotFound {
		t.Error("a visitor who may only read has a menu")
	}
}

// A notification is for messages of others in chats that are neither muted nor archived.
func TestNotice_IsQuietForMutedChats(t *testing.T) {
	t.Parallel()
	for rest, quiet := range map[string]string{`"archived":false`: "false", `"archived":true`: "true", `"mutedUntil":"9999-12-31T23:59:59.999Z"`: "true"} {
		s, _ := overAPI(t, map[string]http.HandlerFunc{
			"/api/chats/" + grace: replies(listedChat(grace, "Grace", rest)), "/api/chats/" + grace + "/messages/M1": replies(`{"chatJid":"` + grace + `","message":` + aMessage("M1", false, "20") + `}`),
		})
		s.logIn()
		if got := s.get("/console/notice?chat="+url.QueryEscape(grace)+"&id=M1").want(t, http.StatusOK, "").body; !strings.Contains(got, `"quiet":`+quiet) || !strings.Contains(got, "text of M1") {
			t.Errorf("%s: %s", rest, got)
		}
	}
}

// Typed operators (in:, from:, kind:, since:, until:) become filters of the search.
func TestSearch_UnderstandsOperators(t *testing.T) {
	t.Parallel()
	asked := ""
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats": replies(`{"chats":[` + listedChat(grace, "Grace", `"unreadCount":0`) + `],"nextCursor":null}`), "/api/chats/" + grace: replies(listedChat(grace, "Grace", `"unreadCount":0`)),
		"/api/contacts": replies(`{"contacts":[{"jid":"` + grace + `","name":"Ada"},{"jid":"15557654321@s.whatsapp.net","name":"Adam"}],"nextCursor":null}`),
		"/api/messages/search": func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.RawQuery
			_, _ = io.WriteString(w, `{"matches":[{"chatJid":"`+grace+`","chatName":"Grace","msgId":"M1","senderJid":"`+grace+`","messageType":"conversation","content":"Hauptstraße","timestamp":"2026-11-21T10:00:00.000Z"}],"nextCursor":null}`)
		},
	})
	s.logIn()
	page := s.get("/console/search?q="+url.QueryEscape(`in:"Grace" STRASSE from:me kind:link since:2026-11-01 until:2026-11-20`)).want(t, http.StatusOK, "").body
	query, err := url.ParseQuery(asked)
	for name, want := range map[string]string{"q": "STRASSE", "chat": grace, "fromMe": "true", "type": "link", "since": "2026-10-31T23:00:00.000Z", "until": "2026-11-20T22:59:59.999Z"} {
		if err != nil || query.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, query.Get(name), want)
		}
	}
	if !strings.Contains(page, "Haupt<mark>straße</mark>") || strings.Count(page, `class="term"`) != 5 {
		t.Errorf("the page is\n%s", page)
	}
	if page = s.get("/console/search?q=" + url.QueryEscape("from:ad x")).body; !strings.Contains(page, "Which person called") || !strings.Contains(page, "Adam") {
		t.Errorf("two of a name: the page is\n%s", page)
	}
	asked = ""
	if page = s.get("/console/search?since=2026-11-01").body; asked != "" || !strings.Contains(page, "Add a word") {
		t.Errorf("days alone asked for %q", asked)
	}
	for words, want := range map[string]string{"sofia": "accents", "sofia accents:typed": ""} {
		if s.get("/console/search?q=" + url.QueryEscape(words)); strings.Contains(asked, "fold=accents") != (want != "") {
			t.Errorf("%s asked for %q", words, asked)
		}
	}
	if page = s.get("/console/search?q=sofia+accents%3Anone").body; !strings.Contains(page, "way to treat accents") {
		t.Errorf("unknown accents: the page is\n%s", page)
	}
	if s.get("/console/search?kind=pictures").want(t, http.StatusOK, ""); asked != "limit=50&type=image" {
		t.Errorf("a kind alone asked for %q", asked)
	}
}

// The script asks for what is new since the last message on its page. Messages of the same moment that came before it,
// here an album's, are not new: the script gets the newest page, with the album whole and in its place.
func TestChat_SinceAMessageOfTheMomentOfAnAlbum(t *testing.T) {
	t.Parallel()
	message := func(id, more string) string {
		return strings.TrimSuffix(aMessage(id, true, "30"), "}") + "," + more + "}"
	}
	list := []string{aMessage("FIRST", false, "20"), message("ALBUM", `"album":{"images":4,"videos":0,"arrived":4}`)}
	for _, id := range []string{"P1", "P2", "P3", "P4"} {
		list = append(list, message(id, `"albumId":"ALBUM","media":{"type":"image","mimetype":"image/jpeg"}`))
	}
	list = append(list, aMessage("LAST", true, "30"))
	answers := aChat()
	answers["/api/chats/"+grace+"/messages/LAST"] = replies(`{"chatJid":"` + grace + `","message":` + list[6] + `}`)
	answers["/api/chats/"+grace+"/messages"] = func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil {
			t.Error(err)
		}
		found := slices.Clone(list)
		if r.FormValue("since") != "" {
			found = found[1:]
		}
		if r.FormValue("order") == "desc" {
			slices.Reverse(found)
		}
		found = found[:min(limit, len(found))]
		replies(`{"jid":"`+grace+`","count":7,"messages":[`+strings.Join(found, ",")+`],"nextCursor":null}`)(w, r)
	}
	s, _ := overAPI(t, answers)
	s.logIn()
	page := s.get("/console/chats/"+escapedGrace+"?part&since=LAST").want(t, http.StatusOK, "").body
	var ids []string
	for _, found := range regexp.MustCompile(` id="m-(\w+)"`).FindAllStringSubmatch(page, -1) {
		ids = append(ids, found[1])
	}
	if got := strings.Join(ids, " "); got != "FIRST ALBUM P1 P2 P3 P4 LAST" {
		t.Errorf("the page has %s", got)
	}
}
