package composer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// offline cuts the browser off the bridge, or connects it again.
func offline(b *Browser, cut bool) {
	b.T.Helper()
	CallBrowser(b, network.Enable, network.EnableParams{})
	// Chromium 148 has a separate command for being offline; later versions have it in the conditions.
	type params struct {
		network.EmulateNetworkConditionsByRuleParams
		Offline bool `json:"offline"`
	}
	conditions := network.Conditions{Offline: cut, DownloadThroughput: -1, UploadThroughput: -1}
	CallBrowser(b, cdp.Command[params, cdp.Empty]{Method: network.CommandEmulateNetworkConditionsByRule}, params{
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&conditions}}, cut,
	})
}

// forgetFaults forgets the faults that a test has provoked.
func forgetFaults(b *Browser) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Faults = nil
}

// A text stands in the chat at once. While the bridge cannot be reached it waits, also
// over a reload of the page, and goes by itself afterwards.
func textsWaitForTheConnection(t *testing.T, v Visited) {
	v.Chats()
	offline(v.Browser, true)
	v.Write("one")
	v.Write("two")
	v.WaitFor(`document.querySelectorAll(".unsent").length === 2 && document.querySelector(".unsent [data-reason]").textContent.includes("Can’t reach the bridge.")`)
	offline(v.Browser, false)
	v.OpenChat(v.Ben.PN())
	v.WantOwn("one", "two")
	for _, text := range []string{"one", "two"} {
		Must(v.Ben.ReceivedText(Within(t), text))(t)
	}
	if kept := Evaluate[int](v.Browser, `Object.keys(localStorage).filter(name => name.startsWith("unsent")).length`); kept != 0 {
		t.Errorf("%d texts are kept", kept)
	}
	forgetFaults(v.Browser)
	v.Write("three")
	v.WantOwn("one", "two", "three")
}

// losesAnAnswer makes a page lose the answer to its next send.
const losesAnAnswer = `(() => {
	const real = window.fetch;
	window.fetch = async (...call) => {
		const answer = await real(...call);
		if (!String(call[0]).endsWith("/send")) return answer;
		window.fetch = real;
		throw new TypeError("the answer was lost");
	};
})()`

// A send whose answer is lost is tried again with its key: it arrives once.
func aTextIsSentOnce(t *testing.T, v Visited) {
	v.Chats()
	v.Do(chromedp.Evaluate[chromedp.Void](losesAnAnswer))
	v.Write("only once")
	v.WantOwn("only once")
	v.Write("then this")
	Must(v.Ben.ReceivedText(Within(t), "then this"))(t)
	v.WantOwn("only once", "then this")
	if got := v.Bridge.Get(Path("/api/messages/individual/%s?q=only+once", v.Ben.PN())); strings.Count(string(got.Body), `"msgId"`) != 1 {
		t.Errorf("stored: %s", got.Body)
	}
}

