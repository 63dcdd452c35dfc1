package wa_test

import (
	"errors"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// newStranger returns a person without a number.
func newStranger(t *testing.T, network *simnet.Network, number, name, username string) *simnet.Phone {
	t.Helper()
	phone, err := network.NewPhone(testContext(t), simnet.PhoneOptions{Number: number, Name: name, Username: username, Numberless: true})
	if err != nil {
		t.Fatal(err)
	}
	return phone
}

func lidOf(p *simnet.Phone) bridge.JID { return bridge.JID(p.LID().String()) }

// username returns a person's stored username, or "" for null.
func (a *account) username(of bridge.JID) string {
	a.t.Helper()
	contact, err := a.store.Contact(testContext(a.t), of)
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		a.t.Fatal(err)
	}
	return textOf(contact.Username)
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// hear makes a person write, and checks that the first page with the message also
// shows the author's username.
func (a *account) hear(from *simnet.Phone, to simnet.JID, chat bridge.JID, text, name, username string) {
	a.t.Helper()
	if _, err := from.SendText(testContext(a.t), to, text); err != nil {
		a.t.Fatal(err)
	}
	var found bridge.Message
	eventually(a.t, text, func() bool {
		for _, m := range a.messages(chat) {
			if m.Content == text {
				found = m
			}
		}
		return found.ID != ""
	})
	if found.SenderJID != lidOf(from) || found.PushName != name || textOf(found.SenderUsername) != username {
		a.t.Errorf("%q is by %s, %q, username %q; want %s, %q, %q", text, found.SenderJID, found.PushName, textOf(found.SenderUsername), lidOf(from), name, username)
	}
}

// TestUsernames_AreLearnedFromEverySource: in the history and the address book
// of a new session, with messages of others and own ones, as members of groups, in
// answers about numbers, and when the address book changes.
func TestUsernames_AreLearnedFromEverySource(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	owner := newPhone(t, network, accountNumber, "Alex")
	stranger := func(number, name string) *simnet.Phone {
		return newStranger(t, network, "4915100003"+number, name, strings.ToLower(name)+".x")
	}
	dora, eve, fay, gil, hana, ivo := stranger("01", "Dora"), stranger("02", "Eve"), stranger("03", "Fay"), stranger("04", "Gil"), stranger("05", "Hana"), stranger("06", "Ivo")
	june, err := network.NewPhone(ctx, simnet.PhoneOptions{Number: "491510000307", Name: "June", Username: "june.x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.SetLIDContact(ctx, dora.LID(), "Dora Dee", "dora.x"); err != nil {
		t.Fatal(err)
	}
	owner.SetPast(simnet.Past{With: eve.LID(), Name: "Eve"})
	group, err := owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "Strangers", Members: []*simnet.Phone{fay, hana}})
	if err != nil {
		t.Fatal(err)
	}
	a := startAccount(t, network, t.TempDir())
	a.phone = owner
	a.pair()
	knows := func(where string, jid bridge.JID, want string) {
		t.Helper()
		eventually(t, "the username "+want+" from "+where, func() bool { return a.username(jid) == want })
	}
	knows("the address book", lidOf(dora), "dora.x")
	if contact, err := a.store.Contact(ctx, lidOf(dora)); err != nil || contact.Name != "Dora Dee" || !contact.IsSaved || contact.Phone != nil {
		t.Errorf("of the address book: %+v, %v", contact, err)
	}
	knows("the history", lidOf(eve), "eve.x")
	knows("the group", lidOf(hana), "hana.x")

	a.hear(fay, owner.LID(), lidOf(fay), "to you alone", "Fay", "fay.x")
	a.hear(fay, group.JID(), bridge.JID(group.JID().String()), "to all", "Fay", "fay.x")
	if _, err := owner.SendText(ctx, gil.LID(), "from the phone"); err != nil {
		t.Fatal(err)
	}
	knows("an own message", lidOf(gil), "gil.x")
	if _, err := a.manager.CheckNumbers(ctx, []string{june.Number()}); err != nil {
		t.Fatal(err)
	}
	knows("the answer about a number", jidOf(june), "june.x") // another save may have included it
	if err := owner.SetLIDContact(ctx, ivo.LID(), "Ivo Ix", "ivo.x"); err != nil {
		t.Fatal(err)
	}
	knows("a change of the address book", lidOf(ivo), "ivo.x")
}

