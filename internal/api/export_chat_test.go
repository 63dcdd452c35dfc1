package api_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/longtest"
)

func exportOf(chat bridge.JID) string { return "/api/chats/" + chat.Escaped() + "/export" }

// knowAChat stores a group chat with what there is in chats. One file is on the CDN, another is lost.
func (s *server) knowAChat() {
	s.t.Helper()
	s.know(bridge.Owner{PN: me}, bridge.Contact{JID: me, PushName: new("Ada")}, bridge.Contact{JID: grace, Name: new("Grace H.")},
		members(club, "Weekend", grace, me, alan, "81234567890199@lid"))
	edited, deleted := say(club, alan, "EDITED", "before", 5), say(club, grace, "DELETED", "gone", 6)
	mention := say(club, grace, "MENTION", "ask @"+alan.User()+" first", 7)
	mention.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{alan}}
	choice := poll("POLL")
	choice.Chat, choice.SenderJID, choice.Timestamp = club, grace, bridge.At(noon.Add(8*time.Minute))
	card := withType(say(club, alan, "CARD", "Bob", 9), "contactMessage")
	card.Contacts = []bridge.SharedContact{{DisplayName: "Bob", VCard: "BEGIN:VCARD\nVERSION:3.0\nFN:Bob\nEND:VCARD"}}
	place := withType(say(club, grace, "PLACE", "Gate", 10), "locationMessage")
	place.Location = &bridge.Place{Latitude: 52.5163, Longitude: 13.3777, Name: "Gate"}
	unread := withType(say(club, grace, "UNREAD", "", 11), bridge.TypeUndecryptable)
	mine := iSaid(club, "MINE", "yes")
	mine.Timestamp = bridge.At(noon.Add(2 * time.Minute))
	s.know(say(club, grace, "ONE", "shall we: go hiking?", 1), mine, say(club, alan, "LINES", "pasted\n[2026-11-21, 10:00:00] Bob: hi\n", 3),
		say(club, alan, "TWICE1", "ok", 4), say(club, alan, "TWICE2", "ok", 4), say(club, grace, "APP", "image omitted", 4), say(club, "81234567890199@lid", "LID", "me too", 4),
		say(club, grace, "HTML", "<script>alert(1)</script>", 4), edited, deleted, mention, choice, card, place, unread,
		bridge.Edit{Chat: club, Target: "EDITED", Editor: alan, New: bridge.Message{MessageType: "conversation", Content: "corrected"}, Timestamp: bridge.At(noon.Add(6 * time.Minute))},
		bridge.Deletion{Chat: club, Target: "DELETED", By: grace, Timestamp: bridge.At(noon.Add(7 * time.Minute))},
		bridge.ReactionChange{Chat: club, Target: "ONE", Sender: alan, Emoji: "👍", Timestamp: bridge.At(noon)})
}

func (s *server) knowFiles() {
	s.t.Helper()
	for id, file := range map[string]bridge.Media{
		"PHOTO": {Type: bridge.MediaImage, MimeType: "image/png", Caption: "the path"},
		"PLAN":  {Type: bridge.MediaDocument, MimeType: "application/pdf", FileName: "the plan.pdf"},
		"LOST":  {Type: bridge.MediaVideo, MimeType: "video/mp4"},
	} {
		s.cdn.send(s, id, file, "content of "+id)
	}
	s.cdn.mu.Lock()
	defer s.cdn.mu.Unlock()
	for path, file := range s.cdn.files {
		if bytes.Contains([]byte(path), []byte("LOST")) || len(file) == 0 {
			delete(s.cdn.files, path)
		}
	}
}

// TestExport_TextIsImportedWithoutADouble exports chats as text, alone and with files, and imports it again: into the same chat, where
// everything is stored already, and into another bridge.
func TestExport_TextIsImportedWithoutADouble(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.knowAChat()
	s.knowFiles()
	for _, c := range []struct {
		chat  bridge.JID
		query string
		total int
	}{
		{club, "?format=txt&timezone=UTC", 14},
		{club, "?format=txt&files=true&timezone=UTC", 14},
		{club, "?format=txt&timezone=%2B05:45", 14},
		{grace, "?format=txt&timezone=UTC", 3},
		{grace, "?format=txt&files=true&timezone=UTC", 3},
	} {
		got := s.Get(exportOf(c.chat) + c.query).Want(http.StatusOK)
		zone := "UTC"
		if strings.Contains(c.query, "05:45") {
			zone = "+05:45"
		}
		var again bridge.Import
		s.imports(got.Body, "chat", string(c.chat), "timezone", zone).Want(http.StatusOK).Decode(&again)
		if again.Total != c.total || again.Imported != 0 || again.Duplicates != c.total || len(again.UnknownNames) > 0 || len(again.Doubtful) > 0 {
			t.Errorf("%s%s: %+v\n%s", c.chat, c.query, again, got.Body)
		}
		var elsewhere bridge.Import
		newServer(t).imports(got.Body, "chat", "Copy", "timezone", zone).Want(http.StatusOK).Decode(&elsewhere)
		if elsewhere.Imported != c.total {
			t.Errorf("%s%s: elsewhere %+v", c.chat, c.query, elsewhere)
		}
	}
}

