package chats

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
)

// wantLabels waits until the phone shows exactly these labels on the chat with Ben.
func wantLabels(t *testing.T, v Visited, want ...string) {
	t.Helper()
	Eventually(t, func() error {
		got, err := v.Owner.LabelsOf(Within(t), v.Ben.PN(), "")
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("the phone shows %v, want %v", got, want)
		}
		return err
	})
}

// The menu of a message leads to its labels, which show in its bubble and on the phone.
func labelsOfAMessage(t *testing.T, v Visited) {
	id := Say(t, v.Ben, v.Owner.PN(), "Two loaves, please")
	v.WantStored(v.Ben, "Two loaves")
	for label, name := range map[string]string{"7": "Paid " + strings.Repeat("in full ", 10), "8": "New"} {
		if err := v.Owner.EditLabel(Within(t), label, name, 2); err != nil {
			t.Fatal(err)
		}
	}
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll(".label-filter a[href*='?label=']").length === 2`)
	choose := func(chips string, want ...string) {
		t.Helper()
		v.ClickIt(inMessage("Two loaves", ".msg-menu"))
		v.ClickOn(`#message-menu a[href^="?labels="]`)
		v.WaitFor(`document.querySelector("#change[open] [name=label]")`)
		v.WantInside("the labels to choose from", "#change *")
		v.ClickOn(`#change label:has([value="7"])`)
		v.ClickOn("#change button.primary")
		Eventually(t, func() error {
			got, err := v.Owner.LabelsOf(Within(t), v.Ben.PN(), id)
			if err == nil && !slices.Equal(got, want) {
				err = fmt.Errorf("the phone shows %v, want %v", got, want)
			}
			return err
		})
		v.WaitFor(`[...document.querySelectorAll(".bubble .label-chip")].map(one => one.textContent.slice(0, 4)).join() === ` + JsString(chips))
	}
	choose("Paid", "7")
	v.WantSeen(".bubble:has(.label-chip)")
	v.WantInside("the bubble", ".bubble, .bubble .label-chip")
	choose("")
}

// Labels show on the rows of their chats and in their info. The menus of a chat add and remove them, on the
// phone too, and a filter shows the chats of one. Accounts without labels see nothing of them.
func labels(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "I have paid")
	Say(t, v.Carla, v.Owner.PN(), "I have not")
	v.WantStored(v.Ben, "I have paid")
	v.WantStored(v.Carla, "I have not")
	v.OpenChat(v.Ben.PN())
	if Evaluate[bool](v.Browser, `Boolean(document.querySelector(".label-filter details, .label-chip, .submenu [name=label]"))`) {
		t.Error("an account without labels is shown labels")
	}
	v.Open("/console/chats")
	name := "Paid " + strings.Repeat("in full ", 10)
	for id, name := range map[string]string{"7": name, "8": "New"} {
		if err := v.Owner.EditLabel(Within(t), id, name, 2); err != nil {
			t.Fatal(err)
		}
	}
	v.WantSeen(".label-filter summary")
	v.WaitFor(`document.querySelectorAll(".label-filter a[href*='?label=']").length === 2`)

	v.OpenChat(v.Ben.PN())
	v.ClickOn(".chat-head .menu > summary")
	v.ClickOn(".chat-head .submenu:has([name=label]) > summary")
	v.ClickOn(`.chat-head [name=label][value="7"]`)
	wantLabels(t, v, "7")
	v.WaitFor(`document.querySelector('.chat-head [name=unlabel][value="7"][aria-pressed=true]')`)

	v.Open("/console/people/" + bridge.JID(v.Ben.PN().String()).Escaped())
	v.WantOnPage("in full")
	v.WantInside("the chips in the contact's info", ".who .label-chip")

	v.Open("/console/chats")
	v.WantInside("the filters", ".chips > *, .label-filter summary")
	v.ClickOn(".label-filter summary")
	v.WantSeen(`.label-filter a[href$="=7"]`)
	v.WantInside("the menu of labels", ".label-filter .menu-box")
	v.ClickOn(`.label-filter a[href$="=7"]`)
	v.Arrives(".label-filter summary[aria-current]")
	v.WantSeen(".chat-row:has(.label-chip)")
	v.WantInside("the filtered list", ".label-chip")
	if !Evaluate[bool](v.Browser, `document.querySelector(".label-filter summary").getBoundingClientRect().right <= document.querySelector(".pane").getBoundingClientRect().right`) {
		t.Error("the name of a label makes the filters wider than the list")
	}
	v.WantFit("the filtered list")
	v.WaitFor(rowOf(v.Ben.PN()) + ` && !` + rowOf(v.Carla.PN()))

	const menu = `document.querySelector("dialog.row-menu[open]")`
	if Evaluate[bool](v.Browser, "innerWidth < 600") {
		finger(v.Browser, func() { v.WaitFor(menu) }, v.Middle(".chat-list .chat-row"))
	} else {
		v.Run(rowOf(v.Ben.PN()) + `.dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 120, clientY: 200}))`)
	}
	v.WaitFor(menu)
	v.ClickOn("dialog.row-menu .submenu:has([name=label]) > summary")
	v.ClickOn(`dialog.row-menu [name=unlabel][value="7"]`)
	wantLabels(t, v)
	v.WaitFor(`!document.querySelector(".chat-list .chat-row")`)
}