// What the network refuses stays where it stands, with the reason, and can be tried again
// or deleted.
func aRefusedTextStays(t *testing.T, v Visited) {
	v.Chats()
	v.Device.FailSends(simnet.SendFault{Code: 406})
	v.Write("refused")
	v.WaitFor(`document.querySelector(".unsent[data-state=failed] [data-reason]")?.textContent === "This person doesn’t accept your messages." && document.querySelector(".unsent [data-details]").textContent.includes("406")`)
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll(".msg.out:not([hidden])").length === 1 && document.querySelector(".unsent[data-state=failed]")`)
	v.ClickOn(".unsent [data-again]")
	v.WantOwn("refused")
	Must(v.Ben.ReceivedText(Within(t), "refused"))(t)

	v.Device.FailSends(simnet.SendFault{Code: 406})
	v.Write("refused again")
	v.WaitFor(`document.querySelector(".unsent[data-state=failed]")`)
	v.ClickOn(".unsent [data-drop]")
	v.WaitFor(`!document.querySelector(".unsent")`)
	forgetFaults(v.Browser)
}

// Logging out deletes what was not sent.
func logoutForgetsUnsentTexts(t *testing.T, v Visited) {
	v.Chats()
	offline(v.Browser, true)
	v.Write("secret")
	v.WaitFor(`document.querySelector(".unsent [data-reason]").textContent !== ""`)
	v.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "a draft"))
	v.ClickOn(".rail-end [action='/console/logout'] button")
	if question := v.Text("dialog.ask p"); question != "One message hasn’t been sent yet. Log out and delete it?" {
		t.Errorf("the question is %q", question)
	}
	v.Run(`addEventListener("submit", event => event.preventDefault())`) // after the page's listeners
	v.ClickOn("dialog.ask .danger")
	v.WaitFor(`!document.querySelector("dialog.ask")`)
	if kept := Evaluate[string](v.Browser, `JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`); strings.Contains(kept, "secret") || strings.Contains(kept, "a draft") {
		t.Errorf("kept: %s", kept)
	}
	forgetFaults(v.Browser)
}

// drop drops files on the conversation.
func drop(b *Browser, x, y float64, files ...string) {
	b.T.Helper()
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		CallBrowser(b, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: x, Y: y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
		})
	}
}

// Several files that are dropped are shown before they are sent: with captions, in another
// order, without one of them. They arrive one after the other, and pictures and videos together as an album.
func filesAreDropped(t *testing.T, v Visited) {
	v.Chats()
	dir := Written(t, map[string][]byte{"list.txt": []byte("water, bread"), "photo.png": demo.Picture(640, 400), "plan.txt": []byte("go"), "wrong.txt": []byte("no"), "empty.txt": nil})
	at := func(name string) string { return filepath.Join(dir, name) }
	right := Evaluate[float64](v.Browser, "innerWidth") - 100
	drop(v.Browser, right, 400, at("list.txt"), at("wrong.txt"), at("photo.png"), at("plan.txt"), at("empty.txt"))
	v.WaitFor(`document.querySelectorAll(".file-row").length === 4 && document.querySelector(".file-row canvas")`)
	if problem := v.Text("#files [data-problem]"); !strings.Contains(problem, "empty.txt is empty") {
		t.Errorf("the dialog says %q", problem)
	}
	v.Do(
		Clicks(`[aria-label="Remove wrong.txt"]`),
		Clicks(`[aria-label="Move photo.png up"]`),
		chromedp.SendKeys(chromedp.CSS(`[aria-label="Caption for photo.png"]`), "The view"),
		chromedp.SendKeys(chromedp.CSS(`[aria-label="Caption for list.txt"]`), "For Saturday"),
		chromedp.SendKeys(chromedp.CSS(`[aria-label="Caption for plan.txt"]`), "The plan\r"),
	)
	v.WaitFor(`document.querySelectorAll(".msg.out:not(.unsent):not([hidden])").length === 3 && !document.querySelector(".unsent")`)
	v.WantOwn("The view", "For Saturday", "The plan")
	for _, caption := range []string{"The view", "For Saturday", "The plan"} {
		Must(v.Ben.ReceivedText(Within(t), caption))(t)
	}
	if link := Evaluate[string](v.Browser, `fetch(document.querySelector("a.doc").href).then(answer => answer.text())`); link != "water, bread" {
		t.Errorf("the file is %q", link)
	}

	dropped := Written(t, map[string][]byte{"one.png": demo.Picture(640, 400), "two.png": demo.Picture(400, 640), "film.mp4": Must(os.ReadFile("../../../media/testdata/formats/video.mp4"))(t), "notes.txt": []byte("notes")})
	drop(v.Browser, right, 400, filepath.Join(dropped, "two.png"))
	v.WaitFor(`document.querySelector(".file-row canvas") && !document.querySelector("[data-for=views]").hidden && document.querySelector(".together").hidden`)
	v.Do(chromedp.SendKeys(chromedp.CSS(`[aria-label="Caption for two.png"]`), "In the hills"))
	v.Do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{filepath.Join(dropped, "film.mp4"), filepath.Join(dropped, "notes.txt"), filepath.Join(dropped, "one.png")}))
	v.WaitFor(`document.querySelectorAll(".file-row").length === 4 && document.querySelector(".together .hint").textContent === "2 photos and 1 video, sent together as an album."`)
	if shown := Evaluate[string](v.Browser, `[...document.querySelectorAll("#files :is([name=caption], [name=together], [name=once], [name=gif])")].filter(one => one.checkVisibility()).map(one => one.name + " " + one.value).join(", ")`); shown != "caption , together In the hills" {
		t.Errorf("the dialog offers %q", shown)
	}
	v.WantInside("the files of an album", "#files *:not(.vh, svg *)")
	v.ClickOn(`[aria-label="Move one.png up"]`)
	v.ClickOn("#files [data-go]")
	sent := Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.GetAlbumMessage() != nil }))(t)
	items := Must(v.Ben.Album(Within(t), sent.Info.ID))(t)
	if len(items) != 3 || items[0].Text() != "In the hills" || items[1].Message.Message.GetVideoMessage() == nil || items[2].Message.Message.GetImageMessage().GetWidth() != 640 {
		t.Errorf("the album has %v", items)
	}
	v.WaitFor(`document.querySelectorAll(".msg.out:not(.unsent) .album-part").length === 3 && document.querySelectorAll(".msg.out .doc").length === 3 && !document.querySelector(".unsent, .msg[hidden]")`)
}

// A pasted picture, and files that are chosen, are shown in the same way. As a document, a
// picture arrives unchanged.
func filesArePastedAndChosen(t *testing.T, v Visited) {
	v.Chats()
	picture := demo.Picture(64, 40)
	dir := Written(t, map[string][]byte{"photo.png": picture})
	v.Do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{filepath.Join(dir, "photo.png")}))
	v.WaitFor(`document.querySelector("#files[open] .file-row canvas")`)
	v.Do(Clicks("#files [name=as]"), Clicks("#files [data-go]"))
	got := Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.GetDocumentMessage() != nil }))(t)
	if file := Must(v.Ben.Show(Within(t), got))(t); string(file) != string(picture) {
		t.Errorf("%d bytes arrived, %d were sent", len(file), len(picture))
	}
	v.Do(chromedp.Evaluate[chromedp.Void](`fetch(document.querySelector("link[rel=icon]").href).then(() => {
		const canvas = Object.assign(document.createElement("canvas"), {width: 40, height: 30});
		canvas.getContext("2d").fillRect(0, 0, 40, 30);
		canvas.toBlob(blob => {
			const clipboard = new DataTransfer();
			clipboard.items.add(new File([blob], "image.png", {type: "image/png"}));
			document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData: clipboard, bubbles: true, cancelable: true}));
		});
	})`))
	v.WaitFor(`document.querySelector("#files[open] .file-row")`)
	v.Key("Pasted\r")
	Must(v.Ben.ReceivedText(Within(t), "Pasted"))(t)

	// Files that were chosen before the dialog's close event were an error, or were removed by it.
	v.Run(Pasted + `; document.querySelector("#files [data-go]").click(); ` + PastedVideo)
	Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool {
		return r.Message.Message.GetDocumentMessage().GetFileName() == "notes.txt"
	}))(t)
	v.WaitFor(`document.querySelectorAll("#files[open] .file-row").length === 1 && document.querySelector(".file-row [data-name]").textContent === "the hills.mp4"`)
}

// attaches opens the menu of attachments. It closes by Escape and by a click elsewhere. A document is sent as it is.
func attaches(v Visited) {
	v.Browser.T.Helper()
	const isOpen = `document.querySelector("#extras").open`
	v.ClickOn("[data-extras]")
	v.WaitFor(isOpen + ` && document.activeElement.matches("[data-choose]")`)
	v.WantInside("the menu of attachments", "#extras .extras-box > *")
	v.Key(kb.Escape)
	v.WaitFor(`!` + isOpen + ` && document.activeElement.matches(".say textarea")`)
	v.ClickOn("[data-extras]")
	v.Run(`document.querySelector("#history").click()`)
	v.WaitFor(`!` + isOpen)
	for choice, asIs := range map[string]bool{"image/*,video/*": false, "": true} {
		v.Run(`(input => {
			input.click = () => { // what the visitor would choose
				const data = new DataTransfer();
				data.items.add(new File(["hello"], "hills.png", {type: "image/png"}));
				input.files = data.files;
				input.dispatchEvent(new Event("change"));
			};
		})(document.querySelector("[data-file]"))`)
		v.ClickOn("[data-extras]")
		v.ClickOn(`[data-choose="` + choice + `"]`)
		v.WaitFor(fmt.Sprintf(`document.querySelector("#files[open] [name=as]")?.checked === %v && document.querySelector("[data-file]").accept === %q`, asIs, choice))
		v.ClickOn("#files [data-close]")
		v.WaitFor(`!document.querySelector("#files").open && !` + isOpen)
	}
	v.Run(`delete document.querySelector("[data-file]").click`)
}

// sendsEveryKindLater schedules a poll, a location, a contact, a file and an album with their forms. A picture is
// sent to be seen once.
func sendsEveryKindLater(t *testing.T, v Visited) {
	v.Chats()
	attaches(v)
	waiting := func(count int) {
		t.Helper()
		v.WaitFor(fmt.Sprintf(`document.querySelectorAll(".waiting .later").length === %d && !document.querySelector(".unsent")`, count))
	}
	form := func(kind string) string { return fmt.Sprintf(`#extras form:has([value=%s])`, kind) }
	for i, one := range []struct {
		kind   string
		fields [][2]string
	}{
		{"poll", [][2]string{{"question", "When?"}, {"options", "Saturday\nSunday"}}},
		{"place", [][2]string{{"coordinates", "52.5163, 13.3777"}}},
		{"contact", [][2]string{{"name", "Carla"}, {"phone", "+49 151 0000004"}}},
	} {
		v.ClickOn("[data-extras]")
		v.ClickOn("#extras details:has([value=" + one.kind + "]) > summary")
		for _, field := range one.fields {
			v.Fill(form(one.kind)+" [name="+field[0]+"]", field[1])
		}
		v.ClickOn(form(one.kind) + " .when > summary")
		v.WaitFor(`document.querySelector("` + form(one.kind) + ` [name=at]").value !== ""`)
		v.WantInside("the form of a "+one.kind, form(one.kind)+" *")
		v.ClickOn(form(one.kind) + " button.primary")
		waiting(i + 1)
	}
	dir := Written(t, map[string][]byte{"list.txt": []byte("water, bread"), "photo.png": demo.Picture(64, 40), "hills.png": demo.Picture(40, 64)})
	v.Do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{filepath.Join(dir, "list.txt")}))
	v.WaitFor(`document.querySelector("#files[open] .file-row")`)
	v.ClickOn("#files .when > summary")
	v.WaitFor(`document.querySelector("#files [name=at]").value !== "" && document.querySelector("[data-for=views]").hidden`)
	v.WantSeen("#files [name=at]")
	v.WantFit("a file that is sent later")
	v.ClickOn("#files [data-go]")
	waiting(4)
	v.Do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{filepath.Join(dir, "photo.png"), filepath.Join(dir, "hills.png")}))
	v.WaitFor(`document.querySelector("#files[open] .together input").checkVisibility()`)
	v.Fill("#files [name=together]", "Two hills")
	v.ClickOn("#files .when > summary")
	v.ClickOn("#files [data-go]")
	waiting(5)
	if album := v.Text(".waiting"); !strings.Contains(album, "Two hills") || !strings.Contains(album, "Album: 2 photos, ") {
		t.Errorf("the album says %q", album)
	}

	v.Do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{filepath.Join(dir, "photo.png")}))
	v.WaitFor(`document.querySelector("#files[open] .file-row") && !document.querySelector("#files .when").open`)
	v.ClickOn("#files [name=once]")
	v.ClickOn("#files [data-go]")
	Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return r.IsViewOnce }))(t)
	waiting(5)
}

