package chats

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// shoot saves a screenshot in the directory that SHOTS names, if it does.
func shoot(b *Browser, name string) {
	if dir := os.Getenv("SHOTS"); dir != "" {
		b.Picture(filepath.Join(dir, name+".png"))
	}
}

// A business's message has each part once: its address is a link, and what only phones can press is no button here. View-once messages are
// opened on the phone.
func messagesForThePhone(t *testing.T, v Visited) {
	picture := simnet.Media{Data: demo.Picture(60, 40), Mimetype: "image/png", Caption: "only once", Width: 60, Height: 40}
	Must(v.Ben.SendImage(Within(t), v.Owner.PN(), picture, simnet.ViewOnce()))(t)
	v.Owner.IgnoreRequests(true) // real phones do not pass the file on
	defer v.Owner.IgnoreRequests(false)
	Must(v.Ben.SendImage(Within(t), v.Owner.PN(), picture, simnet.HiddenViewOnce()))(t)
	Must(v.Ben.Send(Within(t), v.Owner.PN(), &waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{HydratedTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{
		Title:               &waE2E.TemplateMessage_HydratedFourRowTemplate_HydratedTitleText{HydratedTitleText: "Your order"},
		HydratedContentText: proto.String("It leaves *today*."), HydratedFooterText: proto.String("ACME Ltd."),
		HydratedButtons: []*waE2E.HydratedTemplateButton{
			{HydratedButton: &waE2E.HydratedTemplateButton_UrlButton{UrlButton: &waE2E.HydratedTemplateButton_HydratedURLButton{DisplayText: proto.String("Track it"), URL: proto.String("https://example.org/t/1")}}},
			{HydratedButton: &waE2E.HydratedTemplateButton_CallButton{CallButton: &waE2E.HydratedTemplateButton_HydratedCallButton{DisplayText: proto.String("Call us"), PhoneNumber: proto.String("+49 30 1234")}}},
			{HydratedButton: &waE2E.HydratedTemplateButton_QuickReplyButton{QuickReplyButton: &waE2E.HydratedTemplateButton_HydratedQuickReplyButton{DisplayText: proto.String("Thanks"), ID: proto.String("1")}}},
		},
	}}}))(t)
	v.WantStored(v.Ben, "Your order")
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll(".msg").length === 3 && document.readyState === "complete"`)
	for _, text := range []string{"View-once photo. Open it on the phone.", "View-once message. Open it on the phone."} {
		if n := Evaluate[int](v.Browser, fmt.Sprintf(`[...document.querySelectorAll(".msg .text.gone")].filter(one => one.textContent.includes(%q)).length`, text)); n != 1 {
			t.Errorf("%q is shown %d times", text, n)
		}
	}
	for _, text := range []string{"Your order", "It leaves", "ACME Ltd.", "Track it", "+49 30 1234", "Thanks"} {
		if n := Evaluate[int](v.Browser, fmt.Sprintf(`[...document.querySelectorAll(".bubble")].at(-1).innerText.split(%q).length - 1`, text)); n != 1 {
			t.Errorf("%q is shown %d times", text, n)
		}
	}
	if n := Evaluate[int](v.Browser, `document.querySelectorAll(".msg .picture, .msg [href*='/media/'], .msg .bubble button").length`); n != 0 {
		t.Errorf("%d things to open", n)
	}
	v.WantSeen(`.choice a[href="https://example.org/t/1"]`)
	v.WantInside("a message of a business", ".bubble *:not(.vh)")
	shoot(v.Browser, fmt.Sprintf("kinds-%d", Evaluate[int](v.Browser, "innerWidth")))
	Must(v.Carla.SendImage(Within(t), v.Owner.PN(), picture, simnet.HiddenViewOnce()))(t)
	v.Open("/console/chats")
	v.WaitFor(rowOf(v.Carla.PN()) + `?.innerText.includes("View-once message. Open it on the phone.")`)
}

// The composer says why it is closed before one writes, and opens and closes while one looks at it.
func theComposerSaysWhyItIsClosed(t *testing.T, v Visited) {
	group := Must(v.Ben.CreateGroup(Within(t), simnet.GroupOptions{Subject: "News", Members: []*simnet.Phone{v.Owner}}))(t)
	Say(t, v.Ben, group.JID(), "first news")
	v.Stored(t, Say(t, v.Ben, group.JID(), "second news"))
	v.Resize(390, 844, true)
	v.OpenChat(group.JID())
	v.WaitFor(`document.querySelector("form.say") && document.readyState === "complete"`)
	closes := func(why string) {
		t.Helper()
		v.WaitFor(fmt.Sprintf(`document.querySelector("#composer")?.innerText.includes(%q) && !document.querySelector("form.say")`, why))
		v.WantSeen("#composer .hint")
	}
	Must(0, group.SetAnnounce(Within(t), v.Ben, true))(t)
	closes("Only admins can send messages here.")
	shoot(v.Browser, "closed-390")
	Must(0, group.SetAnnounce(Within(t), v.Ben, false))(t)
	v.WaitFor(`document.querySelector("form.say")`)
	Must(0, group.Remove(Within(t), v.Ben, v.Owner))(t)
	closes("You’re no longer in this group.")

	Say(t, v.Ben, v.Owner.PN(), "hello")
	v.WantStored(v.Ben, "hello")
	Must(0, v.Bridge.API.Block(Within(t), bridge.JID(v.Ben.PN().String()), "block"))(t)
	v.OpenChat(v.Ben.PN())
	closes("You blocked this contact.")
	v.ClickOn("#composer .hint a")
	v.Arrives(".page-person")
}

// Calls and changes of a group are lines in their chats. A ringing call is a bar on every page, from which it is declined.
func callsAndChangesAreLines(t *testing.T, v Visited) {
	group := Must(v.Ben.CreateGroup(Within(t), simnet.GroupOptions{Subject: "News", Members: []*simnet.Phone{v.Owner}}))(t)
	v.Stored(t, Say(t, v.Ben, group.JID(), "first news"))
	width := Evaluate[int](v.Browser, "innerWidth")
	v.OpenChat(group.JID())
	v.WaitFor(`document.querySelector(".msg") && document.readyState === "complete"`)
	Must(0, group.SetSubject(Within(t), v.Ben, "Good news"))(t)
	v.WaitFor(`[...document.querySelectorAll(".event-line")].at(-1)?.innerText.includes("Ben changed the group name to “Good news”")`)
	Must(0, group.Add(Within(t), v.Ben, v.Anna))(t)
	v.WaitFor(`[...document.querySelectorAll(".event-line")].at(-1).innerText.includes("Ben added")`)
	Say(t, v.Ben, group.JID(), "second news")
	v.WantText("second news")
	shape := `[...document.querySelectorAll("#messages .msg, #messages .event-line")].map(one => one.className.split(" ")[0]).join(" ")`
	seen := Evaluate[string](v.Browser, shape)
	v.OpenChat(group.JID())
	v.WaitFor(`document.querySelectorAll(".msg").length === 2 && document.readyState === "complete"`)
	if again := Evaluate[string](v.Browser, shape); again != seen || strings.Count(again, "event-line") != 3 {
		t.Errorf("the lines are %q, and %q once the page is loaded again", seen, again)
	}
	shoot(v.Browser, fmt.Sprintf("lines-%d", width))

	Say(t, v.Ben, v.Owner.PN(), "I will call you")
	v.WantStored(v.Ben, "I will call you")
	v.Open("/console/settings")
	v.WaitFor(`document.readyState === "complete"`)
	call := Must(v.Ben.Call(Within(t), v.Owner, simnet.CallOptions{}))(t)
	v.WaitFor(`document.querySelector(".ringing-call")?.innerText.includes("Ben")`)
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelector(".event-line")?.innerText.includes("Incoming voice call")`)
	v.WantInside("a ringing call", ".ringing-call *:not(svg *)")
	shoot(v.Browser, fmt.Sprintf("ringing-%d", width))
	v.ClickOn(".ringing-call button")
	Must(call.WaitRejected(Within(t)))(t)
	v.WaitFor(`!document.querySelector(".ringing-call") && document.querySelector(".event-line").innerText.includes("Declined voice call")`)

	// A line may be the first of its chat.
	v.OpenChat(v.Carla.PN())
	v.WaitFor(`document.querySelector(".history > .empty") && document.readyState === "complete"`)
	call = Must(v.Carla.Call(Within(t), v.Owner, simnet.CallOptions{}))(t)
	v.WaitFor(`document.querySelector(".day-part .event-line")?.innerText.includes("Incoming voice call")`)
	Must(0, call.HangUp(Within(t)))(t)
	v.WaitFor(`!document.querySelector(".ringing-call")`)
}