// The page of labels is reached from the list of chats and from where labels are chosen. It creates, renames, recolours
// and deletes them, on the phone too, and shows what the phone changes. A deletion says how many chats have the label.
func labelsAreChanged(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "Two loaves, please")
	v.WantStored(v.Ben, "Two loaves")
	name := "Paid " + strings.Repeat("in full ", 10)
	if err := v.Owner.EditLabel(Within(t), "7", name, 2); err != nil {
		t.Fatal(err)
	}
	if err := v.Owner.LabelChat(Within(t), v.Ben.PN(), "7", true); err != nil {
		t.Fatal(err)
	}
	onPhone := func(want map[string]string) {
		t.Helper()
		Eventually(t, func() error {
			got, err := v.Owner.Labels(Within(t))
			if err == nil && !maps.Equal(got, want) {
				err = fmt.Errorf("the phone shows %v, want %v", got, want)
			}
			return err
		})
	}
	v.OpenChat(v.Ben.PN())
	v.WantSeen(".chat-head .menu > summary")
	v.ClickIt(inMessage("Two loaves", ".msg-menu"))
	v.ClickOn(`#message-menu a[href^="?labels="]`)
	v.WantSeen(`#change [href="/console/labels"]`)
	v.Open("/console/chats")
	v.WantSeen(".label-filter summary")
	v.ClickOn(".label-filter summary")
	v.ClickOn(`.label-filter [href="/console/labels"]`)
	v.Arrives(".label-list")
	v.WaitFor(`document.querySelector(".label-line").textContent.includes("1 chat")`)

	fill := func(form, name, color string) {
		t.Helper()
		v.Paste(form+" [name=name]", name)
		v.ClickOn(form + ` .swatch:has([value="` + color + `"])`)
		v.ClickOn(form + " button.primary")
	}
	fill(`[action="/console/labels"]`, "Late", "13")
	v.WaitFor(`document.querySelector(".label-line .label-13")`)
	id := Evaluate[string](v.Browser, `document.querySelector("li:has(.label-13) form").action.split("/").at(-1)`)
	onPhone(map[string]string{"7": name, id: "Late"})

	its := `[action$="/` + id + `"]`
	v.ClickOn(".label-list li:has(" + its + ") summary")
	v.WantInside("the form of a label", "main *:not(.vh, svg *)")
	v.WantFit("the form of a label")
	fill(its, name, "0")
	v.WaitFor(`document.querySelector(".wrong")?.textContent === "There’s already a label with this name."`)
	fill(its, "Overdue", "0")
	v.WaitFor(`document.querySelector(".label-line .label-0")`)
	onPhone(map[string]string{"7": name, id: "Overdue"})

	if err := v.Owner.EditLabel(Within(t), id, "On time", 15); err != nil {
		t.Fatal(err)
	}
	v.WaitFor(`document.querySelector(".label-line .label-15")`)

	v.ClickOn(".label-list li:has([action$='/7']) [data-ask]")
	v.WaitFor(`document.querySelector(".ask[open] #question")?.textContent.includes("1 chat and all messages with it lose it")`)
	v.ClickOn(".ask .danger")
	v.WaitFor(`document.querySelectorAll(".label-list li").length === 1`)
	onPhone(map[string]string{id: "On time"})
	v.Open("/console/chats")
	v.WaitFor(rowOf(v.Ben.PN()) + ` && !document.querySelector(".chat-list .label-chip")`)
	v.FaultsOf(http.StatusBadRequest)
}