// A file that is too large is named with the limit, and nothing is sent.
func filesHaveALimit(t *testing.T, v Visited) {
	v.Chats()
	dir := Written(t, map[string][]byte{"film.bin": make([]byte, 2_000_000)})
	drop(v.Browser, 800, 300, filepath.Join(dir, "film.bin"))
	v.WaitFor(`document.querySelector("#files [data-problem]").textContent === "film.bin is 2.0 MB. The limit is 1.0 MB."`)
	if !Evaluate[bool](v.Browser, `document.querySelector("#files [data-go]").disabled`) {
		t.Error("there is something to send")
	}
	v.WantNoFaults()
}

// A file or an album shows how much of it is sent, and can be cancelled. It waits for the connection; if it failed, it can
// be tried again: of an album, what was not sent is sent.
func aFileShowsItsProgress(t *testing.T, v Visited) {
	v.Chats()
	picture := demo.Picture(64, 40)
	dir := Written(t, map[string][]byte{"slow.bin": Noise(20_000_000), "slow.png": Noise(20_000_000), "one.png": picture, "two.png": picture, "late.txt": []byte("late"), "refused.txt": []byte("refused")})
	upload := func(names ...string) {
		t.Helper()
		for i, name := range names {
			names[i] = filepath.Join(dir, name)
		}
		v.Do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), names))
		v.WaitFor(`document.querySelector("#files[open] .file-row")`)
		v.Do(Clicks("#files [data-go]"))
	}
	album := []string{"one.png", "two.png"}
	v.HoldUploads()
	v.OpenChat(v.Ben.PN())
	for _, slow := range [][]string{{"slow.bin"}, {"one.png", "slow.png"}} {
		upload(slow...)
		v.WaitFor(`(bar => bar && !bar.hidden && bar.value > 0 && bar.value < 1)(document.querySelector(".unsent progress"))`)
		v.ClickOn(".unsent [data-drop]")
		v.WaitFor(`!document.querySelector(".unsent")`)
	}
	offline(v.Browser, true)
	upload("late.txt")
	upload(slices.Clone(album)...)
	v.WaitFor(`document.querySelector(".unsent [data-reason]")?.textContent.includes("Can’t reach the bridge.") && document.querySelectorAll(".unsent")[1].querySelector("[data-name]").textContent === "2 photos"`)
	offline(v.Browser, false)
	v.WaitFor(`!document.querySelector(".unsent")`)
	refused := func(fault simnet.SendFault, names ...string) {
		t.Helper()
		v.Device.FailSends(fault)
		upload(names...)
		v.WaitFor(`document.querySelector(".unsent[data-state=failed] [data-reason]")?.textContent.startsWith("This person doesn’t accept your messages.") && document.querySelector(".unsent [data-details]").textContent.includes("406")`)
	}
	again := func() {
		t.Helper()
		v.ClickOn(".unsent [data-again]")
		v.WaitFor(`!document.querySelector(".unsent")`)
	}
	refused(simnet.SendFault{Code: 406}, "refused.txt")
	again()
	refused(simnet.SendFault{Code: 406, Skip: 2}, slices.Clone(album)...) // the second picture
	if reason := v.Text(".unsent [data-reason]"); !strings.HasSuffix(reason, " 1 of 2 photos and videos was sent. Trying again sends the rest.") {
		t.Errorf("the album says %q", reason)
	}
	v.WaitFor(`[...document.querySelectorAll(".msg.out:not(.unsent):has(.album)")].at(-1).querySelector(".tick.failed")`)
	again()
	refused(simnet.SendFault{Code: 406}, slices.Clone(album)...)
	again()
	for _, name := range []string{"late.txt", "refused.txt"} {
		Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.GetDocumentMessage().GetFileName() == name }))(t)
	}
	v.WantOwn("", "", "", "", "")
	albums := 0
	for _, r := range v.Ben.Messages() {
		if name := r.Message.Message.GetDocumentMessage().GetFileName(); name == "slow.bin" {
			t.Errorf("%s arrived", name)
		}
		if r.Message.Message.GetAlbumMessage() != nil {
			albums++
			Must(v.Ben.Album(Within(t), r.Info.ID))(t)
		}
	}
	if albums != 3 {
		t.Errorf("%d albums arrived", albums)
	}
	forgetFaults(v.Browser)
}

