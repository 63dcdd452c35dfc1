package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	"bridged/internal/simnet"
)

// chatting is a chat with Ben that is open in a browser.
func chatting(t *testing.T, width int64, settings ...string) visited {
	t.Helper()
	v := visit(t, settings...)
	say(t, v.ben, v.owner.PN(), "Are you there?")
	v.wantStored(v.ben, "Are you there?")
	v.resize(width, 844, false)
	if width < 600 {
		callBrowser(v.browser, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	}
	v.openChat(v.ben.PN())
	v.waitFor(`document.readyState === "complete"`)
	return v
}

// atBothWidths runs a test on a desk and on a phone.
func atBothWidths(t *testing.T, test func(t *testing.T, width int64)) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			test(t, width)
		})
	}
}

// write writes a text into the composer, and sends it by the button.
func (b *browser) write(text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS(".say textarea"), text), chromedp.Click(chromedp.CSS("[data-say]")))
}

// offline cuts the browser off the bridge, or connects it again.
func (b *browser) offline(cut bool) {
	b.t.Helper()
	b.throttle(network.Conditions{Offline: cut, DownloadThroughput: -1, UploadThroughput: -1})
}

// throttle limits the browser's connection.
func (b *browser) throttle(conditions network.Conditions) {
	b.t.Helper()
	// Chromium 148 wants to know beside the conditions whether it is offline; later ones, in them.
	type params struct {
		network.EmulateNetworkConditionsByRuleParams
		Offline bool `json:"offline"`
	}
	callBrowser(b, cdp.Command[params, cdp.Empty]{Method: network.CommandEmulateNetworkConditionsByRule}, params{
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&conditions}}, conditions.Offline,
	})
}

// forgetFaults forgets the faults that a test has provoked.
func (b *browser) forgetFaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
}

// wantOwn waits until the chat shows exactly these own texts, all of them sent and stored.
func (b *browser) wantOwn(texts ...string) {
	b.t.Helper()
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = jsString(text)
	}
	b.waitFor(`document.querySelectorAll(".unsent").length === 0 && (() => {
		const want = [` + strings.Join(list, ",") + `];
		const own = [...document.querySelectorAll(".msg.out:not([hidden]) .text")].map(one => one.firstChild.textContent);
		return own.length === want.length && own.every((text, i) => text.startsWith(want[i]));
	})()`)
}

// A text stands in the chat at once. While the bridge can’t be reached it waits, also
// over a reload of the page, and goes by itself afterwards.
func TestConsole_TextsWaitForTheConnection(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := chatting(t, width)
		v.offline(true)
		v.write("one")
		v.write("two")
		v.waitFor(`document.querySelectorAll(".unsent").length === 2 && document.querySelector(".unsent [data-reason]").textContent.includes("can’t be reached")`)
		v.offline(false)
		v.openChat(v.ben.PN())
		v.wantOwn("one", "two")
		for _, text := range []string{"one", "two"} {
			must(v.ben.ReceivedText(within(t), text))(t)
		}
		if kept := evaluate[int](v.browser, `Object.keys(localStorage).filter(name => name.startsWith("unsent")).length`); kept != 0 {
			t.Errorf("%d texts are kept", kept)
		}
		v.forgetFaults()
		v.write("three")
		v.wantOwn("one", "two", "three")
		v.wantNoFaults()
	})
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
func TestConsole_ATextIsSentOnce(t *testing.T) {
	t.Parallel()
	v := chatting(t, 1280)
	v.do(chromedp.Evaluate[chromedp.Void](losesAnAnswer))
	v.write("only once")
	v.wantOwn("only once")
	v.write("then this")
	must(v.ben.ReceivedText(within(t), "then this"))(t)
	v.wantOwn("only once", "then this")
	if got := v.bridge.Get(path("/api/messages/individual/%s?q=only+once", v.ben.PN())); strings.Count(string(got.Body), `"msgId"`) != 1 {
		t.Errorf("stored: %s", got.Body)
	}
	v.wantNoFaults()
}

// What the network refuses stays where it stands, with the reason, and can be tried again
// or deleted.
func TestConsole_ARefusedTextStays(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := chatting(t, width)
		v.device.FailSends(simnet.SendFault{Code: 406})
		v.write("refused")
		v.waitFor(`document.querySelector(".unsent[data-state=failed] [data-reason]")?.textContent.includes("406")`)
		v.openChat(v.ben.PN())
		v.waitFor(`document.querySelectorAll(".msg.out:not([hidden])").length === 1 && document.querySelector(".unsent[data-state=failed]")`)
		v.clickOn(".unsent [data-again]")
		v.wantOwn("refused")
		must(v.ben.ReceivedText(within(t), "refused"))(t)

		v.device.FailSends(simnet.SendFault{Code: 406})
		v.write("refused again")
		v.waitFor(`document.querySelector(".unsent[data-state=failed]")`)
		v.clickOn(".unsent [data-drop]")
		v.waitFor(`!document.querySelector(".unsent")`)
		v.forgetFaults()
	})
}

