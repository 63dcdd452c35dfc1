package imports

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/longtest"
)

// friends is a chat that an app exports, a month ago.
func friends(p exporttest.Platform, image []byte) []exporttest.Say {
	at := func(minutes int) time.Time {
		return time.Now().UTC().AddDate(0, -1, 0).Truncate(24 * time.Hour).Add(time.Duration(minutes) * time.Minute)
	}
	picture := "IMG-20261021-WA0001.jpg"
	if p == exporttest.IPhone {
		picture = "00000004-PHOTO-2026-10-21-00-03-00.jpg"
	}
	return []exporttest.Say{
		{At: at(0), What: exporttest.Notice},
		{At: at(1), Who: "Anna Amsel", Text: "shall we go hiking?"},
		{At: at(2), Who: "Olga", Text: "on Saturday\nor on Sunday"},
		{At: at(3), Who: "Anna Amsel", File: picture, Data: image, Text: "the path"},
		{At: at(4), Who: "Xaver", Text: "without me"},
		{At: at(4), Who: "Xaver", Text: "without me"},
	}
}

// imports runs the command that imports a chat, and returns its exit code and what it prints.
func imports(p *Process, file string, args ...string) (code int, printed, said string) {
	p.T.Helper()
	c := p.Begin(nil, append([]string{"import-chat", file, "--timezone", "UTC"}, args...)...)
	var lines []string
	for line := range c.Lines {
		lines = append(lines, line)
	}
	return c.Ends(), strings.Join(lines, "\n"), c.Stderr.String()
}

// TestImports_ByCommand: a chat that a phone has exported is read, searched and downloaded like
// any other, also after a restart, and stays as it is when it is imported again.
func TestImports_ByCommand(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	file, image := filepath.Join(t.TempDir(), "friends.zip"), Portrait(t, 32, 1)
	zip := exporttest.LocaleOf("es-MX").Zip(t, exporttest.Android, friends(exporttest.Android, image))
	if err := os.WriteFile(file, zip, 0o600); err != nil {
		t.Fatal(err)
	}
	const chat = "Old friends"
	code, printed, said := imports(b, file, "--chat", chat, "--dry-run")
	if code != 0 || !strings.Contains(printed, "Would import 5 of 5 messages into ") {
		t.Errorf("a dry run ends with %d: %s %s", code, printed, said)
	}
	code, printed, said = imports(b, file, "--chat", chat)
	for _, want := range []string{"Imported 5 of 5 messages into ", ", files: 1.", "Stored already: 0. Notices of the app, not imported: 1.", `Who is "Xaver"? Add --name 'Xaver=NUMBER'`} {
		if code != 0 || !strings.Contains(printed, want) {
			t.Errorf("the import ends with %d: %s %s", code, printed, said)
		}
	}
	code, printed, said = imports(b, file, "--chat", chat, "--name", "Xaver="+c.Ben.Number())
	if code != 0 || !strings.Contains(printed, "Imported 0 of 5 messages into ") || strings.Contains(printed, "Who is") {
		t.Errorf("another import ends with %d: %s %s", code, printed, said)
	}
	b.Restart()
	b.Becomes(bridge.StateOpen)
	var list struct{ Chats []bridge.Chat }
	b.Get("/api/chats?kind=imported").Want(http.StatusOK).Decode(&list)
	if len(list.Chats) != 1 || list.Chats[0].Name != chat || list.Chats[0].UnreadCount != 0 {
		t.Fatalf("chats: %+v", list.Chats)
	}
	jid := list.Chats[0].JID
	var page struct{ Messages []bridge.Message }
	b.Get("/api/messages/individual/" + jid.Escaped() + "?order=asc").Want(http.StatusOK).Decode(&page)
	var senders, texts []string
	for _, m := range page.Messages {
		senders, texts = append(senders, string(m.SenderJID)), append(texts, m.Content)
	}
	olga, anna, ben := c.Owner.PN().String(), c.Anna.PN().String(), c.Ben.PN().String()
	if diff := cmp.Diff([]string{anna, olga, anna, ben, ben}, senders); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"shall we go hiking?", "on Saturday\nor on Sunday", "the path", "without me", "without me"}, texts); diff != "" {
		t.Error(diff)
	}
	picture := b.Get(page.Messages[2].Media.DownloadURL).Want(http.StatusOK)
	if !bytes.Equal(picture.Body, image) || page.Messages[2].Media.Width != 32 {
		t.Errorf("the picture has %d bytes: %+v", len(picture.Body), page.Messages[2].Media)
	}
	var found struct{ Matches []bridge.Match }
	b.Get("/api/messages/search?q=hiking").Want(http.StatusOK).Decode(&found)
	if len(found.Matches) != 1 || found.Matches[0].ChatJID != jid {
		t.Errorf("found %+v", found.Matches)
	}
	if got := b.Post("/api/messages/send", Object{"jid": jid, "text": "hi"}).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "no phone number") {
		t.Errorf("sending: %s", got.Body)
	}
	var log struct{ Events []bridge.Event }
	b.Get("/api/events?after=0&types=message.created,message.updated").Want(http.StatusOK).Decode(&log)
	if len(log.Events) != 0 {
		t.Errorf("the log has events of the past: %+v", log.Events)
	}
}

