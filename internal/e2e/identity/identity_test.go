package identity

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// A person has two identities, a phone number and a LID. In these tests a person
// appears under both, in either order, and the bridge learns early or late that
// they belong together.

// form is the identity under which a person appears.
type form struct {
	name string
	as   simnet.SendOption
	jid  func(*simnet.Phone) simnet.JID
	lid  func(*simnet.Phone) any // the LID in the API's form, while the mapping is unknown
}

var (
	byNumber = form{"number", simnet.AsNumber(), (*simnet.Phone).PN, func(*simnet.Phone) any { return nil }}
	byLID    = form{"LID", simnet.AsLID(), (*simnet.Phone).LID, func(p *simnet.Phone) any { return p.LID().String() }}
)

func TestIdentity_BothFormsAreOneChat(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	for _, order := range [][2]form{{byNumber, byLID}, {byLID, byNumber}} {
		t.Run(order[0].name+" first", func(t *testing.T) {
			person := NewPhone(t, c.Network, simnet.PhoneOptions{Number: fmt.Sprintf("4915100001%02d", len(order[0].name)), Name: "Dora"})
			first := Say(t, person, c.Owner.PN(), "first", order[0].as)
			second := Say(t, person, c.Owner.PN(), "second", order[1].as)
			own := Say(t, c.Owner, order[0].jid(person), "third")
			Must(person.ReceivedID(Within(t), own))(t)
			want := History(person.PN(), []Object{
				OwnMessage(own, c.Owner, "conversation", "third", bridge.DeliveryDelivered),
				Message(second, person, "conversation", "second"), Message(first, person, "conversation", "first"),
			})
			c.Bridge.Answers(Path("/api/messages/individual/%s", person.PN()), want)
			c.Bridge.Answers(Path("/api/messages/individual/%s", person.LID()), want)
			c.Bridge.Answers("/api/chats?q="+person.Number(), Chats(PrivateChat(person, "Dora")))
		})
	}
}

// stranger returns a person with two identities not linked yet.
func stranger(c *Cast, t *testing.T, number, name string) *simnet.Phone {
	t.Helper()
	person := NewPhone(t, c.Network, simnet.PhoneOptions{Number: number, Name: name})
	person.WithholdMapping(true)
	return person
}

// known returns a message's sender while only one identity is known.
func (f form) known(p *simnet.Phone) Object {
	return Object{"senderJid": f.jid(p).String(), "senderLid": f.lid(p)}
}

func TestIdentity_MappingLearnedLateMakesOneChatOfTwo(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	for i, order := range [][2]form{{byNumber, byLID}, {byLID, byNumber}} {
		t.Run(order[0].name+" first", func(t *testing.T) {
			dora := stranger(c, t, fmt.Sprintf("49151000020%d", i), "Dora")
			ids := map[string]simnet.MessageID{}
			for _, f := range order {
				ids[f.name] = Say(t, dora, f.jid(c.Owner), "by "+f.name, f.as)
				b.Answers(Path("/api/messages/individual/%s", f.jid(dora)),
					History(f.jid(dora), []Object{Message(ids[f.name], dora, "conversation", "by "+f.name, f.known(dora))}))
			}
			b.Answers("/api/chats?q="+order[0].jid(dora).User, Chats(With(PrivateChat(dora, "Dora"), Object{"jid": order[0].jid(dora).String(), "lid": order[0].lid(dora)})))

			dora.WithholdMapping(false)
			last := Say(t, dora, order[0].jid(c.Owner), "it is me", order[0].as)
			want := History(dora.PN(), []Object{
				Message(last, dora, "conversation", "it is me"),
				Message(ids[order[1].name], dora, "conversation", "by "+order[1].name),
				Message(ids[order[0].name], dora, "conversation", "by "+order[0].name),
			})
			b.Answers(Path("/api/messages/individual/%s", dora.PN()), want)
			b.Answers(Path("/api/messages/individual/%s", dora.LID()), want)
			b.Answers("/api/chats?q="+dora.Number(), Chats(PrivateChat(dora, "Dora")))
			b.Answers("/api/chats?q="+dora.LID().User, Chats(PrivateChat(dora, "Dora")))

			// Either form works as a destination and means the same chat.
			for _, to := range []simnet.JID{dora.PN(), dora.LID()} {
				var sent struct{ ChatJID bridge.JID }
				b.Post("/api/messages/send", Object{"jid": to.String(), "text": "hello Dora", "quotedMsgId": ids[byLID.name]}).Want(http.StatusOK).Decode(&sent)
				if sent.ChatJID != bridge.JID(dora.PN().String()) {
					t.Errorf("sent to %s: chat %s, want %s", to, sent.ChatJID, dora.PN())
				}
			}
		})
	}
}

