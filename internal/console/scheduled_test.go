package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// aLater is a scheduled text as the API shows it.
func aLater(id, status, problem string) string {
	return `{"msgId":"` + id + `","chatJid":"` + grace + `","status":"` + status + `","sendAt":"2026-11-22T08:00:00.000Z","createdAt":"2026-11-21T08:00:00.000Z","type":"text",` +
		`"content":"Good <b>morning</b>","media":null,"location":null,"poll":null,"mentions":[],"quoted":null,"forwarded":null,"begun":false,"error":` + problem + `}`
}

// aLaterFile is a scheduled file without a caption.
func aLaterFile(kind, name string) string {
	return strings.NewReplacer(`"text"`, `"`+kind+`"`, `"Good <b>morning</b>"`, `""`, `"media":null`, `"media":{"type":"`+kind+`","mimetype":"image/jpeg","size":2000,"fileName":"`+name+`","ptt":false}`).Replace(aLater("L4", "scheduled", "null"))
}

// Scheduled messages can be changed, cancelled and sent by visitors who may send. Files without a caption are named by what
// they are.
func TestScheduled_IsShownAndChanged(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"/api/scheduled": replies(`{"count":4,"scheduled":[` + aLater("L1", "scheduled", "null") + `,` +
			aLater("L2", "missed", `{"code":"missed","error":"the account was not connected"}`) + `,` + aLaterFile("image", "") + `,` + aLaterFile("document", "plan.pdf") + `],"nextCursor":null}`),
		"/api/scheduled/L1":      replies(`{"ok":true,"msgId":"L1","chatJid":"` + grace + `","timestamp":"2026-11-21T08:00:00.000Z","sendAt":"2026-11-22T09:30:00.000Z"}`),
		"/api/scheduled/L1/send": replies(`{"ok":true,"msgId":"L1","chatJid":"` + grace + `","timestamp":"2026-11-21T08:00:00.000Z"}`),
		"/api/messages/send":     replies(`{"ok":true,"msgId":"L3","chatJid":"` + grace + `","timestamp":"2026-11-21T08:00:00.000Z","sendAt":"2026-11-22T09:30:00.000Z"}`),
	}
	s, all := overAPI(t, answers)
	form := func(fields ...string) url.Values {
		values := url.Values{"csrf": {s.logIn().csrf()}}
		for i := 0; i < len(fields); i += 2 {
			values.Set(fields[i], fields[i+1])
		}
		return values
	}
	form()
	page := s.get("/console/scheduled").want(t, http.StatusOK, "").body
	for what, count := range map[string]int{
		"Good &lt;b&gt;morning&lt;/b&gt;</p>": 2, "The bridge wasn’t connected at this time.": 1, "Missed": 1, `action="/console/scheduled/L1"`: 3, `value="2026-11-22T09:00"`: 4,
		"<em>Photo</em>": 1, "<em>Document</em>": 1, ">2.0 kB</p>": 1, "<bdi>plan.pdf</bdi>, 2.0 kB": 1, "image/jpeg": 0,
	} {
		if got := strings.Count(page, what); got != count {
			t.Errorf("the page has %q %d times, want %d", what, got, count)
		}
	}
	*all = nil
	s.do(http.MethodPost, "/console/scheduled/L1", form("at", "2026-11-22T09:30", "text", "Good evening")).want(t, http.StatusSeeOther, "/console/scheduled")
	s.do(http.MethodPost, "/console/scheduled/L1", form("do", "send", "back", "/console/chats/x")).want(t, http.StatusSeeOther, "/console/chats/x")
	s.do(http.MethodPost, "/console/scheduled/L1", form("do", "cancel", "back", "https://example.org/")).want(t, http.StatusSeeOther, "/console/scheduled")
	s.do(http.MethodPost, "/console/chats/"+grace+"/later", form("at", "2026-11-22T09:30", "text", "Hello")).want(t, http.StatusSeeOther, "/console/chats/"+strings.ReplaceAll(grace, "@", "%40"))
	s.do(http.MethodPost, "/console/chats/"+grace+"/later", form("at", "soon", "text", "Hello")).want(t, http.StatusBadRequest, "")
	var done []string
	for _, call := range writes(*all) {
		done = append(done, call.method+" "+call.path+" "+call.body)
	}
	want := `PATCH /api/scheduled/L1 {"sendAt":"2026-11-22T08:30:00.000Z","text":"Good evening"}
POST /api/scheduled/L1/send 
DELETE /api/scheduled/L1 
POST /api/messages/send {"jid":"` + grace + `","text":"Hello","sendAt":"2026-11-22T08:30:00.000Z"}`
	if got := strings.Join(done, "\n"); got != want {
		t.Errorf("sent %s", got)
	}
	s.do(http.MethodPost, "/logout", form())
	s.try("brt_LIMITED")
	if page := s.get("/console/scheduled").want(t, http.StatusOK, "").body; strings.Contains(page, "Send now") {
		t.Error("a visitor who may not send is offered to send")
	}
}