// TestImports_OverHTTP adds to a chat what came before the bridge was there; what came over the
// connection stays as it is.
func TestImports_OverHTTP(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "HISTORY_IMPORT=recent")
	live := Say(t, c.Anna, c.Owner.PN(), "since then")
	annas := Path("/api/messages/individual/%s", c.Anna.PN())
	c.Stored(t, live)
	stored := Must(c.Bridge.API.Message(Within(t), bridge.JID(c.Anna.PN().String()), live))(t)
	chat := friends(exporttest.IPhone, Portrait(t, 32, 1))[:4]
	chat = append(chat, exporttest.Say{At: stored.Timestamp.UTC(), Who: "Anna Amsel", Text: "since then"})
	zip := exporttest.LocaleOf("de").Zip(t, exporttest.IPhone, chat)
	export := client.ChatExport{Chat: c.Anna.PN().String(), Timezone: "UTC"}
	for i, want := range []bridge.Import{{Imported: 3, Duplicates: 1, Media: 1}, {Duplicates: 4}} {
		got := Must(c.Bridge.API.ImportChat(Within(t), export, bytes.NewReader(zip)))(t)
		if got.State != bridge.ImportDone || got.Imported != want.Imported || got.Duplicates != want.Duplicates || got.Media != want.Media || len(got.UnknownNames) != 0 {
			t.Errorf("import %d: %+v", i+1, got)
		}
		got.Removable = &want.Imported
		if same := Must(c.Bridge.API.Import(Within(t), got.ID))(t); cmp.Diff(got, same) != "" {
			t.Errorf("it is told as %+v", same)
		}
	}
	var page struct{ Messages []bridge.Message }
	c.Bridge.Get(annas + "?order=asc").Want(http.StatusOK).Decode(&page)
	if len(page.Messages) != 4 || page.Messages[3].ID != live || page.Messages[3].Imported || !page.Messages[0].Imported {
		t.Errorf("messages: %+v", page.Messages)
	}
	var asked struct{ Before struct{ MsgID string } } // the phone does not know what was imported
	c.Bridge.Post(Path("/api/chats/%s/history", c.Anna.PN()), Object{"count": 10}).Want(http.StatusOK).Decode(&asked)
	if asked.Before.MsgID != live {
		t.Errorf("the phone is asked for what came before %s", asked.Before.MsgID)
	}
	Say(t, c.Anna, c.Owner.PN(), "and on it goes")
	Eventually(t, func() error {
		c.Bridge.Get(annas).Want(http.StatusOK).Decode(&page)
		if !slices.ContainsFunc(page.Messages, func(m bridge.Message) bool { return m.Content == "and on it goes" }) {
			return os.ErrNotExist
		}
		return nil
	})
}