// TestExport_Formats have the chat's name and what people wrote, escaped.
func TestExport_Formats(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.knowAChat()
	jsonl := s.Get(exportOf(club)).Want(http.StatusOK)
	lines := strings.Split(strings.TrimSpace(string(jsonl.Body)), "\n")
	var listed struct{ Messages []json.RawMessage }
	s.Get("/api/groups/" + club.Escaped() + "/messages?order=asc").Want(http.StatusOK).Decode(&listed)
	if len(lines) != len(listed.Messages) {
		t.Fatalf("%d lines, %d messages", len(lines), len(listed.Messages))
	}
	for i, line := range lines {
		want := strings.Replace(string(listed.Messages[i]), "{", `{"chatJid":"`+string(club)+`",`, 1)
		if diff := cmp.Diff(want, line); diff != "" {
			t.Error(diff)
		}
	}
	want := `attachment; filename="WhatsApp Chat with Weekend.jsonl"`
	if got := jsonl.Header.Get("Content-Disposition"); got != want || jsonl.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%s, %s", got, jsonl.Header.Get("Content-Type"))
	}
	html := s.Get(exportOf(club) + "?format=html&timezone=Europe/Berlin").Want(http.StatusOK)
	page := string(html.Body)
	for _, part := range []string{"<title>Weekend</title>", "Grace H.", "&lt;script&gt;", "corrected", "This message was deleted.", "👍", "</html>"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(page, "<script") || !strings.Contains(html.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("policy %q", html.Header.Get("Content-Security-Policy"))
	}
	s.Do(http.MethodHead, exportOf(club), "").Want(http.StatusOK)
	half := s.Get(exportOf(club) + "?since=" + noon.Add(4*time.Minute).Format(time.RFC3339) + "&until=" + noon.Add(5*time.Minute).Format(time.RFC3339)).Want(http.StatusOK)
	if count := bytes.Count(half.Body, []byte("\n")); count != 6 {
		t.Errorf("%d messages of two minutes", count)
	}
}

// TestExport_Files are in the zip if they can be downloaded.
func TestExport_Files(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.knowAChat()
	s.knowFiles()
	for format, name := range map[string]string{"jsonl": "messages.jsonl", "html": "chat.html", "txt": "_chat.txt"} {
		entries := unzip(t, s.Get(exportOf(grace)+"?files=true&format="+format).Want(http.StatusOK))
		text := entries[name]
		delete(entries, name)
		for file, content := range entries {
			if !strings.HasPrefix(content, "content of ") {
				t.Errorf("%s: %q", file, content)
			}
			if !strings.Contains(text, file) && !strings.Contains(text, strings.ReplaceAll(file, " ", "%20")) {
				t.Errorf("%s does not name %s:\n%s", name, file, text)
			}
		}
		if len(entries) != 2 {
			t.Errorf("files: %v", entries)
		}
	}
	cards := unzip(t, s.Get(exportOf(club)+"?files=true&format=txt").Want(http.StatusOK))
	if card := cards["00000001-Bob.vcf"]; !strings.Contains(card, "FN:Bob") {
		t.Errorf("card %q of %v", card, cards)
	}
}

func unzip(t *testing.T, got apitest.Response) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(got.Body), int64(len(got.Body)))
	if err != nil {
		t.Fatal(err)
	}
	entries := make(map[string]string)
	for _, entry := range archive.File {
		file, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		entries[entry.Name] = string(content)
	}
	return entries
}

func TestExport_Refusals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "ONE", "hi", 0), say(alan, alan, "TWO", "ho", 0))
	for path, status := range map[string]int{
		exportOf(grace) + "?format=pdf":        http.StatusBadRequest,
		exportOf(grace) + "?timezone=Nowhere":  http.StatusBadRequest,
		exportOf(grace) + "?files=maybe":       http.StatusBadRequest,
		exportOf("15550009999@s.whatsapp.net"): http.StatusNotFound,
		exportOf("status@broadcast"):           http.StatusBadRequest,
		exportOf(grace) + "?since=yesterday":   http.StatusBadRequest,
	} {
		s.Get(path).Want(status)
	}
	limited := s.as(s.token(`{"name": "one", "scopes": ["read"], "chats": ["` + string(grace) + `"]}`))
	limited.Get(exportOf(grace)).Want(http.StatusOK)
	limited.Get(exportOf(alan)).Want(http.StatusNotFound)
}