// Logging out deletes what was not sent.
func TestConsole_LogoutForgetsUnsentTexts(t *testing.T) {
	t.Parallel()
	v := chatting(t, 1280)
	v.offline(true)
	v.write("secret")
	v.waitFor(`document.querySelector(".unsent [data-reason]").textContent !== ""`)
	v.do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "a draft"))
	v.do(chromedp.Evaluate[chromedp.Void](`window.confirm = () => true;
		const form = Object.assign(document.createElement("form"), {action: "/console/logout", method: "post"});
		form.setAttribute("action", "/console/logout");
		document.body.append(form);
		form.addEventListener("submit", event => event.preventDefault());
		form.requestSubmit()`))
	if kept := evaluate[string](v.browser, `JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`); strings.Contains(kept, "secret") || strings.Contains(kept, "a draft") {
		t.Errorf("kept: %s", kept)
	}
}

// drop drops files on the conversation.
func (b *browser) drop(x, y float64, files ...string) {
	b.t.Helper()
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		callBrowser(b, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: x, Y: y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
		})
	}
}

// written writes files, and returns their paths.
func written(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Several files that are dropped are shown before they are sent: with captions, in another
// order, without one of them. They arrive one after the other.
func TestConsole_FilesAreDropped(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := chatting(t, width)
		dir := written(t, map[string][]byte{"list.txt": []byte("water, bread"), "photo.png": demo.Picture(640, 400), "plan.txt": []byte("go"), "wrong.txt": []byte("no"), "empty.txt": nil})
		at := func(name string) string { return filepath.Join(dir, name) }
		v.drop(float64(width)-100, 400, at("list.txt"), at("wrong.txt"), at("photo.png"), at("plan.txt"), at("empty.txt"))
		v.waitFor(`document.querySelectorAll(".file-row").length === 4 && document.querySelector(".file-row canvas")`)
		if problem := v.text("#files [data-problem]"); !strings.Contains(problem, "empty.txt is empty") {
			t.Errorf("the dialog says %q", problem)
		}
		v.do(
			chromedp.Click(chromedp.CSS(`[aria-label="Remove wrong.txt"]`)),
			chromedp.Click(chromedp.CSS(`[aria-label="Move photo.png up"]`)),
			chromedp.SendKeys(chromedp.CSS(`[aria-label="Caption for photo.png"]`), "The view"),
			chromedp.SendKeys(chromedp.CSS(`[aria-label="Caption for list.txt"]`), "For Saturday"),
			chromedp.SendKeys(chromedp.CSS(`[aria-label="Caption for plan.txt"]`), "The plan\r"),
		)
		v.waitFor(`document.querySelectorAll(".msg.out:not(.unsent):not([hidden])").length === 3 && !document.querySelector(".unsent")`)
		v.wantOwn("The view", "For Saturday", "The plan")
		for _, caption := range []string{"The view", "For Saturday", "The plan"} {
			must(v.ben.ReceivedText(within(t), caption))(t)
		}
		if link := evaluate[string](v.browser, `fetch(document.querySelector("a.doc").href).then(answer => answer.text())`); link != "water, bread" {
			t.Errorf("the file is %q", link)
		}
		v.wantNoFaults()
	})
}

// A pasted picture, and files that are chosen, are shown in the same way. As a document, a
// picture arrives unchanged.
func TestConsole_FilesArePastedAndChosen(t *testing.T) {
	t.Parallel()
	v := chatting(t, 1280)
	picture := demo.Picture(64, 40)
	dir := written(t, map[string][]byte{"photo.png": picture})
	v.do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{filepath.Join(dir, "photo.png")}))
	v.waitFor(`document.querySelector("#files[open] .file-row canvas")`)
	v.do(chromedp.Click(chromedp.CSS("#files [name=as]")), chromedp.Click(chromedp.CSS("#files [data-go]")))
	got := must(v.ben.Received(within(t), func(r *simnet.Received) bool { return r.Message.Message.GetDocumentMessage() != nil }))(t)
	if file := must(v.ben.Show(within(t), got))(t); string(file) != string(picture) {
		t.Errorf("%d bytes arrived, %d were sent", len(file), len(picture))
	}
	v.do(chromedp.Evaluate[chromedp.Void](`fetch(document.querySelector("link[rel=icon]").href).then(() => {
		const canvas = Object.assign(document.createElement("canvas"), {width: 40, height: 30});
		canvas.getContext("2d").fillRect(0, 0, 40, 30);
		canvas.toBlob(blob => {
			const clipboard = new DataTransfer();
			clipboard.items.add(new File([blob], "image.png", {type: "image/png"}));
			document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData: clipboard, bubbles: true, cancelable: true}));
		});
	})`))
	v.waitFor(`document.querySelector("#files[open] .file-row")`)
	v.key("Pasted\r")
	must(v.ben.ReceivedText(within(t), "Pasted"))(t)
	v.wantNoFaults()
}