// whenRecorded runs a script in the page as soon as the recording shows a length, within the second that is shown.
func whenRecorded(b *Browser, length, script string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`document.querySelector("#recording [data-length]").textContent >= %q && (() => { %s; return true; })()`, length, script))
}

// A voice note is recorded, paused and sent, and arrives as the phones record them.
func recordsAVoiceNote(t *testing.T, v Visited) {
	v.Chats()
	v.Do(Clicks("[data-record]"))
	v.WantSeen("[data-pause]")
	whenRecorded(v.Browser, "0:02", `document.querySelector("[data-pause]").click()`)
	if length := v.Text("#recording [data-length]"); length != "0:02" {
		t.Errorf("paused at %s", length)
	}
	v.Do(Clicks("[data-resume]"))
	v.WantSeen("[data-finish]")
	whenRecorded(v.Browser, "0:03", `document.querySelector("[data-finish]").click()`)
	got := Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.GetAudioMessage() != nil }))(t)
	audio := got.Message.Message.GetAudioMessage()
	if !audio.GetPTT() || audio.GetMimetype() != "audio/ogg; codecs=opus" || audio.GetSeconds() != 3 || len(audio.GetWaveform()) != 64 {
		t.Errorf("arrived: %v", audio)
	}
	if file := Must(v.Ben.Show(Within(t), got))(t); !strings.HasPrefix(string(file), "OggS") {
		t.Errorf("the file begins with %q", file[:min(len(file), 8)])
	}
	v.WaitFor(`!document.querySelector(".unsent") && document.querySelector(".msg.out audio")`)
	played := Evaluate[float64](v.Browser, `new Promise((resolve, reject) => {
		const player = document.querySelector(".msg.out audio");
		player.preload = "auto";
		player.addEventListener("loadedmetadata", () => resolve(player.duration));
		player.addEventListener("error", () => reject(player.error));
		player.load();
	})`)
	if played < 2.5 || played > 4 {
		t.Errorf("the browser plays %.2f s", played)
	}
}

