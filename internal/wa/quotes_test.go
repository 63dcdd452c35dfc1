package wa_test

import (
	"bytes"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// quotedBy waits for a message and returns what it quotes.
func (a *account) quotedBy(chat bridge.JID, id string) *bridge.Quoted {
	a.t.Helper()
	eventually(a.t, "message "+id, func() bool {
		_, err := a.store.Message(testContext(a.t), chat, id)
		return err == nil
	})
	return a.message(chat, id).Quoted
}

// answer sends a text that quotes another message, and returns what the store says it quotes.
func (a *account) answer(from *simnet.Phone, to types.JID, id string, options ...simnet.SendOption) *bridge.Quoted {
	a.t.Helper()
	if _, err := from.Send(testContext(a.t), to, keyed("an answer"), append(options, simnet.WithID(id))...); err != nil {
		a.t.Fatal(err)
	}
	chat := bridge.JID(to.String())
	if !chat.IsGroup() {
		chat = jidOf(from)
	}
	return a.quotedBy(chat, id)
}

// TestQuotes_OfWhatTheChatDoesNotHave show what the stanza carries, as its sender's claim:
// messages from before the pairing, a group's message that is answered in private, a status.
func TestQuotes_OfWhatTheChatDoesNotHave(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccountIn(t, network, t.TempDir())
	anna, ben := newPhone(t, network, "15550100301", "Anna"), newPhone(t, network, "15550100302", "Ben")
	group, err := anna.CreateGroup(ctx, simnet.GroupOptions{Subject: "Club", Members: []*simnet.Phone{a.phone, ben}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.phone.SendText(ctx, group.JID(), "who is coming?", simnet.WithID("G1")); err != nil {
		t.Fatal(err)
	}
	club, me, yes, no := bridge.JID(group.JID().String()), bridge.JID(a.phone.PN().String()), true, false
	eventually(t, "the group's message", func() bool { _, err := a.store.Message(ctx, club, "G1"); return err == nil })

	for name, c := range map[string]struct {
		options []simnet.SendOption
		want    bridge.Quoted
	}{
		"older than the pairing, own":  {[]simnet.SendOption{simnet.QuotingID("OLD1", a.phone.PN(), "lunch?")}, bridge.Quoted{MsgID: "OLD1", ChatJID: jidOf(anna), SenderJID: me, FromMe: &yes, Content: "lunch?"}},
		"older than the pairing":       {[]simnet.SendOption{simnet.QuotingID("OLD2", anna.LID(), "I said so")}, bridge.Quoted{MsgID: "OLD2", ChatJID: jidOf(anna), SenderJID: jidOf(anna), FromMe: &no, Content: "I said so"}},
		"a group's message in private": {[]simnet.SendOption{simnet.QuotingID("G1", a.phone.LID(), "who is coming?"), simnet.OfChat(group.JID())}, bridge.Quoted{MsgID: "G1", ChatJID: club, SenderJID: me, FromMe: &yes, Content: "who is coming?"}},
		"a status":                     {[]simnet.SendOption{simnet.QuotingID("S1", a.phone.PN(), "on holiday"), simnet.OfChat(types.StatusBroadcastJID)}, bridge.Quoted{MsgID: "S1", ChatJID: "status@broadcast", SenderJID: me, FromMe: &yes, Content: "on holiday"}},
		"a channel's post":             {[]simnet.SendOption{simnet.QuotingID("C1", ben.PN(), "news"), simnet.OfChat(types.NewJID("1203", types.NewsletterServer))}, bridge.Quoted{MsgID: "C1", SenderJID: jidOf(ben), FromMe: &no, Content: "news"}},
	} {
		got := a.answer(anna, a.phone.PN(), "A-"+c.want.MsgID, c.options...)
		if got == nil {
			t.Errorf("%s: quoted is null", name)
			continue
		}
		c.want.Origin, c.want.MessageType, c.want.PushName = bridge.QuoteEmbedded, bridge.TypeText, got.PushName
		checkQuoted(t, name, *got, c.want)
	}

	// Nothing says who wrote it: a LID that nobody here has.
	stranger := types.NewJID("990000000000077", types.HiddenUserServer)
	if got := a.answer(anna, a.phone.PN(), "A-OLD3", simnet.QuotingID("OLD3", stranger, "hm")); got == nil || got.SenderJID != bridge.JID(stranger.String()) {
		t.Errorf("by a stranger: %+v", got)
	}

	// The message of this chat is shown as stored, whatever the copy says.
	got := a.answer(ben, group.JID(), "A-G1", simnet.QuotingID("G1", a.phone.PN(), "a forged text"))
	if got == nil || got.Origin != bridge.QuoteStored || got.Content != "who is coming?" || got.ChatJID != club || !got.IsFromMe() || got.Timestamp == nil {
		t.Errorf("a stored message: %+v", got)
	}
	// An edit of the answer keeps the quote.
	if _, err := anna.Edit(ctx, a.phone.PN(), "A-S1", "edited"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the edit", func() bool { return a.message(jidOf(anna), "A-S1").Content == "edited" })
	if got := a.message(jidOf(anna), "A-S1").Quoted; got == nil || got.Content != "on holiday" || got.ChatJID != "status@broadcast" {
		t.Errorf("after the edit: %+v", got)
	}
}

func checkQuoted(t *testing.T, name string, got, want bridge.Quoted) {
	t.Helper()
	if got.FromMe == nil || want.FromMe == nil || *got.FromMe != *want.FromMe {
		t.Errorf("%s: fromMe is %v", name, got.FromMe)
	}
	got.FromMe, want.FromMe = nil, nil
	if got != want {
		t.Errorf("%s: got %+v, want %+v", name, got, want)
	}
}

// TestQuotes_AreErasedWithTheMessage that they name, in whichever chat they are, also if it
// is not stored, and if they come after its deletion.
func TestQuotes_AreErasedWithTheMessage(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccountIn(t, network, t.TempDir())
	anna, ben := newPhone(t, network, "15550100301", "Anna"), newPhone(t, network, "15550100302", "Ben")
	group, err := anna.CreateGroup(ctx, simnet.GroupOptions{Subject: "Club", Members: []*simnet.Phone{a.phone, ben}})
	if err != nil {
		t.Fatal(err)
	}
	club := bridge.JID(group.JID().String())
	if _, err := anna.SendText(ctx, group.JID(), "the secret", simnet.WithID("G1")); err != nil {
		t.Fatal(err)
	}
	quoting := []simnet.SendOption{simnet.QuotingID("G1", anna.PN(), "the secret"), simnet.OfChat(group.JID())}
	if got := a.answer(ben, a.phone.PN(), "B1", quoting...); got == nil || got.Content != "the secret" {
		t.Fatalf("before: %+v", got)
	}
	if got := a.answer(ben, a.phone.PN(), "B2", simnet.QuotingID("OLD1", ben.PN(), "an old secret")); got == nil || got.Content != "an old secret" {
		t.Fatalf("before: %+v", got)
	}
	if got := a.answer(ben, a.phone.PN(), "B3", simnet.QuotingID("OLD2", a.phone.PN(), "an own one")); got == nil || got.Content != "an own one" {
		t.Fatalf("before: %+v", got)
	}
	if _, err := anna.Revoke(ctx, group.JID(), "G1"); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"OLD1", "OLD2"} {
		if _, err := ben.Revoke(ctx, a.phone.PN(), old); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the deletion", func() bool { return a.message(club, "G1").DeletedAt != nil })
	erased := func(id string) bool {
		m := a.message(jidOf(ben), id)
		return m.Quoted != nil && m.Quoted.Content == "" && m.Quoted.MessageType == bridge.TypeUnknown && !contains(m.Raw, "secret")
	}
	eventually(t, "the copies are erased", func() bool { return erased("B1") && erased("B2") })
	if got := a.message(jidOf(ben), "B3").Quoted; got.Content != "an own one" {
		t.Errorf("only its author deletes a message: %+v", got)
	}
	a.answer(ben, a.phone.PN(), "B4", quoting...)
	a.answer(ben, a.phone.PN(), "B5", simnet.QuotingID("OLD1", ben.PN(), "an old secret"))
	if !erased("B4") || !erased("B5") {
		t.Errorf("quotes after the deletion: %+v, %+v", a.message(jidOf(ben), "B4").Quoted, a.message(jidOf(ben), "B5").Quoted)
	}
	// The quote of a message that was deleted in its own chat shows it as deleted.
	if got := a.answer(ben, group.JID(), "B6", simnet.QuotingID("G1", anna.PN(), "the secret")); got == nil || got.DeletedAt == nil || got.Content != "" {
		t.Errorf("in the same chat: %+v", got)
	}
}

func contains(raw []byte, text string) bool { return bytes.Contains(raw, []byte(text)) }