// A file that is too large is named with the limit, and nothing is sent.
func TestConsole_FilesHaveALimit(t *testing.T) {
	t.Parallel()
	v := chatting(t, 1280, "MEDIA_MAX_BYTES=1MB")
	dir := written(t, map[string][]byte{"film.bin": make([]byte, 2_000_000)})
	v.drop(800, 300, filepath.Join(dir, "film.bin"))
	v.waitFor(`document.querySelector("#files [data-problem]").textContent === "film.bin is 2.0 MB. The limit is 1.0 MB."`)
	if !evaluate[bool](v.browser, `document.querySelector("#files [data-go]").disabled`) {
		t.Error("there is something to send")
	}
	v.wantNoFaults()
}

// A file shows how much of it is sent, and can be cancelled. It waits for the connection; where it
// failed, it can be tried again.
func TestConsole_AFileShowsItsProgress(t *testing.T) {
	t.Parallel()
	v := chatting(t, 1280)
	dir := written(t, map[string][]byte{"slow.bin": noise(3_000_000), "late.txt": []byte("late"), "refused.txt": []byte("refused")})
	upload := func(name string) {
		v.do(chromedp.SetUploadFiles(chromedp.CSS("[data-file]"), []string{filepath.Join(dir, name)}))
		v.waitFor(`document.querySelector("#files[open] .file-row")`)
		v.do(chromedp.Click(chromedp.CSS("#files [data-go]")))
	}
	v.throttle(network.Conditions{DownloadThroughput: -1, UploadThroughput: 200_000})
	upload("slow.bin")
	v.waitFor(`(bar => bar && !bar.hidden && bar.value > 0 && bar.value < 1)(document.querySelector(".unsent progress"))`)
	v.clickOn(".unsent [data-drop]")
	v.waitFor(`!document.querySelector(".unsent")`)
	v.offline(true)
	upload("late.txt")
	v.waitFor(`document.querySelector(".unsent [data-reason]")?.textContent.includes("can’t be reached")`)
	v.offline(false)
	v.waitFor(`!document.querySelector(".unsent")`)
	v.device.FailSends(simnet.SendFault{Code: 406})
	upload("refused.txt")
	v.waitFor(`document.querySelector(".unsent[data-state=failed] [data-reason]")?.textContent.includes("406")`)
	v.clickOn(".unsent [data-again]")
	v.waitFor(`!document.querySelector(".unsent")`)
	for _, name := range []string{"late.txt", "refused.txt"} {
		must(v.ben.Received(within(t), func(r *simnet.Received) bool { return r.Message.Message.GetDocumentMessage().GetFileName() == name }))(t)
	}
	v.wantOwn("", "")
	for _, r := range v.ben.Messages() {
		if name := r.Message.Message.GetDocumentMessage().GetFileName(); name == "slow.bin" {
			t.Errorf("%s arrived", name)
		}
	}
	v.forgetFaults()
}

// A voice note is recorded, paused and sent, and arrives as the phones record them.
func TestConsole_RecordsAVoiceNote(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := chatting(t, width)
		v.do(chromedp.Click(chromedp.CSS("[data-record]")))
		// Clicked within the second that is shown.
		v.waitFor(`document.querySelector("#recording [data-length]").textContent === "0:02" && (document.querySelector("[data-pause]").click(), true)`)
		if length := v.text("#recording [data-length]"); length != "0:02" {
			t.Errorf("paused at %s", length)
		}
		v.do(chromedp.Click(chromedp.CSS("[data-resume]")))
		v.waitFor(`document.querySelector("#recording [data-length]").textContent === "0:03" && (document.querySelector("[data-finish]").click(), true)`)
		got := must(v.ben.Received(within(t), func(r *simnet.Received) bool { return r.Message.Message.GetAudioMessage() != nil }))(t)
		audio := got.Message.Message.GetAudioMessage()
		if !audio.GetPTT() || audio.GetMimetype() != "audio/ogg; codecs=opus" || audio.GetSeconds() != 3 || len(audio.GetWaveform()) != 64 {
			t.Errorf("arrived: %v", audio)
		}
		if file := must(v.ben.Show(within(t), got))(t); !strings.HasPrefix(string(file), "OggS") {
			t.Errorf("the file begins with %q", file[:min(len(file), 8)])
		}
		v.waitFor(`!document.querySelector(".unsent") && document.querySelector(".msg.out audio")`)
		played := evaluate[float64](v.browser, `new Promise((resolve, reject) => {
			const player = document.querySelector(".msg.out audio");
			player.preload = "auto";
			player.addEventListener("loadedmetadata", () => resolve(player.duration));
			player.addEventListener("error", () => reject(player.error));
			player.load();
		})`)
		if played < 2.5 || played > 4 {
			t.Errorf("the browser plays %.2f s", played)
		}
		v.wantNoFaults()
	})
}

