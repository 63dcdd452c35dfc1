package imports

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// manyMessages returns the text of an export that takes a while to import.
func manyMessages(n int) string {
	var text strings.Builder
	begins := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&text, "%s - Anna: message %d of a chat that is long enough to be cancelled\n", begins.Add(time.Duration(i)*7*time.Minute).Format("02.01.06, 15:04"), i)
	}
	return text.String()
}

// TestImports_ThatRunIsCancelled: it ends at once, what is stored stays until it is undone, and others may import.
func TestImports_ThatRunIsCancelled(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t), "LOG_LEVEL=info")
	begun := Must(b.API.ImportChat(Within(t), client.ChatExport{Chat: "Long", Timezone: "UTC", Async: true}, strings.NewReader(manyMessages(longtest.Else(15_000, 60_000)))))(t)
	if begun.State != bridge.ImportRunning {
		t.Fatalf("it has ended already: %+v", begun)
	}
	waitForImport(t, b, begun.ID, func(i bridge.Import) bool { return i.Imported > 0 })
	if code, printed, said := runs(b, "imports", "list", "--json"); code != 0 || !strings.Contains(printed, `"state":"running"`) {
		t.Errorf("the list: %d, %s %s", code, printed, said)
	}
	code, printed, said := runs(b, "imports", "cancel", begun.ID)
	if code != 0 || !strings.Contains(printed, "Cancelled: ") {
		t.Fatalf("cancelling ends with %d: %s %s", code, printed, said)
	}
	imp := Must(b.API.Import(Within(t), begun.ID))(t)
	if imp.State != bridge.ImportCancelled || imp.Imported == 0 || imp.Imported == imp.Total {
		t.Errorf("cancelled: %+v", imp)
	}
	other := Must(b.API.ImportChat(Within(t), client.ChatExport{Chat: "Another", Timezone: "UTC"}, strings.NewReader(manyMessages(10))))(t)
	if other.State != bridge.ImportDone || other.Imported != 10 {
		t.Errorf("another: %+v", other)
	}
	if code, printed, said := runs(b, "imports", "undo", begun.ID); code != 0 || !strings.Contains(printed, "Undone: ") {
		t.Fatalf("undoing ends with %d: %s %s", code, printed, said)
	}
	b.Get("/api/chats/" + imp.ChatJID.Escaped()).Want(http.StatusNotFound)
	b.Get("/api/chats/" + other.ChatJID.Escaped()).Want(http.StatusOK)
}

// runs runs a command, and returns its exit code and what it prints.
func runs(p *Process, args ...string) (code int, printed, said string) {
	p.T.Helper()
	c := p.Begin(nil, args...)
	var lines []string
	for line := range c.Lines {
		lines = append(lines, line)
	}
	return c.Ends(), strings.Join(lines, "\n"), c.Stderr.String()
}

// waitForImport waits until an import is as wanted, and returns it.
func waitForImport(t *testing.T, b *Process, id string, wanted func(bridge.Import) bool) (imp bridge.Import) {
	t.Helper()
	Eventually(t, func() error {
		if imp = Must(b.API.Import(Within(t), id))(t); !wanted(imp) {
			return fmt.Errorf("the import is %+v", imp)
		}
		return nil
	})
	return imp
}

func hasEnded(i bridge.Import) bool { return i.State != bridge.ImportRunning }

// TestImports_AreUndoneOverAKill: what the kill interrupts is continued, received messages stay, and a repeated import stores
// each message once.
func TestImports_AreUndoneOverAKill(t *testing.T) {
	t.Parallel()
	messages := longtest.Else(1_500, 6_000)
	c := PairedCast(t)
	b, annas := c.Bridge, bridge.JID(c.Anna.PN().String())
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "since then"))
	export := client.ChatExport{Chat: string(annas), Timezone: "UTC", Async: true}
	done := Must(b.API.ImportChat(Within(t), export, strings.NewReader(manyMessages(messages))))(t)
	waitForImport(t, b, done.ID, hasEnded)
	go func(api *client.Client) { _, _ = api.EndImport(Within(t), done.ID, false) }(b.API) // the kill ends it
	waitForImport(t, b, done.ID, func(i bridge.Import) bool { return i.Removed > 0 })
	b.Kill()
	b.Start()
	done = waitForImport(t, b, done.ID, func(i bridge.Import) bool { return i.State == bridge.ImportUndone })
	b.Vanishes(map[string][]byte{"a text": []byte("of a chat that is long enough")})
	var page struct{ Messages []bridge.Message }
	b.Get(Path("/api/messages/individual/%s", c.Anna.PN())).Want(http.StatusOK).Decode(&page)
	if len(page.Messages) != 1 || page.Messages[0].Content != "since then" || done.Removed != messages {
		t.Errorf("%d messages are left, %d were removed", len(page.Messages), done.Removed)
	}
	again := Must(b.API.ImportChat(Within(t), export, strings.NewReader(manyMessages(messages))))(t)
	again = waitForImport(t, b, again.ID, hasEnded)
	if again.Imported != messages || again.Duplicates != 0 {
		t.Errorf("again: %+v", again)
	}
}