// A recording can be discarded: nothing is sent, and the microphone is off. One whose microphone was disconnected can
// still be sent.
func discardsAVoiceNote(t *testing.T, v Visited) {
	v.Resize(390, 844, false)
	v.Chats()
	v.Run(`const devices = navigator.mediaDevices, get = devices.getUserMedia.bind(devices);
		devices.getUserMedia = async (wanted) => (window.microphone = await get(wanted))`)
	v.Do(Clicks("[data-record]"))
	whenRecorded(v.Browser, "0:01", `const [track] = window.microphone.getTracks(); track.stop(); track.dispatchEvent(new Event("ended"))`)
	v.WaitFor(`document.querySelector("#recording [data-pause]").hidden && document.querySelector("#recording [data-resume]").hidden`)
	v.Do(Clicks("#recording [data-finish]"))
	Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.GetAudioMessage().GetSeconds() == 1 }))(t)
	v.WaitFor(`document.querySelector("#recording").hidden && document.querySelector(".msg.out audio")`)
	v.Do(Clicks("[data-record]"))
	v.WaitFor(`document.querySelector("#recording [data-length]").textContent === "0:01"`)
	v.Do(Clicks("#recording [data-cancel]"))
	v.WaitFor(`document.querySelector("#recording").hidden && !document.querySelector(".say").hidden`)
	v.Do(Clicks("[data-record]"))
	v.WaitFor(`!document.querySelector("#recording").hidden`)
	v.Run(`for (const click of [1, 2]) document.querySelector("#recording [data-cancel]").click(); window.isLeft = true; location.reload()`) // without a question
	v.WaitFor(`!window.isLeft && document.querySelector("#recording")?.hidden`)
	v.Write("nothing to hear")
	v.WantOwn("", "nothing to hear")
}