// A recording can be discarded: nothing is sent, and the microphone is off.
func TestConsole_DiscardsAVoiceNote(t *testing.T) {
	t.Parallel()
	v := chatting(t, 390)
	v.do(chromedp.Click(chromedp.CSS("[data-record]")))
	v.waitFor(`document.querySelector("#recording [data-length]").textContent === "0:01"`)
	v.do(chromedp.Click(chromedp.CSS("#recording [data-cancel]")))
	v.waitFor(`document.querySelector("#recording").hidden && !document.querySelector(".say").hidden`)
	v.write("nothing to hear")
	v.wantOwn("nothing to hear")
	v.wantNoFaults()
}

// ArrowUp edits the last own message in place; Esc stops it, and the draft is back.
func TestConsole_EditsAndDeletesInPlace(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := chatting(t, width)
		v.do(chromedp.Evaluate[chromedp.Void](`window.stays = true`))
		v.write("Se *you*")
		v.wantOwn("Se ")
		v.do(chromedp.Focus(chromedp.CSS(".say textarea")))
		v.key(kb.ArrowUp)
		v.waitFor(`document.querySelector(".say textarea").value === "Se *you*" && !document.querySelector("#editing").hidden`)
		v.key(kb.Escape)
		v.waitFor(`document.querySelector(".say textarea").value === "" && document.querySelector("#editing").hidden`)
		v.key(kb.ArrowUp)
		v.waitFor(`!document.querySelector("#editing").hidden`)
		v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".say textarea").value = ""`))
		v.write("See you")
		v.wantOwn("See you")
		v.waitFor(`document.querySelector("#editing").hidden && document.querySelector(".say textarea").value === ""`)

		v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.msg.out a[href^="?delete="]').click()`))
		v.waitFor(`document.querySelector("#deleting").open`)
		v.do(chromedp.Click(chromedp.CSS("#deleting button.danger")))
		v.waitFor(`document.querySelector(".msg.out .gone")`)
		if !evaluate[bool](v.browser, `window.stays === true`) {
			t.Error("the page was loaded again")
		}
		v.wantNoFaults()
	})
}

// Typing @ in a group suggests its members, by keyboard and by touch. The phone gets a
// mention.
func TestConsole_MentionsMembers(t *testing.T) {
	atBothWidths(t, func(t *testing.T, width int64) {
		v := visit(t)
		group := newGroup(t, v.ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{v.owner, v.anna, v.carla}})
		v.stored(t, say(t, v.ben, group.JID(), "Who sings?"))
		eventually(t, func() error {
			if got := v.bridge.Get("/api/groups/" + bridge.JID(group.JID().String()).Escaped()); !strings.Contains(string(got.Body), "Anna Amsel") {
				return fmt.Errorf("the group is %s", got.Body)
			}
			return nil
		})
		v.resize(width, 844, false)
		v.openChat(group.JID())
		v.do(chromedp.Focus(chromedp.CSS(".say textarea")))
		v.key("You, @ann")
		v.waitFor(`document.querySelectorAll("#suggestions:not([hidden]) li").length === 1`)
		if width < 600 {
			v.do(chromedp.Click(chromedp.CSS("#suggestions li")))
		} else {
			v.key(kb.Enter)
		}
		v.key("please")
		v.do(chromedp.Click(chromedp.CSS("[data-say]")))
		got := must(v.ben.Received(within(t), func(r *simnet.Received) bool { return strings.HasPrefix(r.Text(), "You, @") }))(t)
		mentioned := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetMentionedJID()
		if len(mentioned) != 1 || !strings.HasPrefix(got.Text(), "You, @"+strings.Split(mentioned[0], "@")[0]) || !strings.HasSuffix(got.Text(), " please") {
			t.Errorf("arrived: %q, mentions %q", got.Text(), mentioned)
		}
		v.waitFor(`!document.querySelector(".unsent") && document.querySelector(".msg.out .mention")?.textContent === "@Anna Amsel"`)
		v.wantNoFaults()
	})
}
