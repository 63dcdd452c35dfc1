package chats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// entry opens the menu of the message with a text, and clicks the entry with a name.
func entry(v Visited, text, name string) {
	v.Browser.T.Helper()
	v.ClickIt(inMessage(text, ".msg-menu"))
	v.WaitFor(`document.querySelector("#message-menu[open]")`)
	v.ClickIt(fmt.Sprintf(`[...document.querySelectorAll("#message-menu .menu-items > *")].find(one => one.textContent.trim() === %q)`, name))
}

// pinnedBar is the line of the pinned messages that is shown.
const pinnedBar = `document.querySelector(".pinned-line:not([hidden]) .pinned-text")?.textContent`

// pinsMessages pins from the menu of a message. The bar on top of the chat shows the pinned
// messages one after the other, also those that others pin, and leads to them.
func pinsMessages(t *testing.T, v Visited) {
	first := Say(t, v.Ben, v.Owner.PN(), "The code of the door is on the card")
	for i := range 25 {
		Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i))
	}
	second := Say(t, v.Ben, v.Owner.PN(), "Bring the key")
	v.WantStored(v.Ben, "Bring the key")
	v.OpenChat(v.Ben.PN())
	v.WantText("Bring the key")

	entry(v, "The code of the door", "Pin…")
	v.WaitFor(`document.querySelector("#change[open]")`)
	for _, one := range []string{"#change .changed", "#change [value='24h']", "#change [value='30d']", "#change .modal-foot a", "#change .primary"} {
		v.WantSeen(one)
	}
	v.WantFit("the question how long")
	v.ClickOn("#change [value='30d']")
	v.ClickOn("#change .primary")
	v.WaitFor(pinnedBar + `?.includes("The code of the door")`)
	Must(0, v.Ben.WaitBubble(Within(t), first, simnet.Bubble{Text: "The code of the door is on the card", Pinned: true}))(t)
	pinned := Must(v.Bridge.API.Message(Within(t), bridge.JID(v.Ben.PN().String()), first))(t)
	if pinned.PinnedUntil == nil || time.Until(pinned.PinnedUntil.Time) < 29*24*time.Hour {
		t.Errorf("pinned until %v", pinned.PinnedUntil)
	}

	Must(v.Ben.Pin(Within(t), v.Owner.PN(), v.Ben.PN(), second, 24*time.Hour))(t)
	v.WaitFor(pinnedBar + `?.includes("Bring the key")`)
	v.WantSeen(".pinned-line > a")
	v.WantFit("a chat with pinned messages")
	v.WantInside("a chat with pinned messages", ".pinned-line *:not(.vh)")
	v.ClickOn(".pinned-line > a")
	v.WaitFor(inMessage("Bring the key", ".bubble") + `.closest(".found") && ` + pinnedBar + `.includes("The code of the door")`)
	v.ClickIt(`document.querySelector(".pinned-line:not([hidden]) > a")`)
	v.WaitFor(inMessage("The code of the door", ".bubble") + `.closest(".found")`)
	v.WantSeen(".msg.found .bubble")

	v.ClickOn(".to-end")
	entry(v, "Bring the key", "Unpin")
	v.WaitFor(`document.querySelectorAll(".pinned-line").length === 1`)
	v.ClickOn(".pinned-line .round")
	v.WaitFor(`!document.querySelector(".pinned-line")`)
	Must(0, v.Ben.WaitBubble(Within(t), first, simnet.Bubble{Text: "The code of the door is on the card"}))(t)
}

// In a group that only admins may change, only they pin messages, as in the apps.
func onlyAdminsPinInLockedGroups(t *testing.T, v Visited) {
	v.Resize(390, 844, true)
	group := NewGroup(t, v.Ben, simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{v.Owner}})
	id := Say(t, v.Ben, group.JID(), "We meet at ten")
	v.Cast.Stored(t, id)
	entries := func(want string) {
		t.Helper()
		menu := fmt.Sprintf(`fetch(location.pathname + "/messages/%s/menu").then(page => page.text()).then(menu => ["Star", "Pin…", "Unpin"].filter(entry => menu.includes("</svg>" + entry + "<")).join())`, bridge.PathID(id))
		Eventually(t, func() error {
			if got := Evaluate[string](v.Browser, menu); got != want {
				return fmt.Errorf("the menu has %s, want %s", got, want)
			}
			return nil
		})
	}
	v.OpenChat(group.JID())
	v.WantText("We meet at ten")
	entries("Star,Pin…")
	Must(v.Ben.Pin(Within(t), group.JID(), v.Ben.PN(), id, 24*time.Hour))(t)
	v.WaitFor(`document.querySelector(".pinned-line .round")`)
	entries("Star,Unpin")
	if err := group.SetLocked(Within(t), v.Ben, true); err != nil {
		t.Fatal(err)
	}
	v.WaitFor(`document.querySelector(".pinned-line") && !document.querySelector(".pinned-line .round")`)
	entries("Star")
	v.WantText("allowed only admins to edit the group info")
	v.ClickIt(inMessage("We meet at ten", ".msg-menu"))
	v.WantSeen("#message-menu [name=star]")
	if err := group.Promote(Within(t), v.Ben, v.Owner); err != nil {
		t.Fatal(err)
	}
	v.WaitFor(`document.querySelector(".pinned-line .round")`)
	entries("Star,Unpin")
}