// An invitation by a message has a button that joins the group and leads to its chat. An invitation that was used
// already says that it is no longer valid.
func joinsByAnInvitation(t *testing.T, v Visited) {
	v.Resize(390, 844, true)
	v.Owner.AllowAdding("none")
	defer v.Owner.AllowAdding("all")
	group := NewGroup(t, v.Ben, simnet.GroupOptions{Subject: "Shoe friends", Members: []*simnet.Phone{v.Carla}})
	results := Must(v.Ben.Client().UpdateGroupParticipants(Within(t), group.JID(), []simnet.JID{v.Owner.PN()}, whatsmeow.ParticipantChangeAdd))(t)
	offer := results[0].AddRequest
	if offer == nil {
		t.Fatalf("adding the account: %+v", results)
	}
	Must(v.Ben.Send(Within(t), v.Owner.PN(), &waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{
		GroupJID: proto.String(group.JID().String()), InviteCode: &offer.Code, InviteExpiration: proto.Int64(offer.Expiration.Unix()),
		GroupName: proto.String("Shoe friends"), Caption: proto.String("Join us"),
	}}))(t)
	v.WantStored(v.Ben, "Shoe friends")
	v.OpenChat(v.Ben.PN())
	v.WantSeen(".card-part [form=join]")
	v.WantFit("an invitation")
	shoot(v.Browser, "invitation-390")
	v.ClickOn(".card-part [form=join]")
	v.WaitFor("location.pathname === " + JsString(Path("/console/chats/%s", group.JID())))
	if !slices.Contains(group.Members(), v.Owner.LID()) && !slices.Contains(group.Members(), v.Owner.PN()) {
		t.Errorf("the members are %v", group.Members())
	}
	if err := group.Remove(Within(t), v.Ben, v.Owner); err != nil {
		t.Fatal(err)
	}
	v.OpenChat(v.Ben.PN())
	v.ClickOn(".card-part [form=join]")
	v.WantOnPage("This invitation is no longer valid. Ask for a new one.")
	v.FaultsOf(http.StatusNotFound)
}