// TestExport_TooManyFiles are refused before anything is written.
func TestExport_TooManyFiles(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	facts := make([]bridge.Fact, 10_000)
	for i := range facts {
		card := withType(say(grace, grace, fmt.Sprint("CARD", i), "Bob", i), "contactMessage")
		card.Contacts = []bridge.SharedContact{{DisplayName: "Bob"}}
		facts[i] = card
	}
	s.know(facts...)
	s.Get(exportOf(grace) + "?files=true").Want(http.StatusRequestEntityTooLarge)
	s.Get(exportOf(grace) + "?files=true&since=" + noon.Add(9000*time.Minute).Format(time.RFC3339)).Want(http.StatusOK)
}

// reader is a caller that does something after each piece that it reads.
type reader struct {
	header http.Header
	body   bytes.Buffer
	keeps  bool
	after  func()
	size   int
}

func (r *reader) Header() http.Header { return r.header }

func (r *reader) WriteHeader(int) {}

func (r *reader) Write(p []byte) (int, error) {
	r.size += len(p)
	if r.keeps {
		r.body.Write(p)
	}
	r.after()
	return len(p), nil
}

func (s *server) exportTo(r *reader, query string) {
	req := httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, exportOf(grace)+query, http.NoBody)
	req.Header.Set("Authorization", "Bearer "+token)
	s.handler.ServeHTTP(r, req)
}

// TestExport_WhileMessagesArrive has what was stored when it began, each message once. A deletion in the meantime is seen, because
// no transaction is open while the caller reads.
func TestExport_WhileMessagesArrive(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const count = 1000
	facts := make([]bridge.Fact, count)
	for i := range facts {
		facts[i] = say(grace, grace, fmt.Sprint("OLD", i), strings.Repeat("x", 200), i)
	}
	s.know(facts...)
	arrived := 0
	r := &reader{header: http.Header{}, keeps: true}
	r.after = func() {
		s.know(say(grace, grace, fmt.Sprint("NEW", arrived), "news", count+arrived),
			bridge.Deletion{Chat: grace, Target: fmt.Sprint("OLD", count-1), By: grace, Timestamp: bridge.At(noon)})
		arrived++
	}
	s.exportTo(r, "")
	lines := strings.Split(strings.TrimSpace(r.body.String()), "\n")
	if len(lines) != count || arrived < 3 {
		t.Fatalf("%d messages, %d arrived", len(lines), arrived)
	}
	for i, line := range lines {
		var m bridge.Message
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.ID != fmt.Sprint("OLD", i) || (m.DeletedAt != nil) != (i == count-1) {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
	}
}

// TestExport_HoldsLittleMemory exports a chat whose messages are as long as they may be.
func TestExport_HoldsLittleMemory(t *testing.T) { // not parallel: it measures the heap
	s := newServer(t)
	const most = 7 << 20
	count := longtest.Else(150, 1000)
	for i := range count {
		s.know(say(grace, grace, fmt.Sprint("LONG", i), strings.Repeat("long text\n", bridge.MaxContent/10), i))
	}
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	for _, query := range []string{"", "?format=html", "?format=txt", "?format=txt&files=true"} {
		before, highest, pieces := heap(), uint64(0), 0
		r := &reader{header: http.Header{}}
		r.after = func() {
			if pieces++; pieces%50 == 1 {
				highest = max(highest, heap())
			}
		}
		s.exportTo(r, query)
		if highest > before+most {
			t.Errorf("%s: %d bytes of heap for %d bytes", query, highest-before, r.size)
		}
		if r.size == 0 {
			t.Errorf("%s: nothing was written", query)
		}
		t.Logf("%q: %d KiB of heap for %d KiB", query, int64(highest-before)>>10, r.size>>10)
	}
}

// TestExport_TokenTreesTakeTurns: slow readers of two token trees make a third one wait, and not BRIDGE_TOKEN.
func TestExport_TokenTreesTakeTurns(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "ONE", "hi", 0))
	begun, resume, ended := make(chan bool), make(chan bool), make(chan bool)
	export := func(secret string, after func()) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, exportOf(grace), http.NoBody)
		req.Header.Set("Authorization", "Bearer "+secret)
		s.handler.ServeHTTP(&reader{header: http.Header{}, after: after}, req)
		ended <- true
	}
	slow := func() {
		begun <- true
		<-resume
	}
	for _, name := range []string{"one", "two"} {
		go export(s.token(`{"name": "`+name+`", "scopes": ["read"]}`).Secret, slow)
		<-begun
	}
	go export(token, func() {})
	<-ended
	third := make(chan bool, 1)
	go export(s.token(`{"name": "three", "scopes": ["read"]}`).Secret, func() { third <- true })
	select {
	case <-third:
		t.Error("a third token tree exports, too")
	default:
	}
	resume <- true
	<-ended
	<-ended
	<-third
	resume <- true
	<-ended
}