// votes chooses options of polls by a click, changes them and takes them back.
func votes(t *testing.T, v Visited) {
	days := []string{"Saturday", "Sunday", "Not at all, because the weather forecast says that it rains on both days"}
	when := Must(v.Ben.SendPoll(Within(t), v.Owner.PN(), "When do we go?", days, 1))(t)
	what := Must(v.Ben.SendPoll(Within(t), v.Owner.PN(), "What do we take?", []string{"Tent", "Stove", "Map"}, 0))(t)
	v.WantStored(v.Ben, "What do we take?")
	v.OpenChat(v.Ben.PN())
	v.WantText("What do we take?")
	option := func(poll, name string) string {
		return fmt.Sprintf(`[...%s.querySelectorAll(".option")].find(one => one.textContent.includes(%q))`, inMessage(poll, ".poll"), name)
	}
	voted := func(question, poll string, want ...string) {
		t.Helper()
		v.WaitFor(fmt.Sprintf(`(poll => [".option.own input", ":checked"].every(chosen => [...poll.querySelectorAll(chosen)].map(one => one.value).join() === %q))(%s)`, strings.Join(want, ","), inMessage(question, ".poll")))
		var stored []string
		for _, one := range Must(v.Bridge.API.Message(Within(t), bridge.JID(v.Ben.PN().String()), poll))(t).Poll.Options {
			if one.Votes > 0 {
				stored = append(stored, one.Name)
			}
		}
		if !slices.Equal(stored, want) {
			t.Errorf("%s: stored are votes for %q, want %q", question, stored, want)
		}
	}
	v.WantFit("polls")
	v.WantInside("polls", ".poll *:not(.vh)")
	v.ClickIt(option("When", "Saturday"))
	voted("When", when, "Saturday")
	v.ClickIt(option("When", "Sunday"))
	voted("When", when, "Sunday")
	v.ClickIt(option("When", "Sunday"))
	voted("When", when)
	v.ClickIt(option("What", "Map"))
	v.ClickIt(option("What", "Tent"))
	voted("What", what, "Tent", "Map")
	v.Device.FailSends(simnet.SendFault{Code: 406})
	v.ClickIt(option("What", "Stove"))
	v.WaitFor(`document.querySelector("#toast.bad.shown")`)
	voted("What", what, "Tent", "Map")
	v.FaultsOf(502)
}

// A message that changes while the mouse's button is down is replaced after the click: it would be lost.
func clicksWhatChangesMeanwhile(t *testing.T, v Visited) {
	v.Chats()
	poll := Must(v.Ben.SendPoll(Within(t), v.Owner.PN(), "When do we go?", []string{"Saturday", "Sunday"}, 1))(t)
	v.WaitFor(`document.querySelector(".option")`)
	v.WantSeen(".option")
	v.Run(`(real => { window.fetch = async (...request) => {
		const answer = await real(...request);
		if ((await answer.clone().text()).includes("👍")) document.body.dataset.fetched = "yes";
		return answer;
	}; })(fetch)`)
	at := v.Middle(".option")
	mouse := func(kind input.DispatchMouseEventType) {
		CallBrowser(v.Browser, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, ClickCount: 1})
	}
	mouse(input.DispatchMouseEventTypeMousePressed)
	Must(v.Ben.ReactTo(Within(t), v.Owner.PN(), v.Ben.PN(), poll, "👍"))(t)
	v.WaitFor(`document.body.dataset.fetched`)
	Evaluate[bool](v.Browser, `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))`)
	mouse(input.DispatchMouseEventTypeMouseReleased)
	v.WaitFor(`document.querySelector(".option.own") && document.querySelector("#messages").textContent.includes("👍")`)
}