// ArrowUp edits the last own message in place; Esc stops it, and the draft is back.
func editsAndDeletesInPlace(t *testing.T, v Visited) {
	v.Chats()
	v.Do(chromedp.Evaluate[chromedp.Void](`window.stays = true`))
	v.Write("Se *you*")
	v.WantOwn("Se ")
	v.Do(chromedp.Focus(chromedp.CSS(".say textarea")))
	v.Key(kb.ArrowUp)
	v.WaitFor(`document.querySelector(".say textarea").value === "Se *you*" && !document.querySelector("#editing").hidden`)
	v.Key(kb.Escape)
	v.WaitFor(`document.querySelector(".say textarea").value === "" && document.querySelector("#editing").hidden`)
	v.Key(kb.ArrowUp)
	v.WaitFor(`!document.querySelector("#editing").hidden`)
	v.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".say textarea").value = ""`))
	v.Write("See you")
	v.WantOwn("See you")
	v.WaitFor(`document.querySelector("#editing").hidden && document.querySelector(".say textarea").value === ""`)

	v.ClickOn(".msg.out .msg-menu")
	v.ClickOn("#message-menu a.danger")
	v.WaitFor(`document.querySelector("#change").open`)
	v.Do(Clicks("#change button.danger"))
	v.WaitFor(`document.querySelector(".msg.out .gone")`)
	if !Evaluate[bool](v.Browser, `window.stays === true`) {
		t.Error("the page was loaded again")
	}
}

// Typing @ in a group suggests its members, by keyboard and by touch. The phone gets a
// mention.
func mentionsMembers(t *testing.T, v Visited) {
	group := NewGroup(t, v.Ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{v.Owner, v.Anna, v.Carla}})
	v.Stored(t, Say(t, v.Ben, group.JID(), "Who sings?"))
	Eventually(t, func() error {
		if got := v.Bridge.Get("/api/groups/" + bridge.JID(group.JID().String()).Escaped()); !strings.Contains(string(got.Body), "Anna Amsel") {
			return fmt.Errorf("the group is %s", got.Body)
		}
		return nil
	})
	v.OpenChat(group.JID())
	v.Do(chromedp.Focus(chromedp.CSS(".say textarea")))
	v.Key("You, @ann")
	v.WaitFor(`document.querySelectorAll("#mention-list:not([hidden]) li").length === 1`)
	v.WantSeen("#mention-list li")
	if Evaluate[int](v.Browser, "innerWidth") < 600 {
		v.Do(Clicks("#mention-list li"))
	} else {
		v.Key(kb.Enter)
	}
	v.Key("please")
	v.Do(Clicks("[data-say]"))
	got := Must(v.Ben.Received(Within(t), func(r *simnet.Received) bool { return strings.HasPrefix(r.Text(), "You, @") }))(t)
	mentioned := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetMentionedJID()
	if len(mentioned) != 1 || !strings.HasPrefix(got.Text(), "You, @"+strings.Split(mentioned[0], "@")[0]) || !strings.HasSuffix(got.Text(), " please") {
		t.Errorf("arrived: %q, mentions %q", got.Text(), mentioned)
	}
	v.WaitFor(`!document.querySelector(".unsent") && document.querySelector(".msg.out .mention")?.textContent === "@Anna Amsel"`)
}