// TestImports_MentionsAreFound: own texts with mentions are in the export with names, whatever the bridge has stored.
func TestImports_MentionsAreFound(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b, annas := c.Bridge, bridge.JID(c.Anna.PN().String())
	var texts []string
	for _, text := range []string{"hello @" + c.Ben.Number() + ", are you coming?", "and @" + c.Ben.LID().User + "?"} {
		b.Post("/api/messages/send", Object{"jid": annas, "text": text, "mentions": []string{c.Ben.PN().String()}}).Want(http.StatusOK)
		texts = append(texts, text)
	}
	var page struct{ Messages []bridge.Message }
	b.Get(Path("/api/messages/individual/%s?order=asc", c.Anna.PN())).Want(http.StatusOK).Decode(&page)
	var chat []exporttest.Say
	for i, m := range page.Messages {
		text := []string{"hello @Ben Berg, are you coming?", "and @Ben Berg?"}[i]
		chat = append(chat, exporttest.Say{At: m.Timestamp.UTC(), Who: "Olga", Text: text})
	}
	chat = append(chat, exporttest.Say{At: time.Now().UTC(), Who: "Anna Amsel", Text: "only in the export"})
	got := Must(b.API.ImportChat(Within(t), client.ChatExport{Chat: string(annas), Timezone: "UTC"}, strings.NewReader(exporttest.LocaleOf("de").Text(exporttest.Android, false, chat))))(t)
	if got.Imported != 1 || got.Duplicates != 2 {
		t.Errorf("texts %q: %+v", texts, got)
	}
}

// TestImports_AreForwarded as new texts, places and files, without the mark of a forwarded message.
func TestImports_AreForwarded(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b, image := c.Bridge, Portrait(t, 32, 1)
	at := func(minutes int) time.Time {
		return time.Now().UTC().AddDate(0, -1, 0).Truncate(24 * time.Hour).Add(time.Duration(minutes) * time.Minute)
	}
	zip := exporttest.LocaleOf("de").Zip(t, exporttest.Android, []exporttest.Say{
		{At: at(1), Who: "Xaver", Text: "a text of last month"},
		{At: at(2), Who: "Xaver", File: "IMG-20261021-WA0001.jpg", Data: image, Text: "the path"},
		{At: at(3), Who: "Xaver", File: "recipe.txt", Data: []byte("flour,200\nsugar,100\nbutter,50\n")},
		{At: at(4), Who: "Xaver", What: exporttest.SendsPlace},
		{At: at(5), Who: "Xaver", Text: "<Medien ausgeschlossen>"},
		{At: at(6), Who: "Xaver", What: exporttest.Deletes},
		{At: at(7), Who: "Xaver", What: exporttest.SendsOnce},
	})
	got := Must(b.API.ImportChat(Within(t), client.ChatExport{Chat: "Old friends", Timezone: "UTC"}, bytes.NewReader(zip)))(t)
	var page struct{ Messages []bridge.Message }
	b.Get("/api/messages/individual/" + got.ChatJID.Escaped() + "?order=asc").Want(http.StatusOK).Decode(&page)
	forward := func(m bridge.Message) Object {
		return Object{"sourceChatJid": got.ChatJID, "sourceMsgId": m.ID, "destJid": c.Anna.PN().String()}
	}
	var arrived []string
	for _, m := range page.Messages[:4] {
		var sent struct{ MsgID string }
		b.Post("/api/messages/forward", forward(m)).Want(http.StatusOK).Decode(&sent)
		r := Must(c.Anna.ReceivedID(Within(t), sent.MsgID))(t)
		arrived = append(arrived, r.Text())
		if text := r.RawMessage.String(); strings.Contains(text, "isForwarded:true") {
			t.Errorf("it is marked as forwarded: %s", text)
		}
		message := r.Message.Message
		switch {
		case m.Media != nil && m.Media.Type == bridge.MediaImage:
			if file := Must(c.Anna.Show(Within(t), r))(t); len(file) == 0 || message.ImageMessage == nil {
				t.Errorf("the picture came as %v", message)
			}
		case m.Media != nil:
			if file := Must(c.Anna.Show(Within(t), r))(t); string(file) != "flour,200\nsugar,100\nbutter,50\n" || message.GetDocumentMessage().GetFileName() != "recipe.txt" {
				t.Errorf("the document came as %v", message)
			}
		case m.Location != nil:
			if message.GetLocationMessage().GetDegreesLatitude() != m.Location.Latitude {
				t.Errorf("the place came as %v", message)
			}
		}
	}
	if diff := cmp.Diff([]string{"a text of last month", "the path"}, arrived[:2]); diff != "" {
		t.Error(diff)
	}
	var refusals []string
	for _, m := range page.Messages[4:] {
		answer := b.Post("/api/messages/forward", forward(m)).Want(http.StatusBadRequest)
		refusals = append(refusals, answer.Error())
	}
	for i, want := range []string{"import an export with media", "was deleted", "view-once"} {
		if len(refusals) != 3 || !strings.Contains(refusals[i], want) {
			t.Errorf("refused with %q, want %q", refusals, want)
		}
	}
	if slices.ContainsFunc(c.Anna.Messages(), func(r *simnet.Received) bool { return strings.Contains(r.Text(), "EXPORT-") }) {
		t.Error("a made-up id has left")
	}
}