// showsAGroupBeforeJoining follows an invite link in a text, and one that is pasted.
func showsAGroupBeforeJoining(t *testing.T, v Visited) {
	group := NewGroup(t, v.Ben, simnet.GroupOptions{Subject: "Choir of the old town", Members: []*simnet.Phone{v.Anna}})
	link := Must(group.Link(Within(t), v.Ben))(t)
	Say(t, v.Ben, v.Owner.PN(), "Sing with us: "+link)
	v.WantStored(v.Ben, "Sing with us")
	v.Open("/console/new")
	v.Paste("main input[type=search]", link)
	invite := "/console/invite/" + strings.TrimPrefix(link, bridge.InviteLinkPrefix)
	v.WaitFor(`document.querySelector("[data-found] .chat-row")?.getAttribute("href") === ` + JsString(invite))
	v.ClickOn("[data-found] .chat-row")
	v.Arrives(".who-name")
	v.OpenChat(v.Ben.PN())
	v.WantText("Sing with us")
	v.ClickIt(inMessage("Sing with us", ".text a"))
	v.Arrives(".who-name")
	if name := v.Text(".who"); !strings.Contains(name, "Choir of the old town") || !strings.Contains(name, "2 members") || !strings.Contains(name, "by Ben") {
		t.Errorf("the page shows %q", name)
	}
	v.WantFit("an invitation")
	v.WantSeen(".who .primary")
	v.ClickOn(".who .primary")
	v.Arrives("#history")
	v.WantOnPage("Choir of the old town")
	v.Open(invite)
	v.WantOnPage("You’re in this group")
}

// starsMessages stars from the menu of a message, and lists what is starred, also on the phone.
func starsMessages(t *testing.T, v Visited) {
	card := Say(t, v.Ben, v.Owner.PN(), "The code of the door is 4711")
	key := Say(t, v.Ben, v.Owner.PN(), "The key is below the stone")
	v.WantStored(v.Ben, "below the stone")
	v.Open("/console/search?kind=starred")
	v.WantOnPage("No starred messages")
	v.OpenChat(v.Ben.PN())
	v.WantText("below the stone")
	entry(v, "4711", "Star")
	v.WaitFor(inMessage("4711", `.meta [title=starred]`))
	if starred := Must(v.Owner.Starred(Within(t), v.Ben.PN(), card, false, simnet.JID{}))(t); !starred {
		t.Error("the phone shows no star")
	}
	Must(0, v.Owner.Star(Within(t), v.Ben.PN(), key, false, simnet.JID{}, true))(t)
	v.WaitFor(inMessage("below the stone", `.meta [title=starred]`))
	v.ClickOn(".chat-head .menu > summary")
	v.ClickOn(".chat-head [href*='kind=starred']")
	v.Arrives("#main h1")
	v.WantOnPage("Starred messages")
	v.WantOnPage("below the stone")
	v.WantFit("starred messages")
	v.OpenChat(v.Ben.PN())
	v.WantText("below the stone")
	entry(v, "4711", "Unstar")
	v.WaitFor(`!` + inMessage("4711", `.meta [title=starred]`))
	entry(v, "below the stone", "Unstar")
	v.WaitFor(`!` + inMessage("below the stone", `.meta [title=starred]`))
}

// deletesForMe deletes a received message on the account's devices, and not for the other person. The timer of the
// chat is set on the page about the person.
func deletesForMe(t *testing.T, v Visited) {
	id := Say(t, v.Ben, v.Owner.PN(), "Not for these devices")
	v.WantStored(v.Ben, "Not for these devices")
	v.OpenChat(v.Ben.PN())
	v.WantText("Not for these devices")
	entry(v, "Not for these devices", "Delete…")
	v.WaitFor(`document.querySelector("#change[open]")`)
	v.WantSeen("#change [value=me]")
	v.WantFit("the question about a deletion")
	if Evaluate[bool](v.Browser, `Boolean(document.querySelector("#change [value=everyone]"))`) {
		t.Error("a received message is offered to be deleted for everyone")
	}
	v.ClickOn("#change [value=me]")
	v.WaitFor(`!document.querySelector("#messages").textContent.includes("Not for these devices")`)
	if shown, _ := v.Ben.Bubble(id); shown.Deleted {
		t.Error("the message is deleted for Ben, too")
	}

	v.Open(Path("/console/people/%s", v.Ben.PN()))
	v.Do(Does(`document.querySelector("[name=seconds]").value = "604800"`))
	v.WantFit("a contact")
	v.ClickOn("#timer button")
	v.WantOnPage("Saved")
	if chat := Must(v.Bridge.API.Chat(Within(t), bridge.JID(v.Ben.PN().String())))(t); chat.Expiration != 604800 {
		t.Errorf("the timer is %d", chat.Expiration)
	}
}

// deletesAChat clears a chat from its menu, and deletes it, each after a question.
func deletesAChat(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "To be forgotten")
	v.WantStored(v.Ben, "To be forgotten")
	v.Resize(390, 844, false)
	for _, act := range []string{"clear", "delete"} {
		v.OpenChat(v.Ben.PN())
		v.ClickOn(".chat-head .menu > summary")
		v.ClickOn(".chat-head [value=" + act + "]")
		v.WaitFor(`document.querySelector("dialog.ask[open]")`)
		v.WantFit("the question before " + act)
		v.ClickOn("dialog.ask .danger")
		v.WantOnPage(map[string]string{"clear": "Chat cleared", "delete": "Chat deleted"}[act])
	}
	v.Bridge.Get(Path("/api/chats/%s", v.Ben.PN())).Want(404)
	v.FaultsOf(404)
}
