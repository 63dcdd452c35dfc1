package session

import (
	"maps"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// usernamesLogged returns the usernames in the stanzas logged so far.
func (l *recordedLog) usernamesLogged() map[bridge.JID]string {
	found := make(map[bridge.JID]string)
	for _, line := range l.all() {
		if node, ok := received("/"+line.module, line.args); ok {
			maps.Copy(found, usernamesIn(node))
		}
	}
	return found
}

// TestQuirk_StanzasAreLoggedBeforeTheyAreHandled, messages and answers alike, as
// nodes and not as texts.
func TestQuirk_StanzasAreLoggedBeforeTheyAreHandled(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.friend.SetUsername("sam.s")
	type handled struct {
		id     string
		logged map[bridge.JID]string
	}
	inHandler := make(chan handled, 64) // the phone's own messages are among them
	c.handleWith(func(id string) bool {
		inHandler <- handled{id, c.log.usernamesLogged()}
		return true
	})
	id, message := c.say(t, "hello"), handled{}
	for message.id != id {
		message = await(t, inHandler)
	}
	if got := message.logged[convert.JID(c.friend.PN())]; got != "sam.s" {
		t.Errorf("when the message is handled the username is %q", got)
	}
	c.log.forget()
	if _, err := c.IsOnWhatsApp(plainContext(t), []string{"+" + c.friend.Number()}); err != nil {
		t.Fatal(err)
	}
	if got := c.log.usernamesLogged()[convert.JID(c.friend.LID())]; got != "sam.s" {
		t.Errorf("when the answer is there the username is %q", got)
	}
}

// TestQuirk_TheAddressBookOfLIDsIsInEventsAndCanBeReadWhole: a change comes as a
// generic event, a whole sync without any.
func TestQuirk_TheAddressBookOfLIDsIsInEventsAndCanBeReadWhole(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx, lid := plainContext(t), types.NewJID("100000000000001", types.HiddenUserServer)
	changes := make(chan *events.AppState, 64)
	c.AddEventHandler(func(evt any) {
		if e, ok := evt.(*events.AppState); ok {
			changes <- e
		}
	})
	version := func() uint64 {
		t.Helper()
		version, _, err := c.Store.AppState.GetAppStateVersion(ctx, "critical_unblock_low")
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	enter := func(username string) {
		t.Helper()
		if err := c.phone.SetLIDContact(ctx, lid, "Dora Dee", username); err != nil {
			t.Fatal(err)
		}
	}
	enter("dora") // the first of the collection: a whole sync, without events
	waitFor(t, "the first sync", func() bool { return version() == 1 })
	enter("dora.d")
	var facts []bridge.Fact
	for len(facts) == 0 {
		e := await(t, changes)
		facts = convert.LIDContactFacts(e.Index, e.SyncActionValue)
	}
	if contact := facts[0].(bridge.Contact); contact.JID != convert.JID(lid) || *contact.Name != "Dora Dee" || *contact.Username != "dora.d" {
		t.Errorf("the change says %+v", contact)
	}
	whole, err := clientOf(c).AddressBook(ctx)
	if err != nil || len(whole.People) != 1 || *whole.People[0].Username != "dora.d" {
		t.Errorf("the address book is %+v, %v", whole, err)
	}
	if version() != 2 {
		t.Errorf("reading it has left whatsmeow at version %d", version())
	}
}

func TestUsernamesIn_WhateverShapeTheStanzaHas(t *testing.T) {
	anna, dora := types.NewJID("100000000000001", types.HiddenUserServer), types.NewADJID("4915100000301", 0, 7)
	club := types.NewJID("120363000000000001", types.GroupServer)
	type node = waBinary.Node
	type attrs = waBinary.Attrs
	for name, test := range map[string]struct {
		stanza node
		want   map[bridge.JID]string
	}{
		"a private message":    {node{Tag: "message", Attrs: attrs{"from": anna, "username": "anna"}}, map[bridge.JID]string{convert.JID(anna): "anna"}},
		"of a device":          {node{Tag: "message", Attrs: attrs{"from": dora, "username": "dora"}}, map[bridge.JID]string{convert.JID(dora): "dora"}},
		"in a group":           {node{Tag: "message", Attrs: attrs{"from": club, "participant": anna, "participant_username": "anna", "username": "club"}}, map[bridge.JID]string{convert.JID(anna): "anna"}},
		"an own message":       {node{Tag: "message", Attrs: attrs{"from": dora, "recipient": anna, "recipient_username": "anna"}}, map[bridge.JID]string{convert.JID(anna): "anna"}},
		"an own one's peer":    {node{Tag: "message", Attrs: attrs{"from": dora, "recipient": anna, "peer_recipient_username": "anna"}}, map[bridge.JID]string{convert.JID(anna): "anna"}},
		"nothing is named":     {node{Tag: "message", Attrs: attrs{"from": anna}}, nil},
		"given up":             {node{Tag: "iq", Content: []node{{Tag: "user", Attrs: attrs{"jid": anna}, Content: []node{{Tag: "username"}}}}}, map[bridge.JID]string{convert.JID(anna): ""}},
		"as text":              {node{Tag: "iq", Content: []node{{Tag: "user", Attrs: attrs{"jid": anna}, Content: []node{{Tag: "username", Content: "12345"}}}}}, map[bridge.JID]string{convert.JID(anna): "12345"}},
		"of nobody":            {node{Tag: "iq", Content: []node{{Tag: "user", Content: []node{{Tag: "username", Content: []byte("x")}}}}}, nil},
		"members":              {node{Tag: "notification", Content: []node{{Tag: "add", Content: []node{{Tag: "participant", Attrs: attrs{"jid": anna, "username": "anna"}}, {Tag: "participant", Attrs: attrs{"jid": dora, "participant_username": "dora"}}}}}}, map[bridge.JID]string{convert.JID(anna): "anna", convert.JID(dora): "dora"}},
		"a group's founder":    {node{Tag: "iq", Content: []node{{Tag: "group", Attrs: attrs{"creator": anna, "creator_username": "anna", "s_o": dora, "s_o_username": "dora"}}}}, map[bridge.JID]string{convert.JID(anna): "anna", convert.JID(dora): "dora"}},
		"no text":              {node{Tag: "message", Attrs: attrs{"from": anna, "username": 5}}, nil},
		"a JID for a name":     {node{Tag: "message", Attrs: attrs{"from": anna, "username": dora}}, nil},
		"a text for a JID":     {node{Tag: "message", Attrs: attrs{"from": anna.String(), "username": "anna"}}, nil},
		"another kind":         {node{Tag: "receipt", Attrs: attrs{"from": anna, "username": "anna"}}, nil},
		"content of no kind":   {node{Tag: "iq", Content: 7}, nil},
		"a username of a kind": {node{Tag: "iq", Content: []node{{Tag: "user", Attrs: attrs{"jid": anna}, Content: []node{{Tag: "username", Content: []node{{Tag: "x"}}}}}}}, map[bridge.JID]string{convert.JID(anna): ""}},
	} {
		if got := usernamesIn(&test.stanza); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestLIDContactFacts_OfHostileIndexes(t *testing.T) {
	action := &waSyncAction.SyncActionValue{LidContactAction: &waSyncAction.LidContactAction{FullName: proto.String("Dora")}}
	for _, index := range [][]string{nil, {"lid_contact"}, {"lid_contact", ""}, {"lid_contact", "nonsense"}, {"lid_contact", "4915100000301@s.whatsapp.net"}, {"contact", "100000000000001@lid"}} {
		if facts := convert.LIDContactFacts(index, action); facts != nil {
			t.Errorf("%q: %+v", index, facts)
		}
	}
	if facts := convert.LIDContactFacts([]string{"lid_contact", "100000000000001@lid"}, nil); facts != nil {
		t.Errorf("without a value: %+v", facts)
	}
}
