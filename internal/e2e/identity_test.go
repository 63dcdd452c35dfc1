package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"bridged/internal/bridge"
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
	c := pairedCast(t)
	for _, order := range [][2]form{{byNumber, byLID}, {byLID, byNumber}} {
		t.Run(order[0].name+" first", func(t *testing.T) {
			person := newPhone(t, c.network, simnet.PhoneOptions{Number: fmt.Sprintf("4915100001%02d", len(order[0].name)), Name: "Dora"})
			first := say(t, person, c.owner.PN(), "first", order[0].as)
			second := say(t, person, c.owner.PN(), "second", order[1].as)
			own := say(t, c.owner, order[0].jid(person), "third")
			must(person.ReceivedID(within(t), own))(t)
			want := history(person.PN(), []object{
				ownMessage(own, c.owner, "conversation", "third", bridge.DeliveryDelivered),
				message(second, person, "conversation", "second"), message(first, person, "conversation", "first"),
			})
			c.bridge.answers(path("/api/messages/individual/%s", person.PN()), want)
			c.bridge.answers(path("/api/messages/individual/%s", person.LID()), want)
			c.bridge.answers("/api/chats?q="+person.Number(), chats(privateChat(person, "Dora")))
		})
	}
}

// stranger returns a person with two identities not linked yet.
func (c *cast) stranger(t *testing.T, number, name string) *simnet.Phone {
	t.Helper()
	person := newPhone(t, c.network, simnet.PhoneOptions{Number: number, Name: name})
	person.WithholdMapping(true)
	return person
}

// known returns a message's sender while only one identity is known.
func (f form) known(p *simnet.Phone) object {
	return object{"senderJid": f.jid(p).String(), "senderLid": f.lid(p)}
}

