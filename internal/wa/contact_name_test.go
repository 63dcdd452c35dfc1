package wa_test

import (
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// saves saves a name and checks what phone and store show.
func (a *account) saves(jid bridge.JID, name bridge.ContactName) {
	a.t.Helper()
	ctx := testContext(a.t)
	if err := a.manager.SaveName(ctx, jid, name); err != nil {
		a.t.Fatal(err)
	}
	wire, err := types.ParseJID(string(jid))
	if err != nil {
		a.t.Fatal(err)
	}
	if full, first, err := a.phone.Contact(ctx, wire); err != nil || full != name.Full || first != name.First {
		a.t.Errorf("the phone has %q, %q (%v), want %+v", full, first, err, name)
	}
	if contact, err := a.store.Contact(ctx, jid); err != nil || contact.Name != name.Full || contact.IsSaved != (name.Full != "") {
		a.t.Errorf("stored %+v, %v, want %+v", contact, err, name)
	}
}

// TestSaveName_ShowsOnThePhone: a name is saved, changed and removed, of a person with a chat and of
// one who was named by the phone.
func TestSaveName_ShowsOnThePhone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	a.receive(friend, a.phone.PN(), jidOf(friend), "hello")
	if err := a.phone.SetContact(ctx, other.Number(), "Kim Known", "Kim"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the phone's name", func() bool {
		contact, err := a.store.Contact(ctx, jidOf(other))
		return err == nil && contact.Name == "Kim Known"
	})
	for _, jid := range []bridge.JID{jidOf(friend), jidOf(other)} {
		a.saves(jid, bridge.ContactName{Full: "Alex Beispiel", First: "Alex"})
		a.saves(jid, bridge.ContactName{Full: "Alex Example", First: "A."})
		a.saves(jid, bridge.ContactName{})
		a.saves(jid, bridge.ContactName{}) // removes nothing
		a.saves(jid, bridge.ContactName{Full: "Back Again", First: "Back"})
	}
	if chat := a.chatWith(friend); chat.Name != "Back Again" {
		t.Errorf("the chat is named %q", chat.Name)
	}
	// The state is whole: the phone's next change arrives.
	if err := a.phone.SetContact(ctx, friend.Number(), "By the Phone", "By"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the phone's next name", func() bool { return a.chatWith(friend).Name == "By the Phone" })
}

// TestSaveName_OfAPersonWithoutANumber keeps the username in the entry.
func TestSaveName_OfAPersonWithoutANumber(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	lid := types.NewJID("100000000000001", types.HiddenUserServer)
	for _, username := range []string{"dora", "dora.d"} { // the first of the collection is a whole sync
		if err := a.phone.SetLIDContact(ctx, lid, "Dora Dee", username); err != nil {
			t.Fatal(err)
		}
	}
	jid := bridge.JID(lid.String())
	is := func(name string) bool {
		contact, err := a.store.Contact(ctx, jid)
		return err == nil && contact.Name == name && contact.Username != nil && *contact.Username == "dora.d"
	}
	eventually(t, "the phone's name", func() bool { return is("Dora Dee") })
	a.saves(jid, bridge.ContactName{Full: "Dora Dora", First: "Dora", Username: new("dora.d")})
	if err := network.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if !is("Dora Dora") {
		contact, err := a.store.Contact(ctx, jid)
		t.Errorf("stored %+v, %v", contact, err)
	}
	a.saves(jid, bridge.ContactName{})
}

// TestSaveName_StoresWhatWasAccepted: a refused change changes nothing, and a lost answer is asked
// for again.
func TestSaveName_StoresWhatWasAccepted(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.receive(friend, a.phone.PN(), jidOf(friend), "hello")
	a.device().FailQueries(simnet.IQFault{Within: "patch", Code: 400, Text: "bad-request", Times: 1})
	err := a.manager.SaveName(testContext(t), jidOf(friend), bridge.ContactName{Full: "Sam Smith", First: "Sam"})
	if bridge.CodeOf(err) != bridge.CodeSendRefused || a.chatWith(friend).Name == "Sam Smith" {
		t.Errorf("refused: %v, stored %q", err, a.chatWith(friend).Name)
	}
	for _, name := range []bridge.ContactName{{Full: "Sam Smith", First: "Sam"}, {}} {
		a.device().FailQueries(simnet.IQFault{Within: "patch", LoseAnswer: true, HangUp: true, Times: 1})
		a.saves(jidOf(friend), name)
	}
}
