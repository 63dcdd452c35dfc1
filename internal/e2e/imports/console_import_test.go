package imports

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/client"
	"bridged/internal/console/view"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/longtest"
)

// chooses puts a file into the form for exported chats, on its page.
func chooses(b *Browser, file string) {
	b.T.Helper()
	b.Do(chromedp.SetUploadFiles(chromedp.CSS(`[action="/console/import"] [type=file]`), []string{file}))
}

// TestConsole_ImportsAnExportedChat: a visitor checks an export, says who a name is, imports it
// and reads it; in the chat nothing can be written, and its messages are found.
func TestConsole_ImportsAnExportedChat(t *testing.T) {
	AtBothSizes(t, func(t *testing.T, v Visited) {
		Say(t, v.Ben, v.Owner.PN(), "hello")
		v.WantStored(v.Ben, "hello")
		zip := exporttest.LocaleOf("es-MX").Zip(t, exporttest.Android, friends(exporttest.Android, Portrait(t, 32, 1)))
		file := filepath.Join(Written(t, map[string][]byte{"friends.zip": zip}), "friends.zip")

		v.Open("/console/chats")
		v.ClickOn(".pane-menu summary")
		v.ClickOn(`.pane-menu [href="/console/import"]`)
		v.Arrives("#import")
		v.WaitFor(`document.readyState === "complete"`)
		v.Fill("#choose-chat", "Old friends")
		chooses(v.Browser, file)
		v.ClickOn(`[action="/console/import"] button`)
		v.WaitFor(`document.activeElement?.id === "review-title"`)
		v.WantOnPage("They’ll be in a new chat, Old friends, which you can only read.")
		if got := v.Text("#review .facts"); got != "New messages\n5\nAlready stored\n0\nFiles\n1\nNotices skipped\n1" {
			t.Errorf("the dry run counts %q", got)
		}
		if got := Evaluate[string](v.Browser, `[...document.querySelectorAll(".import-name [type=hidden]")].map(one => one.value).join()`); got != "Xaver" {
			t.Errorf("unknown are %s", got)
		}
		v.Do(chromedp.SendKeys(chromedp.CSS("#choose-person-0"), "Ben"))
		v.WaitFor(`document.querySelector(".import-name [role=option]")?.textContent.includes("Ben")`)
		v.Do(chromedp.SendKeys(chromedp.CSS("#choose-person-0"), "\r"))
		v.WaitFor(`document.querySelector(".import-name .picked")`)
		v.ClickOn(`#review button[formaction]`)
		v.WaitFor(`document.activeElement?.id === "review-title" && document.querySelector(".import-name .picked")?.innerText.includes("Ben")`)
		v.ClickOn("#review button.primary")
		v.Arrives("#imported")
		v.WantOnPage("The chat was imported.")

		v.ClickOn(`#imported [href*="/console/chats/"]`)
		v.Arrives("#messages")
		for _, text := range []string{"shall we go hiking?", "on Saturday", "the path", "without me"} {
			v.WantText(text)
		}
		v.WantOnPage("This chat comes from an export. You can only read it.")
		if got := Evaluate[string](v.Browser, `[...document.querySelectorAll(".sender")].map(one => one.innerText).join()`); got != "Anna Amsel,Anna Amsel,Ben" {
			t.Errorf("the senders are %s", got)
		}
		if Evaluate[bool](v.Browser, `Boolean(document.querySelector(".composer textarea, [data-reply]")) || document.querySelectorAll(".meta [title='imported']").length !== 5`) {
			t.Error("something can be written, or the messages do not say where they come from")
		}
		v.Do(Does(`location.href = location.pathname + "/media"`), Loads(".tile-view img"))
		v.Open("/console/search?q=hiking")
		v.WantOnPage("Old friends")
	})
}

// TestConsole_AsksHowTheDatesOfAnExportAreRead: where they can be read in two ways, the visitor
// chooses, and the file stays chosen.
func TestConsole_AsksHowTheDatesOfAnExportAreRead(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	dir := Written(t, map[string][]byte{"chat.txt": []byte("1/2/25, 10:00 - Anna Amsel: Hi\n"), "broken.zip": []byte("PK\x03\x04 and nothing else")})
	v.Open("/console/import?chat=" + v.Anna.PN().String())
	v.WaitFor(`document.readyState === "complete" && document.querySelector(".picked").innerText.includes("+49 15")`)
	chooses(v.Browser, filepath.Join(dir, "broken.zip"))
	v.ClickOn(`[action="/console/import"] button`)
	v.WaitFor(`document.activeElement?.id === "fault"`)
	v.FaultsOf(http.StatusBadRequest)

	chooses(v.Browser, filepath.Join(dir, "chat.txt"))
	v.ClickOn(`[action="/console/import"] button`)
	v.WaitFor(`document.activeElement?.id === "dates"`)
	v.WantOnPage("1/2/25, 10:00 is 2 January 2025")
	v.FaultsOf(http.StatusConflict)
	v.ClickOn("#dates [value=MDY]")
	v.ClickOn(`[action="/console/import"] button`)
	v.Arrives("#review")
	v.WantOnPage("They’ll be added to +49 15")
	v.ClickOn("#review button.primary")
	v.Arrives("#imported")
	v.WantOnPage("The chat was imported.")
	var page struct{ Messages []bridge.Message }
	v.Bridge.Get(Path("/api/messages/individual/%s", v.Anna.PN())).Want(http.StatusOK).Decode(&page)
	if len(page.Messages) != 1 || page.Messages[0].Timestamp.Format("2006-01-02") != "2025-01-02" {
		t.Errorf("imported %+v", page.Messages)
	}
	followsAnImport(t, v)
	v.WantNoFaults()
}