func TestIdentity_MappingLearnedLateMakesOneChatOfTwo(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	for i, order := range [][2]form{{byNumber, byLID}, {byLID, byNumber}} {
		t.Run(order[0].name+" first", func(t *testing.T) {
			dora := c.stranger(t, fmt.Sprintf("49151000020%d", i), "Dora")
			ids := map[string]simnet.MessageID{}
			for _, f := range order {
				ids[f.name] = say(t, dora, f.jid(c.owner), "by "+f.name, f.as)
				b.answers(path("/api/messages/individual/%s", f.jid(dora)),
					history(f.jid(dora), []object{message(ids[f.name], dora, "conversation", "by "+f.name, f.known(dora))}))
			}
			b.answers("/api/chats?q="+order[0].jid(dora).User, chats(with(privateChat(dora, "Dora"), object{"jid": order[0].jid(dora).String(), "lid": order[0].lid(dora)})))

			dora.WithholdMapping(false)
			last := say(t, dora, order[0].jid(c.owner), "it is me", order[0].as)
			want := history(dora.PN(), []object{
				message(last, dora, "conversation", "it is me"),
				message(ids[order[1].name], dora, "conversation", "by "+order[1].name),
				message(ids[order[0].name], dora, "conversation", "by "+order[0].name),
			})
			b.answers(path("/api/messages/individual/%s", dora.PN()), want)
			b.answers(path("/api/messages/individual/%s", dora.LID()), want)
			b.answers("/api/chats?q="+dora.Number(), chats(privateChat(dora, "Dora")))
			b.answers("/api/chats?q="+dora.LID().User, chats(privateChat(dora, "Dora")))

			// Either form works as a destination and means the same chat.
			for _, to := range []simnet.JID{dora.PN(), dora.LID()} {
				var sent struct{ ChatJID bridge.JID }
				b.Post("/api/messages/send", object{"jid": to.String(), "text": "hello Dora", "quotedMsgId": ids[byLID.name]}).Want(http.StatusOK).Decode(&sent)
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
	c := pairedCast(t)
	b := c.bridge
	dora := c.stranger(t, "491510000301", "Dora")
	group := newGroup(t, c.owner, simnet.GroupOptions{Subject: "Strangers", Members: []*simnet.Phone{c.anna, dora}})
	messages := path("/api/groups/%s/messages?order=asc", group.JID())

	first := say(t, dora, group.JID(), "nobody knows my number")
	quote := say(t, c.anna, group.JID(), "so you say", simnet.QuotingID(first, dora.LID(), "nobody knows my number"))
	hail := "@" + dora.LID().User + ", is it true?"
	hailed := say(t, c.anna, group.JID(), hail, simnet.Mentioning(dora.LID()))
	poll := must(c.anna.SendPoll(within(t), group.JID(), "True?", []string{"yes", "no"}, 1))(t)
	received := must(dora.ReceivedID(within(t), poll))(t)
	must(dora.Vote(within(t), received, []string{"no"}))(t)
	must(dora.React(within(t), received, "🤐"))(t)

	told := func(dorasJID simnet.JID) []object {
		jid := dorasJID.String()
		return []object{
			message(first, dora, "conversation", "nobody knows my number", object{"senderJid": jid}),
			message(quote, c.anna, "extendedTextMessage", "so you say", object{"contextInfo": refersTo(first, jid)},
				quoted(group.JID(), message(first, dora, "conversation", "nobody knows my number", object{"senderJid": jid}))),
			message(hailed, c.anna, "extendedTextMessage", hail, object{"contextInfo": refersTo(nil, nil, with(mention(dora, "@"+dora.LID().User), object{"jid": jid}))}),
			message(poll, c.anna, "pollCreationMessage", "True?", object{
				"reactions": []object{with(reaction(dora, "🤐"), object{"senderJid": jid})},
				"poll": object{"name": "True?", "selectableCount": 1, "options": []object{
					{"name": "yes", "votes": 0, "voters": []string{}, "addedBy": nil}, {"name": "no", "votes": 1, "voters": []string{jid}, "addedBy": nil},
				}},
			}),
		}
	}
	asc := object{"order": "asc"}
	b.answers(messages, history(group.JID(), told(dora.LID()), asc))
	b.answers(messages+"&sender="+url.QueryEscape(dora.LID().String()), history(group.JID(), told(dora.LID())[:1], asc, object{"sender": dora.LID().String()}))
	b.answers("/api/messages/search?q=nobody+knows", matches("nobody knows", match(group.JID(), told(dora.LID())[0])))
	hasMember(t, b, group, with(member(dora, "Dora"), object{"jid": dora.LID().String()}))

	dora.WithholdMapping(false)
	own := say(t, dora, c.owner.PN(), "my number at last", simnet.AsNumber())
	b.answers(path("/api/messages/individual/%s", dora.PN()), history(dora.PN(), []object{message(own, dora, "conversation", "my number at last")}))
	b.answers(messages, history(group.JID(), told(dora.PN()), asc))
	for _, sender := range []simnet.JID{dora.PN(), dora.LID()} {
		b.answers(messages+"&sender="+url.QueryEscape(sender.String()), history(group.JID(), told(dora.PN())[:1], asc, object{"sender": dora.PN().String()}))
	}
	b.answers("/api/messages/search?q=nobody+knows", matches("nobody knows", match(group.JID(), told(dora.PN())[0])))
	hasMember(t, b, group, member(dora, "Dora"))

	// Changes that name the person in either form find her messages.
	must(dora.Edit(within(t), group.JID(), first, "everybody knows my number"))(t)
	edited := told(dora.PN())
	edited[0] = with(edited[0], object{"content": "everybody knows my number", "editedAt": recent})
	edited[1] = with(edited[1], quoted(group.JID(), edited[0]))
	b.answers(messages, history(group.JID(), edited, asc))
}

// hasMember waits until a group lists a member exactly once, stored and live.
func hasMember(t *testing.T, b *process, group *simnet.Group, want object) {
	t.Helper()
	eventually(t, func() error {
		var answer struct{ Stored, Live *bridge.Group }
		b.Get(path("/api/groups/%s", group.JID())).Want(http.StatusOK).Decode(&answer)
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
	c := pairedCast(t)
	b := c.bridge
	dora := c.stranger(t, "491510000401", "Dora")
	group := newGroup(t, c.owner, simnet.GroupOptions{Subject: "By number", Members: []*simnet.Phone{c.anna, dora}, ByNumber: true})
	messages := path("/api/groups/%s/messages", group.JID())
	first := say(t, dora, group.JID(), "hello")
	b.answers(messages, history(group.JID(), []object{message(first, dora, "conversation", "hello", object{"senderLid": nil})}))

	dora.WithholdMapping(false)
	second := say(t, dora, c.owner.LID(), "and hello again", simnet.AsLID())
	b.answers(path("/api/messages/individual/%s", dora.LID()), history(dora.PN(), []object{message(second, dora, "conversation", "and hello again")}))
	b.answers(messages, history(group.JID(), []object{message(first, dora, "conversation", "hello")}))
	hasMember(t, b, group, member(dora, "Dora"))
	b.restart()
	b.becomes(bridge.StateOpen)
	b.answers(messages, history(group.JID(), []object{message(first, dora, "conversation", "hello")}))
}
