package simnet_test

import (
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

// pair returns a network with an account, its companion and one contact.
func pair(t *testing.T) (n *simnet.Network, own, anna *simnet.Phone, c *companion) {
	t.Helper()
	n = newNetwork(t)
	own, anna = newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c = newCompanion(t, n)
	c.pair(own)
	return n, own, anna, c
}

func TestMessages_ComeInTheFormTheSenderChose(t *testing.T) {
	_, own, anna, c := pair(t)
	mustSend(t, anna, own.PN(), "to the number")
	if m := c.text("to the number"); m.Info.Sender != anna.PN() || m.Info.SenderAlt != anna.LID() || m.Info.PushName != "Anna" {
		t.Errorf("to the number: %+v", m.Info)
	}
	mustSend(t, anna, own.LID(), "to the LID")
	if m := c.text("to the LID"); m.Info.Sender != anna.LID() || m.Info.SenderAlt != anna.PN() {
		t.Errorf("to the LID: %+v", m.Info)
	}
	mustSend(t, anna, own.PN(), "to the number as LID", simnet.AsLID())
	if m := c.text("to the number as LID"); m.Info.Chat != anna.LID() {
		t.Errorf("as LID: %+v", m.Info)
	}
}

func TestMessages_OfABusinessBearItsVerifiedName(t *testing.T) {
	n, own, _, c := pair(t)
	shop, err := n.NewPhone(within(t), simnet.PhoneOptions{Number: "4915100000009", Name: "Shop", Business: true})
	if err != nil {
		t.Fatal(err)
	}
	mustSend(t, shop, own.PN(), "sale!")
	if m := c.text("sale!"); m.Info.VerifiedName == nil || m.Info.VerifiedName.Details.GetVerifiedName() != "Shop" {
		t.Errorf("verified name %+v", m.Info.VerifiedName)
	}
}

func TestMessages_OwnOnesComeFromMe(t *testing.T) {
	_, own, anna, c := pair(t)
	mustSend(t, own, anna.PN(), "by number")
	if m := c.text("by number"); !m.Info.IsFromMe || m.Info.Chat != anna.PN() || m.Info.RecipientAlt != anna.LID() || m.Info.Sender != own.PN() {
		t.Errorf("by number: %+v", m.Info)
	}
	mustSend(t, own, anna.LID(), "by LID")
	if m := c.text("by LID"); !m.Info.IsFromMe || m.Info.Chat != anna.LID() || m.Info.RecipientAlt != anna.PN() {
		t.Errorf("by LID: %+v", m.Info)
	}
	mustReceive(t, anna, "by LID")
}

func TestMessages_AnswersAreDecryptedWhicheverWayTheyAreAddressed(t *testing.T) {
	_, _, anna, c := pair(t)
	for _, to := range []types.JID{anna.PN(), anna.LID()} {
		text := "to " + to.Server
		id := c.send(to, text)
		r := mustReceive(t, anna, text)
		if r.Info.ID != id || r.Info.Sender != c.device.LID() || r.Info.SenderAlt != c.device.JID() {
			t.Errorf("%s: %+v", text, r.Info)
		}
	}
}

func TestMessages_WithheldMappingIsLearnedLate(t *testing.T) {
	_, own, anna, c := pair(t)
	anna.WithholdMapping(true)
	mustSend(t, anna, own.LID(), "who am I?")
	if m := c.text("who am I?"); m.Info.Chat != anna.LID() || !m.Info.SenderAlt.IsEmpty() {
		t.Errorf("withheld: %+v", m.Info)
	}
	anna.WithholdMapping(false)
	mustSend(t, anna, own.LID(), "it is me")
	if m := c.text("it is me"); m.Info.SenderAlt != anna.PN() {
		t.Errorf("revealed: %+v", m.Info)
	}
}

func TestMessages_EveryKindArrives(t *testing.T) {
	_, own, anna, c := pair(t)
	first := mustSend(t, anna, own.PN(), "first")
	c.text("first")
	id := func(id types.MessageID, err error) types.MessageID {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	kinds := []struct {
		name string
		id   types.MessageID
		ok   func(*waE2E.Message) bool
	}{
		{"quote", mustSend(t, anna, own.PN(), "quote", simnet.QuotingID(first, anna.PN(), "first")), func(m *waE2E.Message) bool {
			info := m.GetExtendedTextMessage().GetContextInfo()
			return info.GetStanzaID() == first && info.GetParticipant() == anna.PN().String() && info.GetQuotedMessage().GetConversation() == "first"
		}},
		{"mention", mustSend(t, anna, own.PN(), "@4915100000001", simnet.Mentioning(own.PN())), func(m *waE2E.Message) bool {
			return slices.Equal(m.GetExtendedTextMessage().GetContextInfo().GetMentionedJID(), []string{own.PN().String()})
		}},
		{"reaction", id(anna.ReactTo(within(t), own.PN(), anna.PN(), first, "👍")), func(m *waE2E.Message) bool {
			return m.GetReactionMessage().GetText() == "👍" && m.GetReactionMessage().GetKey().GetID() == first
		}},
		{"edit", id(anna.Edit(within(t), own.PN(), first, "edited")), func(m *waE2E.Message) bool {
			return m.GetProtocolMessage().GetEditedMessage().GetConversation() == "edited"
		}},
		{"revocation", id(anna.Revoke(within(t), own.PN(), first)), func(m *waE2E.Message) bool {
			return m.GetProtocolMessage().GetType() == waE2E.ProtocolMessage_REVOKE && m.GetProtocolMessage().GetKey().GetID() == first
		}},
		{"location", id(anna.SendLocation(within(t), own.PN(), 52.5, 13.4, "Café", "Street 1")), func(m *waE2E.Message) bool {
			return m.GetLocationMessage().GetDegreesLatitude() == 52.5 && m.GetLocationMessage().GetName() == "Café"
		}},
		{"contact", id(anna.SendContacts(within(t), own.PN(), []simnet.Card{simnet.NewCard("Ben", "+49 151 3")})), func(m *waE2E.Message) bool {
			return m.GetContactMessage().GetDisplayName() == "Ben"
		}},
		{"contacts", id(anna.SendContacts(within(t), own.PN(), []simnet.Card{simnet.NewCard("Ben", "1"), simnet.NewCard("Cem", "2")})), func(m *waE2E.Message) bool {
			return len(m.GetContactsArrayMessage().GetContacts()) == 2
		}},
		{"poll", id(anna.SendPoll(within(t), own.PN(), "Where?", []string{"here", "there"}, 1)), func(m *waE2E.Message) bool {
			poll := m.GetPollCreationMessage()
			return poll.GetName() == "Where?" && len(poll.GetOptions()) == 2 && poll.GetSelectableOptionsCount() == 1
		}},
		{"forwarded", mustSend(t, anna, own.PN(), "chain letter", simnet.Forwarded(5)), func(m *waE2E.Message) bool {
			return m.GetExtendedTextMessage().GetContextInfo().GetForwardingScore() == 5
		}},
		{"ephemeral", mustSend(t, anna, own.PN(), "gone soon", simnet.Ephemeral(86400)), func(m *waE2E.Message) bool {
			return m.GetExtendedTextMessage().GetContextInfo().GetExpiration() == 86400
		}},
	}
	for _, kind := range kinds {
		m := await(c, func(m *events.Message) bool { return m.Info.ID == kind.id })
		if !kind.ok(m.Message) {
			t.Errorf("%s arrived as %v", kind.name, m.Message)
		}
	}
}

func TestMessages_ViewOnceMayBeHiddenFromCompanions(t *testing.T) {
	_, own, anna, c := pair(t)
	id, err := anna.SendImage(within(t), own.PN(), simnet.Media{Data: []byte("once")}, simnet.HiddenViewOnce())
	if err != nil {
		t.Fatal(err)
	}
	if e := await[*events.UndecryptableMessage](c, nil); e.Info.ID != id || e.UnavailableType != events.UnavailableTypeViewOnce {
		t.Errorf("undecryptable %+v", e)
	}
	if _, err = own.ReceivedID(within(t), id); err != nil {
		t.Errorf("the phone: %v", err)
	}
}

func TestMessages_MayBeOfThePast(t *testing.T) {
	_, own, anna, c := pair(t)
	then := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	mustSend(t, anna, own.PN(), "long ago", simnet.At(then))
	if m := c.text("long ago"); !m.Info.Timestamp.Equal(then) {
		t.Errorf("time %v, want %v", m.Info.Timestamp, then)
	}
}

func TestMessages_PollVoteIsReadable(t *testing.T) {
	_, _, anna, c := pair(t)
	poll := c.cli.BuildPollCreation("Where?", []string{"here", "there"}, 1)
	resp, err := c.cli.SendMessage(within(t), anna.PN(), poll)
	if err != nil {
		t.Fatal(err)
	}
	r, err := anna.ReceivedID(within(t), resp.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = anna.Vote(within(t), r, []string{"there"}); err != nil {
		t.Fatal(err)
	}
	m := await(c, func(m *events.Message) bool { return m.Message.GetPollUpdateMessage() != nil })
	vote, err := c.cli.DecryptPollVote(within(t), m)
	if err != nil || len(vote.GetSelectedOptions()) != 1 {
		t.Errorf("vote %v: %v", vote, err)
	}
}

func TestReceipts_GoToTheSendersDevices(t *testing.T) {
	_, own, anna, c := pair(t)
	id := c.send(anna.PN(), "have you got this?")
	r := mustReceive(t, anna, "have you got this?")
	receipt := await(c, func(e *events.Receipt) bool {
		return slices.Contains(e.MessageIDs, id) && e.Type == types.ReceiptTypeDelivered
	})
	if receipt.Sender.User != anna.LID().User {
		t.Errorf("delivered to %s", receipt.Sender)
	}
	if err := anna.MarkRead(within(t), r); err != nil {
		t.Fatal(err)
	}
	await(c, func(e *events.Receipt) bool {
		return slices.Contains(e.MessageIDs, id) && e.Type == types.ReceiptTypeRead
	})
	if err := anna.MarkPlayed(within(t), r); err != nil {
		t.Fatal(err)
	}
	await(c, func(e *events.Receipt) bool {
		return slices.Contains(e.MessageIDs, id) && e.Type == types.ReceiptTypePlayed
	})

	mustSend(t, anna, own.PN(), "read me")
	m := c.text("read me")
	r = mustReceive(t, own, "read me")
	if err := own.MarkRead(within(t), r); err != nil {
		t.Fatal(err)
	}
	mine := await(c, func(e *events.Receipt) bool { return e.IsFromMe && slices.Contains(e.MessageIDs, m.Info.ID) })
	if mine.Chat != anna.PN() {
		t.Errorf("read on the own phone in chat %s, want %s", mine.Chat, anna.PN())
	}
	if _, err := anna.WaitReceipt(within(t), m.Info.ID, types.ReceiptTypeRead); err != nil {
		t.Errorf("the contact hears of it: %v", err)
	}
}

func TestReceipts_TheClientReadsManyAtOnce(t *testing.T) {
	_, own, anna, c := pair(t)
	ids := []types.MessageID{mustSend(t, anna, own.PN(), "one"), mustSend(t, anna, own.PN(), "two")}
	c.text("two")
	if err := c.cli.MarkRead(within(t), ids, time.Now(), anna.PN(), anna.PN()); err != nil {
		t.Fatal(err)
	}
	receipt, err := anna.WaitReceipt(within(t), ids[1], types.ReceiptTypeRead)
	if err != nil || len(receipt.MessageIDs) != 2 {
		t.Errorf("receipt %+v: %v", receipt, err)
	}
}

func TestTyping_IsSeen(t *testing.T) {
	_, own, anna, c := pair(t)
	if err := c.cli.SendPresence(within(t), types.PresenceAvailable); err != nil { // else only phones are told
		t.Fatal(err)
	}
	if _, err := c.cli.GetUserInfo(within(t), []types.JID{anna.PN()}); err != nil { // its answer comes once the server knows
		t.Fatal(err)
	}
	if err := anna.Typing(within(t), own.PN(), true); err != nil {
		t.Fatal(err)
	}
	if state := await[*events.ChatPresence](c, nil); state.State != types.ChatPresenceComposing || state.Chat != anna.PN() {
		t.Errorf("typing: %+v", state)
	}
}

func TestPresence_IsToldToSubscribers(t *testing.T) {
	_, _, anna, c := pair(t)
	if err := c.cli.SubscribePresence(within(t), anna.LID()); err != nil {
		t.Fatal(err)
	}
	// After another query the server is sure to have the subscription.
	if _, err := c.cli.GetUserInfo(within(t), []types.JID{anna.PN()}); err != nil {
		t.Fatal(err)
	}
	for _, available := range []bool{true, false} {
		if err := anna.SetPresence(within(t), available); err != nil {
			t.Fatal(err)
		}
		if e := await[*events.Presence](c, nil); e.From != anna.LID() || e.Unavailable == available {
			t.Errorf("presence %+v, want available %v", e, available)
		}
	}
}

func TestStatus_ReachesThoseInTheAddressBook(t *testing.T) {
	_, own, anna, c := pair(t)
	if err := anna.SetContact(within(t), own.Number(), "Owner", "Owner"); err != nil {
		t.Fatal(err)
	}
	mustSend(t, anna, types.StatusBroadcastJID, "on holiday")
	if m := c.text("on holiday"); m.Info.Chat != types.StatusBroadcastJID || m.Info.Sender.User != anna.PN().User {
		t.Errorf("status %+v", m.Info)
	}
}

func TestAnsweringContact_MaySendFromItsHandler(t *testing.T) {
	_, _, anna, c := pair(t)
	ctx, answered := within(t), make(chan error, 1)
	anna.OnMessage(func(p *simnet.Phone, r *simnet.Received) {
		_, err := p.SendText(ctx, r.Info.Chat, "you said: "+r.Text(), simnet.Quoting(r))
		answered <- err
	})
	id := c.send(anna.PN(), "ping")
	m := c.text("you said: ping")
	if err := <-answered; err != nil {
		t.Errorf("answer: %v", err)
	}
	if got := m.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID(); got != id {
		t.Errorf("quotes %s, want %s", got, id)
	}
}

func TestIsOnWhatsApp(t *testing.T) {
	_, _, anna, c := pair(t)
	found, err := c.cli.IsOnWhatsApp(within(t), []string{"+" + anna.Number(), "+4915199999999"})
	if err != nil || len(found) != 2 {
		t.Fatalf("%v: %v", found, err)
	}
	if !found[0].IsIn || found[0].JID != anna.LID() || found[0].PhoneNumber != anna.PN() {
		t.Errorf("known number: %+v", found[0])
	}
	if found[1].IsIn {
		t.Errorf("unknown number: %+v", found[1])
	}
	_, err = c.cli.SendMessage(within(t), types.NewJID("4915199999999", types.DefaultUserServer), &waE2E.Message{Conversation: proto.String("hello?")})
	if err == nil {
		t.Error("a message to an unknown number was sent")
	}
}