// Once the mapping is known, everything from before names the phone number: quotes,
// mentions, reactions, votes and members.
func TestIdentity_EverythingSaidBeforeNamesTheNumberAfterwards(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	dora := stranger(c, t, "491510000301", "Dora")
	group := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Strangers", Members: []*simnet.Phone{c.Anna, dora}})
	messages := Path("/api/groups/%s/messages?order=asc", group.JID())

	first := Say(t, dora, group.JID(), "nobody knows my number")
	quote := Say(t, c.Anna, group.JID(), "so you say", simnet.QuotingID(first, dora.LID(), "nobody knows my number"))
	hail := "@" + dora.LID().User + ", is it true?"
	hailed := Say(t, c.Anna, group.JID(), hail, simnet.Mentioning(dora.LID()))
	poll := Must(c.Anna.SendPoll(Within(t), group.JID(), "True?", []string{"yes", "no"}, 1))(t)
	received := Must(dora.ReceivedID(Within(t), poll))(t)
	Must(dora.Vote(Within(t), received, []string{"no"}))(t)
	Must(dora.React(Within(t), received, "🤐"))(t)

	told := func(dorasJID simnet.JID) []Object {
		jid := dorasJID.String()
		return []Object{
			Message(first, dora, "conversation", "nobody knows my number", Object{"senderJid": jid}),
			Message(quote, c.Anna, "extendedTextMessage", "so you say", Object{"contextInfo": RefersTo(first, jid)},
				Quoted(group.JID(), Message(first, dora, "conversation", "nobody knows my number", Object{"senderJid": jid}))),
			Message(hailed, c.Anna, "extendedTextMessage", hail, Object{"contextInfo": RefersTo(nil, nil, With(Mention(dora, "@"+dora.LID().User), Object{"jid": jid}))}),
			Message(poll, c.Anna, "pollCreationMessage", "True?", Object{
				"reactions": []Object{With(Reaction(dora, "🤐"), Object{"senderJid": jid})},
				"poll": Object{"name": "True?", "selectableCount": 1, "options": []Object{
					{"name": "yes", "votes": 0, "voters": []string{}, "addedBy": nil}, {"name": "no", "votes": 1, "voters": []string{jid}, "addedBy": nil},
				}},
			}),
		}
	}
	asc := Object{"order": "asc"}
	b.Answers(messages, History(group.JID(), told(dora.LID()), asc))
	b.Answers(messages+"&sender="+url.QueryEscape(dora.LID().String()), History(group.JID(), told(dora.LID())[:1], asc, Object{"sender": dora.LID().String()}))
	b.Answers("/api/messages/search?q=nobody+knows", Matches("nobody knows", Match(group.JID(), told(dora.LID())[0])))
	hasMember(t, b, group, With(Member(dora, "Dora"), Object{"jid": dora.LID().String()}))

	dora.WithholdMapping(false)
	own := Say(t, dora, c.Owner.PN(), "my number at last", simnet.AsNumber())
	b.Answers(Path("/api/messages/individual/%s", dora.PN()), History(dora.PN(), []Object{Message(own, dora, "conversation", "my number at last")}))
	b.Answers(messages, History(group.JID(), told(dora.PN()), asc))
	for _, sender := range []simnet.JID{dora.PN(), dora.LID()} {
		b.Answers(messages+"&sender="+url.QueryEscape(sender.String()), History(group.JID(), told(dora.PN())[:1], asc, Object{"sender": dora.PN().String()}))
	}
	b.Answers("/api/messages/search?q=nobody+knows", Matches("nobody knows", Match(group.JID(), told(dora.PN())[0])))
	hasMember(t, b, group, Member(dora, "Dora"))

	// Changes that name the person in either form find her messages.
	Must(dora.Edit(Within(t), group.JID(), first, "everybody knows my number"))(t)
	edited := told(dora.PN())
	edited[0] = With(edited[0], Object{"content": "everybody knows my number", "editedAt": Recent})
	edited[1] = With(edited[1], Quoted(group.JID(), edited[0]))
	b.Answers(messages, History(group.JID(), edited, asc))
}

// hasMember waits until a group lists a member exactly once, stored and live.
func hasMember(t *testing.T, b *Process, group *simnet.Group, want Object) {
	t.Helper()
	Eventually(t, func() error {
		var answer struct{ Stored, Live *bridge.Group }
		b.Get(Path("/api/groups/%s", group.JID())).Want(http.StatusOK).Decode(&answer)
		for name, g := range map[string]*bridge.Group{"stored": answer.Stored, "live": answer.Live} {
			if g == nil {
				return fmt.Errorf("%s is null", name)
			}
			found := 0
			for _, p := range g.Participants {
				if string(p.JID) == want["jid"] && string(p.LID) == fmt.Sprint(want["lid"]) && p.DisplayName == want["displayName"] {
					found++
				}
			}
			if found != 1 || len(g.Participants) != len(group.Members()) {
				return fmt.Errorf("%s has %+v, want %v once among %d", name, g.Participants, want, len(group.Members()))
			}
		}
		return nil
	})
}

// In a group that addresses members by number, the LID comes late.
func TestIdentity_LIDLearnedLate(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	dora := stranger(c, t, "491510000401", "Dora")
	group := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "By number", Members: []*simnet.Phone{c.Anna, dora}, ByNumber: true})
	messages := Path("/api/groups/%s/messages", group.JID())
	first := Say(t, dora, group.JID(), "hello")
	b.Answers(messages, History(group.JID(), []Object{Message(first, dora, "conversation", "hello", Object{"senderLid": nil})}))

	dora.WithholdMapping(false)
	second := Say(t, dora, c.Owner.LID(), "and hello again", simnet.AsLID())
	b.Answers(Path("/api/messages/individual/%s", dora.LID()), History(dora.PN(), []Object{Message(second, dora, "conversation", "and hello again")}))
	b.Answers(messages, History(group.JID(), []Object{Message(first, dora, "conversation", "hello")}))
	hasMember(t, b, group, Member(dora, "Dora"))
	b.Restart()
	b.Becomes(bridge.StateOpen)
	b.Answers(messages, History(group.JID(), []Object{Message(first, dora, "conversation", "hello")}))
}
