package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestExport_IsADownload passes the choices on, and never shows a page that people wrote in the console's own address.
func TestExport_IsADownload(t *testing.T) {
	t.Parallel()
	var asked string
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats/" + grace: replies(`{"jid":"` + grace + `","isGroup":false,"name":"Grace","participants":2}`),
		"/api/chats/" + grace + "/export": func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.RawQuery
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Disposition", `attachment; filename="Grace.html"`)
			_, _ = w.Write([]byte("<p>hi</p>"))
		},
	})
	s.logIn()
	page := s.get("/console/chats/"+grace+"/export").want(t, http.StatusOK, "").body
	if !strings.Contains(page, `action="/console/chats/`) || !strings.Contains(page, "/export/file") {
		t.Error("the page has no form")
	}
	got := s.get("/console/chats/"+grace+"/export/file?format=html&files=&timezone=Europe%2FBerlin&limit=9").want(t, http.StatusOK, "")
	if asked != "format=html&timezone=Europe%2FBerlin" || got.body != "<p>hi</p>" {
		t.Errorf("asked %q, got %q", asked, got.body)
	}
	if got.Header.Get("Content-Type") != "application/octet-stream" || got.Header.Get("Content-Disposition") != `attachment; filename="Grace.html"` {
		t.Errorf("header %v", got.Header)
	}
}
