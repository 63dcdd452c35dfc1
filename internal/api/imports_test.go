package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	events "bridged/internal/api/stream"
	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/chatimport"
	"bridged/internal/media"
	"bridged/internal/media/files"
	"bridged/internal/store"
)

const (
	maxExport     = 64 << 10
	maxExportFile = 16 << 10
)

func newImported(t testing.TB, st *store.Store) *files.Imported {
	t.Helper()
	kept, err := files.OpenImported(t.Context(), filepath.Join(t.TempDir(), "imported"), st.NeedsImportedFile)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func newExports(tmp string) *media.Preparer {
	return media.NewPreparer(media.PreparerOptions{TempDir: tmp, MaxBytes: maxExport, Setting: "IMPORT_MAX_BYTES", Log: zerolog.Nop()})
}

func newImporter(t testing.TB, st *store.Store, acc *account, kept *files.Imported, live *events.Live) *chatimport.Importer {
	lifetime, end := context.WithCancel(context.Background())
	i, err := chatimport.New(t.Context(), chatimport.Options{
		Store: st, Files: kept, Limits: chatexport.Limits{File: maxExportFile, Sum: maxExport},
		Me: func() *bridge.User { return acc.Status().User }, Lifetime: lifetime, Now: func() time.Time { return noon }, Zone: time.UTC, Progress: live.NoteImport, Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end()
		i.Close()
	})
	return i
}

// exportForm returns a form with an exported chat.
func exportForm(t *testing.T, export []byte, fields ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if export != nil {
		part, err := w.CreateFormFile("file", "chat.zip")
		if err == nil {
			_, err = part.Write(export)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// imports posts an exported chat.
func (s *server) imports(export []byte, fields ...string) apitest.Response {
	s.t.Helper()
	body, contentType := exportForm(s.t, export, fields...)
	return s.Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType)
}

// weekend returns a chat as phones export it.
func weekend() []exporttest.Say {
	at := func(minutes int) time.Time { return noon.AddDate(0, -1, 0).Add(time.Duration(minutes) * time.Minute) }
	return []exporttest.Say{
		{At: at(0), What: exporttest.Notice},
		{At: at(1), Who: "Grace H.", Text: "shall we go hiking?"},
		{At: at(2), Who: "Ada", Text: "yes"},
		{At: at(2), Who: "Ada", Text: "yes"},
		{At: at(3), Who: "Grace H.", File: "IMG-20261021-WA0001.jpg", Data: []byte(picture), Text: "the path"},
		{At: at(4), Who: "+44 7700 900123", Text: "me too"},
		{At: at(5), Who: "Zoë", What: exporttest.Deletes},
	}
}

// picture is a PNG of one pixel.
const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac\xf8\xff\xff?\x03\x00\x08\xfc\x02\xfe\xa7\x9a\xa0\xa0\x00\x00\x00\x00IEND\xaeB`\x82"

// TestImport_AChatOfItsOwn is listed, read, searched and downloaded; nobody is told of it, and
// nothing can be sent there.
func TestImport_AChatOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Owner{PN: me}, bridge.Contact{JID: me, PushName: new("Ada")}, bridge.Contact{JID: grace, Name: new("Grace H.")})
	before := string(s.Get("/api/events?after=0").Want(http.StatusOK).Body)
	zip := exporttest.LocaleOf("de").Zip(t, exporttest.Android, weekend())
	var got bridge.Import
	s.imports(zip, "chat", "Weekend", "timezone", "UTC").Want(http.StatusOK).Decode(&got)
	want := bridge.Import{
		ID: got.ID, State: bridge.ImportDone, ChatJID: got.ChatJID, By: &bridge.CalledBy{Name: bridge.RootToken, Entrance: bridge.EntranceAPI}, StartedAt: bridge.At(noon), EndedAt: new(bridge.At(noon)),
		ImportAbout: bridge.ImportAbout{
			FileName: "chat.zip", Timezone: "UTC", TimezoneFrom: bridge.ZoneGiven, Names: map[string]bridge.JID{}, Total: 6, System: 1,
			FirstAt: new("2026-10-21T12:01:00Z"), LastAt: new("2026-10-21T12:05:00Z"),
		},
		Imported: 6, Media: 1, Doubtful: []bridge.AmbiguousLine{}, UnknownNames: []string{"Zoë"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if after := string(s.Get("/api/events?after=0").Want(http.StatusOK).Body); before != after {
		t.Errorf("the log has events of an import: %s", after)
	}
	var list struct{ Chats []bridge.Chat }
	s.Get("/api/chats?kind=imported").Want(http.StatusOK).Decode(&list)
	if len(list.Chats) != 1 || list.Chats[0].JID != got.ChatJID || list.Chats[0].Name != "Weekend" || list.Chats[0].UnreadCount != 0 || list.Chats[0].Participants != 4 {
		t.Fatalf("chats: %+v", list.Chats)
	}
	s.Get("/api/chats?kind=individual").Want(http.StatusOK).Decode(&list)
	if slices.ContainsFunc(list.Chats, func(c bridge.Chat) bool { return c.JID == got.ChatJID }) {
		t.Error("it is also individual")
	}
	chat := got.ChatJID.Escaped()
	messages := s.history("/api/messages/individual/" + chat + "?order=asc").Messages
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Content)
		if !m.Imported || !m.IsExported() {
			t.Errorf("not imported: %+v", m)
		}
	}
	if diff := cmp.Diff([]string{"shall we go hiking?", "yes", "yes", "the path", "me too", ""}, texts); diff != "" {
		t.Fatal(diff)
	}
	if m := messages[0]; m.SenderJID != grace || m.FromMe || m.Status != nil {
		t.Errorf("Grace's: %+v", m)
	}
	if m := messages[1]; m.SenderJID != me || !m.FromMe || *m.Status != bridge.DeliverySent {
		t.Errorf("the account's: %+v", m)
	}
	if m := messages[4]; m.SenderJID != alan {
		t.Errorf("by a number: %+v", m)
	}
	if m := messages[5]; !m.SenderJID.IsImport() || m.PushName != "Zoë" || m.DeletedAt == nil {
		t.Errorf("by nobody: %+v", m)
	}
	file := s.Get("/api/messages/media/" + chat + "/" + messages[3].ID).Want(http.StatusOK)
	if string(file.Body) != picture || file.Header.Get("Content-Type") != "image/png" || messages[3].Media == nil || messages[3].Media.Width != 1 {
		t.Errorf("the picture: %q %+v", file.Body, messages[3].Media)
	}
	s.Get("/api/messages/media-info/" + chat + "/" + messages[3].ID).Want(http.StatusOK)
	s.Get("/api/chats/" + chat + "/messages/" + messages[3].ID).Want(http.StatusOK)
	s.Get("/api/chats/" + chat).Want(http.StatusOK)
	var search struct{ Matches []bridge.Match }
	s.Get("/api/messages/search?q=hiking&chat=" + string(got.ChatJID)).Want(http.StatusOK).Decode(&search)
	if len(search.Matches) != 1 || search.Matches[0].ChatName != "Weekend" {
		t.Errorf("found %+v", search.Matches)
	}
	s.Get("/api/messages/search?sender=" + string(messages[5].SenderJID)).Want(http.StatusOK).Decode(&search)
	if len(search.Matches) != 1 {
		t.Errorf("found by sender %+v", search.Matches)
	}
	var contacts struct{ Contacts []bridge.KnownContact }
	s.Get("/api/contacts").Want(http.StatusOK).Decode(&contacts)
	if slices.ContainsFunc(contacts.Contacts, func(c bridge.KnownContact) bool { return c.JID.IsImport() }) {
		t.Error("a name is a contact")
	}
	for _, r := range [][2]string{
		{"/api/messages/send", `{"jid":"` + string(got.ChatJID) + `","text":"hi"}`},
		{"/api/messages/react", `{"chatJid":"` + string(got.ChatJID) + `","msgId":"` + messages[0].ID + `","emoji":"👍"}`},
		{"/api/chats/" + chat + "/read", ``},
		{"/api/chats/" + chat + "/typing", `{"state":"composing"}`},
	} {
		if answer := s.Do(http.MethodPost, r[0], r[1]); answer.Status != http.StatusBadRequest || answer.Code() != "invalid_request" {
			t.Errorf("%s: %d %s", r[0], answer.Status, answer.Body)
		}
	}
	var again bridge.Import
	s.Get("/api/imports/" + got.ID).Want(http.StatusOK).Decode(&again)
	got.Removable = new(6)
	if diff := cmp.Diff(got, again); diff != "" {
		t.Error(diff)
	}
}

// importedUntil reads the events of imports on a stream until one has a state. Events of a reader that is
// slower are left out.
func (st *stream) importedUntil(state bridge.ImportState) (last bridge.LiveEvent) {
	st.t.Helper()
	for last.Import == nil || last.Import.State != state {
		got, err := st.next()
		if err != nil {
			st.t.Fatalf("the stream ended: %v", err)
		}
		if got.data == "" {
			continue
		}
		last = bridge.LiveEvent{}
		if err := json.Unmarshal([]byte(got.data), &last); err != nil || got.id != "" || got.event != "import.updated" || last.Import == nil {
			st.t.Fatalf("%+v: %v", got, err)
		}
	}
	return last
}

// TestImport_IsFollowedOnStreams from its beginning to its end, and so is undoing it, by callers who may see
// the chat. Nothing of that is in the log.
func TestImport_IsFollowedOnStreams(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "G1", "hello", 1))
	limited, err := s.openStreamAs(s.token(`{"name":"limited","scopes":["read"],"chats":["`+string(grace)+`"]}`).Secret, "?types=import.updated,chat.typing", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(limited.close)
	all, others := s.stream("?types=import.updated", ""), s.stream("?types=message.created", "")
	text := []byte("13.01.25, 10:00 - Anna: Hi\n13.01.25, 10:01 - Anna: there")
	var weekend, into bridge.Import
	s.imports(text, "chat", "Weekend").Want(http.StatusOK).Decode(&weekend)
	want := bridge.ImportProgress{ID: weekend.ID, State: bridge.ImportDone, Total: 2, Imported: 2}
	if last := all.importedUntil(bridge.ImportDone); *last.Import != want || last.ChatJID != weekend.ChatJID || last.At.IsZero() {
		t.Errorf("the import ends with %+v", last.Import)
	}
	s.Do(http.MethodDelete, "/api/imports/"+weekend.ID, "").Want(http.StatusOK)
	want.State, want.Removed = bridge.ImportUndone, 2
	if last := all.importedUntil(bridge.ImportUndone); *last.Import != want {
		t.Errorf("undoing ends with %+v", last.Import)
	}
	s.imports(text, "chat", string(grace), "dryRun", "true").Want(http.StatusOK)
	s.imports(text, "chat", string(grace)).Want(http.StatusOK).Decode(&into)
	for _, reader := range []*stream{all, limited} {
		if last := reader.importedUntil(bridge.ImportDone); last.Import.ID != into.ID || last.ChatJID != grace {
			t.Errorf("the import into a chat ends with %+v", last)
		}
	}
	s.know(say(grace, grace, "G2", "and on", 2))
	if e := others.event(); e.Type != bridge.EventMessageCreated || e.Message.ID != "G2" {
		t.Errorf("a reader of messages gets %+v", e)
	}
	refused := s.Get("/api/events?types=import.updated").Want(http.StatusBadRequest)
	if !strings.Contains(refused.Error(), "only streams of events have") {
		t.Errorf("a page is refused with %s", refused.Error())
	}
}

// TestImport_IntoAChatThatIsStored adds what is missing, once, whatever came over the
// connection; what others refer to is not what the network knows.
func TestImport_IntoAChatThatIsStored(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Owner{PN: me}, bridge.Contact{JID: me, PushName: new("Ada")})
	before := noon.AddDate(0, -1, 0)
	live := say(grace, grace, "LIVE", "shall we go hiking?", 0)
	live.Timestamp = bridge.At(before.Add(time.Minute + 30*time.Second))
	s.know(live)
	chat := weekend()[:5]
	var got bridge.Import
	s.imports(exporttest.LocaleOf("de").Zip(t, exporttest.IPhone, chat), "chat", string(grace), "timezone", "UTC").Want(http.StatusOK).Decode(&got)
	if got.Imported != 3 || got.Duplicates != 1 || len(got.UnknownNames) != 0 { // who is not Ada is Grace
		t.Errorf("got %+v", got)
	}
	messages := s.history(graceHistory + "?order=asc").Messages
	if len(messages) != 4 || messages[0].ID != "LIVE" || messages[3].SenderJID != grace {
		t.Fatalf("messages: %+v", messages)
	}
	for _, r := range [][2]string{
		{http.MethodPatch, `{"text":"no"}`},
		{http.MethodDelete, ``},
	} {
		if answer := s.Do(r[0], "/api/chats/"+string(grace)+"/messages/"+messages[1].ID, r[1]).Want(http.StatusBadRequest); !strings.Contains(answer.Error(), "exported chat") {
			t.Errorf("%s: %s", r[0], answer.Body)
		}
	}
	quoting := `{"jid":"` + string(grace) + `","text":"hi","quotedMsgId":"` + messages[1].ID + `"}`
	if answer := s.Do(http.MethodPost, "/api/messages/send", quoting).Want(http.StatusBadRequest); !strings.Contains(answer.Error(), "exported chat") {
		t.Errorf("a quote: %s", answer.Body)
	}
}

// TestImport_DryRun tells the same, and stores nothing.
func TestImport_DryRun(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	zip := exporttest.LocaleOf("de").Zip(t, exporttest.Android, weekend())
	var dry, wet bridge.Import
	s.imports(zip, "chat", "Weekend", "dryRun", "true").Want(http.StatusOK).Decode(&dry)
	s.Get("/api/chats/" + dry.ChatJID.Escaped()).Want(http.StatusNotFound)
	s.imports(zip, "chat", "Weekend").Want(http.StatusOK).Decode(&wet)
	if !dry.DryRun {
		t.Error("it does not say so")
	}
	dry.DryRun, dry.ID = false, wet.ID
	if diff := cmp.Diff(wet, dry); diff != "" {
		t.Error(diff)
	}
}

// TestImport_WithoutWaiting also shows that importing is no sending.
func TestImport_WithoutWaiting(t *testing.T) {
	t.Parallel()
	s := newServer(t, sendDisabled)
	body, contentType := exportForm(t, []byte("13.01.25, 10:00 - Anna: Hi"), "chat", "Weekend")
	var got bridge.Import
	s.Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType, "Prefer", "respond-async").Want(http.StatusAccepted).Decode(&got)
	deadline := time.Now().Add(10 * time.Second)
	for got.State == bridge.ImportRunning && time.Now().Before(deadline) {
		s.Get("/api/imports/" + got.ID).Want(http.StatusOK).Decode(&got)
	}
	if got.State != bridge.ImportDone || got.Imported != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestImport_Refusals leave nothing.
func TestImport_Refusals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(members(club, "Readers", grace, me))
	text := []byte("13.01.25, 10:00 - Anna: Hi")
	for name, test := range map[string]struct {
		export []byte
		fields []string
		status int
		code   string
	}{
		"no chat":             {text, nil, http.StatusBadRequest, "invalid_request"},
		"no file":             {nil, []string{"chat", "A"}, http.StatusBadRequest, "invalid_request"},
		"an unknown field":    {text, []string{"chat", "A", "mode", "fast"}, http.StatusBadRequest, "invalid_request"},
		"a field twice":       {text, []string{"chat", "A", "chat", "B"}, http.StatusBadRequest, "invalid_request"},
		"a bad switch":        {text, []string{"chat", "A", "dryRun", "maybe"}, http.StatusBadRequest, "invalid_request"},
		"a bad order":         {text, []string{"chat", "A", "dateOrder", "YDM"}, http.StatusBadRequest, "invalid_request"},
		"a bad zone":          {text, []string{"chat", "A", "timezone", "Mars/Base"}, http.StatusBadRequest, "invalid_request"},
		"names that are none": {text, []string{"chat", "A", "names", `["Anna"]`}, http.StatusBadRequest, "invalid_request"},
		"a name's bad JID":    {text, []string{"chat", "A", "names", `{"Anna":"` + string(club) + `"}`}, http.StatusBadRequest, "invalid_request"},
		"a bad JID":           {text, []string{"chat", "abc@s.whatsapp.net"}, http.StatusBadRequest, "invalid_request"},
		"a phone number":      {text, []string{"chat", "+1 555 765 4321"}, http.StatusBadRequest, "invalid_request"},
		"status updates":      {text, []string{"chat", "status@broadcast"}, http.StatusBadRequest, "invalid_request"},
		"a name that is used": {text, []string{"chat", "Readers"}, http.StatusBadRequest, "invalid_request"},
		"a name with a break": {text, []string{"chat", "a\nb"}, http.StatusBadRequest, "invalid_request"},
		"an unknown chat":     {text, []string{"chat", "123@import"}, http.StatusNotFound, "not_found"},
		"no export":           {[]byte("Dear diary"), []string{"chat", "A"}, http.StatusBadRequest, "invalid_request"},
		"a hostile archive": {
			exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: text}, exporttest.Entry{Name: "../a.jpg", Data: text}),
			[]string{"chat", "A"},
			http.StatusBadRequest, "invalid_request",
		},
		"an archive within":   {exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: text}, exporttest.Entry{Name: "a.zip"}), []string{"chat", "A"}, http.StatusBadRequest, "invalid_request"},
		"a file too large":    {exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: text}, exporttest.Entry{Name: "a.jpg", Data: make([]byte, maxExportFile+1)}), []string{"chat", "A"}, http.StatusRequestEntityTooLarge, "payload_too_large"},
		"an export too large": {make([]byte, maxExport+1), []string{"chat", "A"}, http.StatusRequestEntityTooLarge, "payload_too_large"},
		"a form too large":    {make([]byte, 2<<20), []string{"chat", "A"}, http.StatusRequestEntityTooLarge, "payload_too_large"},
		"unknown dates":       {[]byte("15/7/1446, 10:00 - Anna: Hi"), []string{"chat", "A"}, http.StatusBadRequest, "unknown_dates"},
		"ambiguous dates":     {[]byte("1/2/25, 10:00 - Anna: Hi"), []string{"chat", "A"}, http.StatusConflict, "ambiguous_dates"},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			if got := s.imports(test.export, test.fields...); got.Status != test.status || got.Code() != test.code {
				t.Errorf("got %d %s", got.Status, got.Body)
			}
		})
	}
	var ambiguous bridge.AmbiguousDates
	s.imports([]byte("1/2/25, 10:00 - Anna: Hi"), "chat", "A").Want(http.StatusConflict).Decode(&ambiguous)
	if len(ambiguous.Orders) != 2 || len(ambiguous.Examples) != 1 {
		t.Errorf("ambiguous: %+v", ambiguous)
	}
	s.imports([]byte("1/2/25, 10:00 - Anna: Hi"), "chat", "A", "dateOrder", "DMY").Want(http.StatusOK)
	var list struct{ Chats []bridge.Chat }
	s.Get("/api/chats?kind=imported").Want(http.StatusOK).Decode(&list)
	if len(list.Chats) != 1 {
		t.Errorf("chats: %+v", list.Chats)
	}
	s.Get("/api/imports/nothing").Want(http.StatusNotFound)
	s.fault.Set(errors.New("no more room"))
	s.imports(text, "chat", "B").Want(http.StatusInternalServerError)
	s.fault.Set(nil)
	s.imports(text, "chat", "B").Want(http.StatusOK)
	closed := newServer(t)
	if err := closed.store.Close(); err != nil {
		t.Fatal(err)
	}
	closed.imports(text, "chat", "A").Want(http.StatusServiceUnavailable)
	closed.Get("/api/imports").Want(http.StatusServiceUnavailable)
	closed.Do(http.MethodDelete, "/api/imports/1", "").Want(http.StatusServiceUnavailable)
	broken := newServer(t, func(o *api.Options) { o.Importer = nil })
	broken.imports(text, "chat", "A").Want(http.StatusInternalServerError)
	broken.Get("/api/imports").Want(http.StatusInternalServerError)
	broken.Get("/api/imports/1").Want(http.StatusInternalServerError)
	broken.Do(http.MethodDelete, "/api/imports/1", "").Want(http.StatusInternalServerError)
}

// TestImport_ByTokens: one that is limited to some chats imports into these alone, and sees no
// other import.
func TestImport_ByTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	text := []byte("13.01.25, 10:00 - Anna: Hi")
	body, contentType := exportForm(t, text, "chat", string(grace))
	limited := s.as(s.token(`{"name":"limited","scopes":["manage"],"chats":["` + string(grace) + `"]}`))
	var got, other bridge.Import
	limited.Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType).Want(http.StatusOK).Decode(&got)
	limited.Get("/api/imports/" + got.ID).Want(http.StatusOK)
	for _, chat := range []string{string(club), "Weekend"} {
		body, contentType := exportForm(t, text, "chat", chat)
		limited.Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType).Want(http.StatusNotFound)
	}
	s.imports(text, "chat", "Weekend").Want(http.StatusOK).Decode(&other)
	hidden := limited.Get("/api/imports/" + other.ID).Want(http.StatusNotFound)
	if !strings.Contains(hidden.Error(), other.ID) { // as of one that there is not
		t.Errorf("refused: %s", hidden.Error())
	}
	reader := s.as(s.token(`{"name":"reader","scopes":["read","send"]}`))
	reader.Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType).Want(http.StatusForbidden)
}

// TestImport_PeopleOutsideAreNotThere imports with a token of some chats, which must find nobody by
// name or number who is in none of them, and must not see them in the chat.
func TestImport_PeopleOutsideAreNotThere(t *testing.T) {
	t.Parallel()
	alone, crowded := insider(t), insider(t)
	crowded.know(bridge.Identity{PN: stranger, LID: strangerLID}, bridge.Contact{JID: stranger, Name: new(strangerName), PushName: new("sally")},
		bridge.Contact{JID: "4915112345679@s.whatsapp.net", Name: new("Alan T.")}, say(stranger, stranger, "S1", "a secret", 3))
	text := []byte("13.01.25, 10:00 - " + strangerName + ": Hi\n13.01.25, 10:01 - +49 1511 2345678: Hi\n13.01.25, 10:02 - Alan T.: Hi\n13.01.25, 10:03 - +" + alan.User() + ": Hi")
	scopes := `{"name":"x","scopes":["read","manage"],"chats":["` + string(grace) + `","` + string(olden) + `"]}`
	for _, s := range []*server{alone, crowded} {
		s.know(bridge.Contact{JID: alan, Name: new("Alan T.")})
	}
	one, other := alone.as(alone.token(scopes)), crowded.as(crowded.token(scopes))
	for _, fields := range [][]string{
		{"chat", string(olden), "dryRun", "true"},
		{"chat", string(olden), "names", `{"Alan T.":"` + string(alan) + `"}`},
		{"chat", string(olden)},
		{"chat", string(olden), "names", `{"Alan T.":"` + string(stranger) + `"}`},
		{"chat", string(grace), "names", `{"Alan T.":"` + string(strangerLID) + `"}`},
	} {
		a, b := one.imports(text, fields...), other.imports(text, fields...)
		if diff := cmp.Diff(leveled(t, a.Body), leveled(t, b.Body)); a.Status != b.Status || diff != "" {
			t.Errorf("%v: %d, and beside others %d:\n%s", fields, a.Status, b.Status, diff)
		}
		if named := strings.Contains(fields[len(fields)-1], "112345678") || strings.Contains(fields[len(fields)-1], string(strangerLID)); named && b.Status != http.StatusNotFound {
			t.Errorf("%v: %d %s", fields, b.Status, b.Body)
		}
	}
	ids := regexp.MustCompile(`EXPORT-\w+`)
	read := func(s *server) any {
		return leveled(t, ids.ReplaceAll(s.Get("/api/groups/"+string(olden)+"/messages?order=asc").Body, nil))
	}
	if diff := cmp.Diff(read(one), read(other)); diff != "" {
		t.Errorf("the chat, alone (-) and beside others (+):\n%s", diff)
	}
	for _, m := range other.history("/api/groups/" + string(olden) + "/messages?order=asc&limit=4").Messages[2:] {
		if m.SenderJID != alan {
			t.Errorf("a member is not found: %+v", m)
		}
	}
	// BRIDGE_TOKEN knows whose name it is, and gives them what they wrote.
	var got bridge.Import
	crowded.imports(text, "chat", string(olden)).Want(http.StatusOK).Decode(&got)
	if got.Imported != 0 || crowded.history("/api/groups/" + string(olden) + "/messages?order=asc").Messages[0].SenderJID != stranger {
		t.Errorf("got %+v", got)
	}
}

// TestImport_IsUndoneByItsOwn: the token that began it, one that created that token, and BRIDGE_TOKEN.
func TestImport_IsUndoneByItsOwn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	body, contentType := exportForm(t, []byte("13.01.25, 10:00 - Anna: Hi"), "chat", "Weekend")
	maker := s.as(s.token(`{"name":"maker","scopes":["manage"]}`))
	var made madeToken
	maker.Post("/api/tokens", `{"name":"made","scopes":["manage"]}`).Want(http.StatusCreated).Decode(&made)
	other := s.as(s.token(`{"name":"other","scopes":["read","manage"]}`))
	for name, test := range map[string]struct {
		by     *server
		status int
		code   bridge.Code
	}{
		"its own token":              {s.as(made), http.StatusOK, ""},
		"the token that created it":  {maker, http.StatusOK, ""},
		"BRIDGE_TOKEN":               {s, http.StatusOK, ""},
		"another token":              {other, http.StatusForbidden, bridge.CodeForbidden},
		"a token of another chat":    {s.as(s.token(`{"name":"limited","scopes":["manage"],"chats":["` + string(grace) + `"]}`)), http.StatusNotFound, bridge.CodeNotFound},
		"a token that may only read": {s.as(s.token(`{"name":"reader","scopes":["read"]}`)), http.StatusForbidden, bridge.CodeForbidden},
	} {
		var got bridge.Import
		s.as(made).Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType).Want(http.StatusOK).Decode(&got)
		answer := test.by.Do(http.MethodDelete, "/api/imports/"+got.ID, "").Want(test.status)
		if test.status != http.StatusOK && answer.Code() != string(test.code) {
			t.Errorf("%s: %s", name, answer.Body)
		}
		s.Get("/api/imports/" + got.ID).Want(http.StatusOK).Decode(&got)
		if isUndone := got.State == bridge.ImportUndone; isUndone != (test.status == http.StatusOK) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	s.Do(http.MethodDelete, "/api/imports/nothing", "").Want(http.StatusNotFound)

	// Those who may undo it see which token it was, also after that was revoked.
	var got bridge.Import
	s.as(made).Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType).Want(http.StatusOK).Decode(&got)
	if got.By == nil || got.By.String() != "with the token made" || *got.By.TokenID != made.ID {
		t.Errorf("it was begun %v", got.By)
	}
	maker.Do(http.MethodDelete, "/api/tokens/"+strconv.FormatInt(made.ID, 10), "").Want(http.StatusOK)
	for reader, want := range map[*server]string{s: "with the token made (revoked or expired)", other: "<nil>"} {
		var page struct{ Imports []bridge.Import }
		reader.Get("/api/imports?limit=1").Want(http.StatusOK).Decode(&page)
		if by := fmt.Sprint(page.Imports[0].By); by != want {
			t.Errorf("the list says that it was begun %s, want %s", by, want)
		}
	}
	maker.Do(http.MethodDelete, "/api/imports/"+got.ID, "").Want(http.StatusOK).Decode(&got)
	if got.State != bridge.ImportUndone || !got.By.Ended {
		t.Errorf("undone as %+v", got)
	}
}

// TestImport_ThatRunsIsCancelled at the end of the batch that it stores.
func TestImport_ThatRunsIsCancelled(t *testing.T) {
	t.Parallel()
	var importer *chatimport.Importer
	s := newServer(t, func(o *api.Options) { importer = o.Importer })
	release := s.fault.HoldAfter(1) // the import itself is stored
	t.Cleanup(release)
	body, contentType := exportForm(t, []byte("13.01.25, 10:00 - Anna: Hi"), "chat", "Weekend")
	var got bridge.Import
	s.Do(http.MethodPost, "/api/imports", body, "Content-Type", contentType, "Prefer", "respond-async").Want(http.StatusAccepted).Decode(&got)
	context.AfterFunc(importer.Ended(got.ID), release)
	s.Do(http.MethodDelete, "/api/imports/"+got.ID, "").Want(http.StatusOK).Decode(&got)
	if got.State != bridge.ImportCancelled {
		t.Errorf("got %+v", got)
	}
	s.Do(http.MethodDelete, "/api/imports/"+got.ID, "").Want(http.StatusOK).Decode(&got)
	if got.State != bridge.ImportUndone {
		t.Errorf("got %+v", got)
	}
}

// TestImport_IsUndoneInTheBackground if its caller does not want to wait. A dry run has nothing to undo.
func TestImport_IsUndoneInTheBackground(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	export := []byte("13.01.25, 10:00 - Anna: Hi")
	var dry, got bridge.Import
	s.imports(export, "chat", "Weekend", "dryRun", "true").Want(http.StatusOK).Decode(&dry)
	if answer := s.Do(http.MethodDelete, "/api/imports/"+dry.ID, "").Want(http.StatusConflict); answer.Code() != "import_ended" {
		t.Errorf("dry run: %s", answer.Body)
	}
	s.imports(export, "chat", "Weekend").Want(http.StatusOK).Decode(&got)
	release := s.fault.HoldAfter(1) // that it is being undone is stored
	t.Cleanup(release)
	s.Do(http.MethodDelete, "/api/imports/"+got.ID, "", "Prefer", "respond-async").Want(http.StatusAccepted).Decode(&got)
	if got.State != bridge.ImportUndoing {
		t.Errorf("got %+v", got)
	}
	release()
	s.Do(http.MethodDelete, "/api/imports/"+got.ID, "").Want(http.StatusOK).Decode(&got)
	if got.State != bridge.ImportUndone {
		t.Errorf("got %+v", got)
	}
	s.Get("/api/imports?limit=0").Want(http.StatusBadRequest)
}

// TestImports_StayListed with what they were, also once they are undone; dry runs are not listed.
func TestImports_StayListed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Owner{PN: me}, bridge.Contact{JID: me, PushName: new("Ada")}, bridge.Contact{JID: grace, Name: new("Grace H.")}, say(grace, grace, "LIVE", "hi", 0))
	zip := exporttest.LocaleOf("de").Zip(t, exporttest.Android, weekend())
	s.imports(zip, "chat", "Weekend", "dryRun", "true").Want(http.StatusOK)
	var first, second bridge.Import
	s.imports(zip, "chat", "Weekend", "timezone", "+02:00", "dateOrder", "DMY", "names", `{"Zoë":"`+string(grace)+`"}`).Want(http.StatusOK).Decode(&first)
	s.imports(zip, "chat", string(grace)).Want(http.StatusOK).Decode(&second)
	var undone bridge.Import
	s.Do(http.MethodDelete, "/api/imports/"+first.ID, "").Want(http.StatusOK).Decode(&undone)
	s.Get("/api/chats/" + first.ChatJID.Escaped()).Want(http.StatusNotFound)
	if undone.Removed != 6 || undone.Timezone != "+02:00" || *undone.DateOrder != bridge.DMY || undone.Names["Zoë"] != grace {
		t.Errorf("undone: %+v", undone)
	}
	s.Do(http.MethodDelete, "/api/imports/"+first.ID, "").Want(http.StatusOK) // once more

	type list struct {
		Imports    []bridge.Import
		NextCursor *string
	}
	var page, next list
	s.Get("/api/imports?limit=1").Want(http.StatusOK).Decode(&page)
	s.Get("/api/imports?limit=1&cursor=" + *page.NextCursor).Want(http.StatusOK).Decode(&next)
	if diff := cmp.Diff([]bridge.Import{second, undone}, append(page.Imports, next.Imports...)); diff != "" || next.NextCursor != nil {
		t.Error(diff)
	}
	page = list{}
	s.Get("/api/imports?chat=" + string(grace)).Want(http.StatusOK).Decode(&page)
	if len(page.Imports) != 1 || page.Imports[0].ID != second.ID {
		t.Errorf("of a chat: %+v", page.Imports)
	}
	limited := s.as(s.token(`{"name":"limited","scopes":["manage"],"chats":["` + string(first.ChatJID) + `"]}`))
	page = list{}
	limited.Get("/api/imports").Want(http.StatusOK).Decode(&page)
	if len(page.Imports) != 1 || page.Imports[0].ID != first.ID || len(page.Imports[0].Names) != 0 {
		t.Errorf("for a token of some chats: %+v", page.Imports)
	}
	limited.Get("/api/imports?chat=" + string(grace)).Want(http.StatusNotFound)
}