// TestUsernames_ChangeAndAreTakenAway: a new one replaces the old one, another
// person may get it, and the address book and the network report that it was given
// up.
func TestUsernames_ChangeAndAreTakenAway(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	a := newAccount(t, network)
	fay, gil := newStranger(t, network, "491510000401", "Fay", "fay"), newStranger(t, network, "491510000402", "Gil", "")
	june, err := network.NewPhone(ctx, simnet.PhoneOptions{Number: "491510000403", Name: "June", Username: "june"})
	if err != nil {
		t.Fatal(err)
	}
	a.hear(fay, a.phone.LID(), lidOf(fay), "first", "Fay", "fay")
	a.hear(gil, a.phone.LID(), lidOf(gil), "nameless", "Gil", "")
	fay.SetUsername("fay.2")
	a.hear(fay, a.phone.LID(), lidOf(fay), "renamed", "Fay", "fay.2")
	for _, m := range a.messages(lidOf(fay)) {
		if textOf(m.SenderUsername) != "fay.2" {
			t.Errorf("%q is by %q", m.Content, textOf(m.SenderUsername))
		}
	}
	gil.SetUsername("fay.2") // the network has taken it from Fay without a notification
	a.hear(gil, a.phone.LID(), lidOf(gil), "now mine", "Gil", "fay.2")
	if got := a.username(lidOf(fay)); got != "" {
		t.Errorf("two people have the username %q", got)
	}
	gil.SetUsername("")
	if err := a.phone.SetLIDContact(ctx, gil.LID(), "Gil", ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "that the username is gone", func() bool { return a.username(lidOf(gil)) == "" })

	check := func(want string) {
		t.Helper()
		if _, err := a.manager.CheckNumbers(ctx, []string{june.Number()}); err != nil {
			t.Fatal(err)
		}
		if got := a.username(jidOf(june)); got != want {
			t.Errorf("the answer about a number says %q, want %q", got, want)
		}
	}
	june.SetUsername("")
	if _, err := june.SendText(ctx, a.phone.LID(), "hello"); err != nil {
		t.Fatal(err)
	}
	check("")
}

// TestUsernames_InvalidOnesAreDropped: an invalid username is dropped, not cut,
// because a part of it may be another person's. Its message is stored.
func TestUsernames_InvalidOnesAreDropped(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	fay := newStranger(t, network, "491510000501", "Fay", "fay")
	a.hear(fay, a.phone.LID(), lidOf(fay), "first", "Fay", "fay")
	for text, name := range map[string]string{
		"long": strings.Repeat("x", 65), "huge": strings.Repeat("y", 1<<16), "lines": "mum\nmother", "bidi": "mum\u202e", "spaces": "my mum", "no text": "a\xff",
	} {
		fay.SetUsername(name)
		a.hear(fay, a.phone.LID(), lidOf(fay), text, "Fay", "fay")
	}
	for _, name := range []string{strings.Repeat("x", 64), "fáy_3.x", "12345"} {
		fay.SetUsername(name)
		a.hear(fay, a.phone.LID(), lidOf(fay), "as "+name, "Fay", name)
	}
}

// TestUsernames_WaitForTheStore: usernames from a stanza that comes while the store
// fails are stored with the message when it comes again.
func TestUsernames_WaitForTheStore(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	fay := newStranger(t, network, "491510000601", "Fay", "fay")
	a.fault.Set(errors.New("disk full"))
	if _, err := fay.SendText(testContext(t), a.phone.LID(), "while it fails"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal", func() bool { return a.manager.Status().Status != bridge.StateOpen })
	a.fault.Set(nil)
	var page []bridge.Message
	eventually(t, "the message", func() bool {
		page = a.messages(lidOf(fay))
		return len(page) > 0
	})
	if len(page) != 1 || textOf(page[0].SenderUsername) != "fay" {
		t.Errorf("got %+v", page)
	}
}
