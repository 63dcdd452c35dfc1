package browser

import (
	"strings"

	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness"
)

// Steps are actions on a page before its screenshot.
type Steps = []chromedp.Action[chromedp.Void]

// Does runs a script on the page.
func Does(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](script)
}

// Unsent puts a refused text and a waiting text into the outbox of the chat.
const Unsent = `for (const [key, state, reason, text] of [["k1", "failed", "This number is not on WhatsApp.", "Are you there?"], ["k2", "waiting", "", "See you on Saturday"]])
	localStorage["unsent " + document.body.dataset.visitor + " " + key] = JSON.stringify({key, state, reason, text, chat: location.pathname, at: Date.now(), after: "", part: 0})`

// Forgotten empties the outbox.
const Forgotten = `for (const name of Object.keys(localStorage)) if (name.startsWith("unsent")) delete localStorage[name]`

// Pasted pastes two files into the composer, and PastedVideo a video.
const (
	Pasted      = pastes + `([["The route along the river and back over the hills.pdf", "application/pdf"], ["notes.txt", "text/plain"]])`
	PastedVideo = pastes + `([["the hills.mp4", "video/mp4"]])`

	pastes = `(files => {
	const data = new DataTransfer();
	for (const [name, type] of files) data.items.add(new File(["hello ".repeat(9000)], name, {type}));
	document.querySelector(".say textarea").dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
})`
)

// DoubtfulExport is an exported chat with unknown names and with ambiguous lines.
const DoubtfulExport = `24.12.25, 18:02 - Messages and calls are end-to-end encrypted. No one outside of this chat can read or listen to them.
24.12.25, 18:03 - Sofía: Merry Christmas!
24.12.25, 18:04 - Olga Orlowa: And to you, too
24.12.25, 18:05 - Xaver: Who is coming on Saturday?
24.13.25, 18:06 - Xaver: This date is none
25/12/25 18.07 - Xaver: And this one is in another form
22.11.19, 18:08 - Olga Orlowa: I am
24.12.25, 18:09 - Yuki: Me, too
`

// Opens clicks the last element that matches a selector, and waits for the element that it opens.
func Opens(selector, opened string) Steps {
	return Steps{ClicksIt(`[...document.querySelectorAll("` + selector + `")].at(-1)`), Becomes(opened)}
}

// FromMenu clicks an entry in the menu of the last message, or of the last own one if only that has it, and waits until
// it has opened something.
func FromMenu(entry, opened string) Steps {
	message := ".msg"
	if strings.Contains(entry, "danger") {
		message = ".msg.out"
	}
	menu := Opens(message+" .msg-menu", `document.querySelector("#message-menu[open]")`)
	return append(menu, Opens("#message-menu .menu-items "+entry, opened)...)
}

// Checks checks a text in the form for exported chats.
func Checks(export string) Steps {
	return Steps{Becomes(`document.readyState === "complete" && document.querySelector("#import")`), Does(`(form => {
		const data = new DataTransfer();
		data.items.add(new File([` + JsString(export) + `], "WhatsApp Chat - Old friends.txt", {type: "text/plain"}));
		form.querySelector("#choose-chat").value = "Old friends";
		form.querySelector("[type=file]").files = data.files;
		form.requestSubmit();
	})(document.querySelector("[data-import]"))`)}
}