// TestImports_SurviveAKill: what was stored stays, and importing again stores the rest, once.
func TestImports_SurviveAKill(t *testing.T) {
	t.Parallel()
	messages := longtest.Else(2_000, 8_000)
	b := StartBridge(t, NewNetwork(t), "LOG_LEVEL=info")
	var text strings.Builder
	begins := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range messages {
		fmt.Fprintf(&text, "%s - Anna: message %d\n", begins.Add(time.Duration(i)*11*time.Minute).Format("02.01.06, 15:04"), i)
	}
	export := client.ChatExport{Chat: "Old friends", Timezone: "UTC"}
	killed := make(chan error, 1)
	go func(api *client.Client) {
		_, err := api.ImportChat(Within(t), export, strings.NewReader(text.String()))
		killed <- err
	}(b.API)
	stored := func() (n int) {
		var list struct{ Chats []bridge.Chat }
		b.Get("/api/chats?kind=imported").Want(http.StatusOK).Decode(&list)
		if len(list.Chats) == 0 || list.Chats[0].LastMessage == nil {
			return 0
		}
		return 1
	}
	Eventually(t, func() error {
		if stored() == 0 {
			return errors.New("nothing is stored")
		}
		return nil
	})
	b.Kill()
	<-killed // with whatever error
	b.Start()
	if stored() == 0 {
		t.Error("nothing has stayed")
	}
	got := Must(b.API.ImportChat(Within(t), export, strings.NewReader(text.String())))(t)
	got = waitForImport(t, b, got.ID, hasEnded)
	if got.State != bridge.ImportDone || got.Duplicates == 0 || got.Imported+got.Duplicates != messages {
		t.Errorf("the second import: %+v", got)
	}
	found, cursor := 0, ""
	for more := true; more; {
		var page struct {
			Messages   []bridge.Message
			NextCursor *string
		}
		b.Get("/api/messages/individual/" + got.ChatJID.Escaped() + "?order=asc&limit=1000&cursor=" + cursor).Want(http.StatusOK).Decode(&page)
		for _, m := range page.Messages {
			if want := fmt.Sprintf("message %d", found); m.Content != want {
				t.Fatalf("%q is where %q should be", m.Content, want)
			}
			found++
		}
		if more = page.NextCursor != nil; more {
			cursor = *page.NextCursor
		}
	}
	if found != messages {
		t.Errorf("%d messages", found)
	}
}

// TestImports_InTheConsole: an imported chat is read there like any other.
func TestImports_InTheConsole(t *testing.T) {
	v := Visit(t)
	zip := exporttest.LocaleOf("de").Zip(t, exporttest.Android, friends(exporttest.Android, Portrait(t, 32, 1)))
	got := Must(v.Bridge.API.ImportChat(Within(t), client.ChatExport{Chat: "Old friends", Timezone: "UTC"}, bytes.NewReader(zip)))(t)
	v.Open("/console/chats")
	v.WaitFor(`document.querySelector(".chat-list").textContent.includes("Old friends")`)
	v.Open("/console/chats/" + got.ChatJID.Escaped())
	for _, text := range []string{"shall we go hiking?", "on Saturday", "the path", "Xaver", "without me"} {
		v.WantText(text)
	}
	v.WaitFor(`[...document.querySelectorAll(".msg img")].some(img => img.complete && img.naturalWidth === 32)`)
	v.WantNoFaults()
}

// TestImports_InDoubt: the command says what to type.
func TestImports_InDoubt(t *testing.T) {
	t.Parallel()
	b := PairedCast(t).Bridge
	file := filepath.Join(t.TempDir(), "chat.txt")
	if err := os.WriteFile(file, []byte("1/2/25, 10:00 - Anna Amsel: Hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, said := imports(b, file, "--chat", "Doubt")
	for _, want := range []string{"more than one order, DMY and MDY", "1/2/25, 10:00 is 2025-02-01 with --date-order DMY", "1/2/25, 10:00 is 2025-01-02 with --date-order MDY"} {
		if code != 1 || !strings.Contains(said, want) {
			t.Errorf("it ends with %d: %s", code, said)
		}
	}
	if code, printed, said := imports(b, file, "--chat", "Doubt", "--date-order", "MDY"); code != 0 {
		t.Errorf("it ends with %d: %s %s", code, printed, said)
	}
	for _, args := range [][]string{{"--chat", "A", "--date-order", "YDM"}, {}, {"--chat", "A", "--name", "Anna"}, {"--chat", "A", "--name", "Anna=somebody"}} {
		if code, _, said := imports(b, file, args...); code != 2 {
			t.Errorf("%v ends with %d: %s", args, code, said)
		}
	}
	if code, _, said := imports(b, file+"x", "--chat", "A"); code != 3 || !strings.Contains(said, "no such file") {
		t.Errorf("without a file it ends with %d: %s", code, said)
	}
}