// followsAnImport opens the list of imports, which shows one that begins elsewhere, how far it is and its end, without
// being loaded again. Undoing it asks with the number of messages, and says when they are gone.
func followsAnImport(t *testing.T, v Visited) {
	t.Helper()
	messages := longtest.Else(4_000, 60_000)
	v.Open("/console/imports")
	v.WaitFor(`document.readyState === "complete" && document.querySelectorAll(".imports tbody tr").length === 1`)
	const first = `document.querySelector(".imports tbody tr").innerText`
	v.Run(`window.steps = [];
		new MutationObserver(() => {
			const bar = document.querySelector(".imports tbody tr progress");
			if (bar) steps.push(bar.value / bar.max);
		}).observe(document.querySelector("#imports"), { childList: true, subtree: true, attributes: true })`)
	begun := Must(v.Bridge.API.ImportChat(Within(t), client.ChatExport{Chat: "Long", Timezone: "UTC", FileName: "long.txt", Async: true}, strings.NewReader(manyMessages(messages))))(t)
	v.WaitFor(fmt.Sprintf(`%s.includes("Imported") && %[1]s.includes("%s new")`, first, view.Number(messages)))
	if steps := Evaluate[[]float64](v.Browser, `steps`); len(steps) < 2 || !slices.IsSorted(steps) || steps[len(steps)-1] == 0 {
		t.Errorf("the bar was at %v", steps)
	}
	v.ClickOn(fmt.Sprintf(`[href="/console/import/%s#undo-import"]`, begun.ID))
	v.Arrives("#imported")
	v.WaitFor(`document.readyState === "complete"`)
	v.ClickOn("#undo-import")
	v.WaitFor(fmt.Sprintf(`document.querySelector("#question").textContent.startsWith("Remove %s messages?")`, view.Number(messages)))
	v.ClickOn("dialog .danger")
	v.WantOnPage(view.Number(messages) + " messages were removed.")
	v.Open("/console/imports")
	v.WaitFor(first + `.includes("Undone")`)
	v.Bridge.Get("/api/chats/" + begun.ChatJID.Escaped()).Want(http.StatusNotFound)
}

// TestConsole_ImportCanBeCancelled: a large file shows how much of it is sent, and its upload
// ends when the visitor says so.
func TestConsole_ImportCanBeCancelled(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	dir := Written(t, map[string][]byte{"large.zip": Noise(20_000_000)})
	v.HoldUploads()
	v.Open("/console/import")
	v.WaitFor(`document.readyState === "complete"`)
	v.Fill("#choose-chat", "Old friends")
	chooses(v.Browser, filepath.Join(dir, "large.zip"))
	v.ClickOn(`[action="/console/import"] button`)
	v.WaitFor(`(bar => bar.checkVisibility() && bar.value > 0 && bar.value < 1)(document.querySelector("#sending progress"))`)
	v.ClickOn("#sending [data-cancel]")
	v.WaitFor(`document.querySelector("#sending").hidden && !document.querySelector("#import form button").disabled`)
	if files := Evaluate[int](v.Browser, `document.querySelector("#import [type=file]").files.length`); files != 1 {
		t.Errorf("%d files are chosen", files)
	}
	v.WantNoFaults()
}

// TestConsole_SaysThatAnExportIsTooLarge: the reason stands in the form, although the file was
// not sent to its end.
func TestConsole_SaysThatAnExportIsTooLarge(t *testing.T) {
	t.Parallel()
	v := Visit(t, "IMPORT_MAX_BYTES=1MiB")
	dir := Written(t, map[string][]byte{"large.zip": Noise(30_000_000)})
	v.Open("/console/import")
	v.WaitFor(`document.readyState === "complete"`)
	v.Fill("#choose-chat", "Old friends")
	chooses(v.Browser, filepath.Join(dir, "large.zip"))
	v.ClickOn(`[action="/console/import"] button`)
	v.WaitFor(`document.activeElement?.id === "fault"`)
	v.WantOnPage("This file is too large.")
	if details := Evaluate[string](v.Browser, `document.querySelector("#fault .reason p").textContent`); !strings.Contains(details, "IMPORT_MAX_BYTES") {
		t.Errorf("the details are %q", details)
	}
	v.FaultsOf(http.StatusRequestEntityTooLarge)
	v.WantNoFaults()
}
