package e2e

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
)

// chooses puts a file into the form for exported chats, on its page.
func (b *browser) chooses(file string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS(`[action="/console/import"] [type=file]`), []string{file}))
}

// TestConsole_ImportsAnExportedChat: a visitor checks an export, says who a name is, imports it
// and reads it; in the chat nothing can be written, and its messages are found.
func TestConsole_ImportsAnExportedChat(t *testing.T) {
	atBothSizes(t, func(t *testing.T, v visited) {
		say(t, v.ben, v.owner.PN(), "hello")
		v.wantStored(v.ben, "hello")
		zip := exporttest.LocaleOf("es-MX").Zip(t, exporttest.Android, friends(exporttest.Android, portrait(t, 32, 1)))
		file := filepath.Join(written(t, map[string][]byte{"friends.zip": zip}), "friends.zip")

		v.open("/console/chats")
		v.clickOn(".pane-menu summary")
		v.clickOn(`.pane-menu [href="/console/import"]`)
		v.arrives("#import")
		v.waitFor(`document.readyState === "complete"`)
		v.fill("#choose-chat", "Old friends")
		v.chooses(file)
		v.clickOn(`[action="/console/import"] button`)
		v.waitFor(`document.activeElement?.id === "review-title"`)
		v.wantOnPage("They go into a new chat, Old friends.")
		if got := v.text("#review .facts"); got != "New messages\n5\nStored already\n0\nFiles\n1\nNotices left out\n1" {
			t.Errorf("the dry run counts %q", got)
		}
		if got := evaluate[string](v.browser, `[...document.querySelectorAll(".import-name [type=hidden]")].map(one => one.value).join()`); got != "Xaver" {
			t.Errorf("unknown are %s", got)
		}
		v.do(chromedp.SendKeys(chromedp.CSS("#choose-person-0"), "Ben"))
		v.waitFor(`document.querySelector(".import-name [role=option]")?.textContent.includes("Ben")`)
		v.do(chromedp.SendKeys(chromedp.CSS("#choose-person-0"), "\r"))
		v.waitFor(`document.querySelector(".import-name .picked")`)
		v.clickOn(`#review button[formaction]`)
		v.waitFor(`document.activeElement?.id === "review-title" && document.querySelector(".import-name .picked")?.innerText.includes("Ben")`)
		v.clickOn("#review button.primary")
		v.arrives("#imported")
		v.wantOnPage("The chat is imported.")

		v.clickOn(`#imported [href*="/console/chats/"]`)
		v.arrives("#messages")
		for _, text := range []string{"shall we go hiking?", "on Saturday", "the path", "without me"} {
			v.wantText(text)
		}
		v.wantOnPage("This chat was imported from an export, so it’s for reading only.")
		if got := evaluate[string](v.browser, `[...document.querySelectorAll(".sender")].map(one => one.innerText).join()`); got != "Anna Amsel,Anna Amsel,Ben" {
			t.Errorf("the senders are %s", got)
		}
		if evaluate[bool](v.browser, `Boolean(document.querySelector(".composer textarea, [data-reply]")) || document.querySelectorAll(".meta [title='imported from an export']").length !== 5`) {
			t.Error("something can be written, or the messages do not say where they come from")
		}
		v.do(does(`location.href = location.pathname + "/media"`), loads(".tile-view img"))
		v.open("/console/search?q=hiking")
		v.wantOnPage("Old friends")
	})
}

// TestConsole_AsksHowTheDatesOfAnExportAreRead: where they can be read in two ways, the visitor
// chooses, and the file stays chosen.
func TestConsole_AsksHowTheDatesOfAnExportAreRead(t *testing.T) {
	t.Parallel()
	v := visit(t)
	dir := written(t, map[string][]byte{"chat.txt": []byte("1/2/25, 10:00 - Anna Amsel: Hi\n"), "broken.zip": []byte("PK\x03\x04 and nothing else")})
	v.open("/console/import?chat=" + v.anna.PN().String())
	v.waitFor(`document.readyState === "complete" && document.querySelector(".picked").innerText.includes("+4915")`)
	v.chooses(filepath.Join(dir, "broken.zip"))
	v.clickOn(`[action="/console/import"] button`)
	v.waitFor(`document.activeElement?.id === "fault"`)
	v.faultsOf(http.StatusBadRequest)

	v.chooses(filepath.Join(dir, "chat.txt"))
	v.clickOn(`[action="/console/import"] button`)
	v.waitFor(`document.activeElement?.id === "dates"`)
	v.wantOnPage("1/2/25, 10:00 is 2 January 2025")
	v.faultsOf(http.StatusConflict)
	v.clickOn("#dates [value=MDY]")
	v.clickOn(`[action="/console/import"] button`)
	v.arrives("#review")
	v.wantOnPage("They go into the chat +" + v.anna.Number() + ".")
	v.clickOn("#review button.primary")
	v.arrives("#imported")
	v.wantOnPage("The chat is imported.")
	var page struct{ Messages []bridge.Message }
	v.bridge.Get(path("/api/messages/individual/%s", v.anna.PN())).Want(http.StatusOK).Decode(&page)
	if len(page.Messages) != 1 || page.Messages[0].Timestamp.Format("2006-01-02") != "2025-01-02" {
		t.Errorf("imported %+v", page.Messages)
	}
	v.wantNoFaults()
}

// TestConsole_ImportCanBeCancelled: a large file shows how much of it is sent, and its upload
// ends when the visitor says so.
func TestConsole_ImportCanBeCancelled(t *testing.T) {
	t.Parallel()
	v := visit(t)
	dir := written(t, map[string][]byte{"large.zip": noise(3_000_000)})
	v.throttle(network.Conditions{DownloadThroughput: -1, UploadThroughput: 200_000})
	v.open("/console/import")
	v.waitFor(`document.readyState === "complete"`)
	v.fill("#choose-chat", "Old friends")
	v.chooses(filepath.Join(dir, "large.zip"))
	v.clickOn(`[action="/console/import"] button`)
	v.waitFor(`(bar => bar.checkVisibility() && bar.value > 0 && bar.value < 1)(document.querySelector("#sending progress"))`)
	v.clickOn("#sending [data-cancel]")
	v.waitFor(`document.querySelector("#sending").hidden && !document.querySelector("#import form button").disabled`)
	if files := evaluate[int](v.browser, `document.querySelector("#import [type=file]").files.length`); files != 1 {
		t.Errorf("%d files are chosen", files)
	}
	v.wantNoFaults()
}

// TestConsole_SaysThatAnExportIsTooLarge: the reason stands in the form, although the file was
// not sent to its end.
func TestConsole_SaysThatAnExportIsTooLarge(t *testing.T) {
	t.Parallel()
	v := visit(t, "IMPORT_MAX_BYTES=1MiB")
	dir := written(t, map[string][]byte{"large.zip": noise(30_000_000)})
	v.open("/console/import")
	v.waitFor(`document.readyState === "complete"`)
	v.fill("#choose-chat", "Old friends")
	v.chooses(filepath.Join(dir, "large.zip"))
	v.clickOn(`[action="/console/import"] button`)
	v.waitFor(`document.activeElement?.id === "fault"`)
	v.wantOnPage("IMPORT_MAX_BYTES")
	v.faultsOf(http.StatusRequestEntityTooLarge)
	v.wantNoFaults()
}
