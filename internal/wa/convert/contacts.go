package convert

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// The versions of entries in the account's address book.
const (
	contactVersion    = 2
	lidContactVersion = 1
)

// ContactFacts returns a change in the account's address book.
func ContactFacts(e *events.Contact) []bridge.Fact {
	name := cmp.Or(e.Action.GetFullName(), e.Action.GetFirstName())
	var facts []bridge.Fact
	if other := ParseJID(e.Action.GetLidJID()); other.IsLID() && JID(e.JID).Server() == bridge.ServerUser {
		facts = append(facts, bridge.Identity{PN: JID(e.JID), LID: other})
	}
	return append(facts, bridge.Contact{JID: JID(e.JID), Name: &name, Username: optional(e.Action.GetUsername())})
}

// NamePatch returns the change that saves a person's name in the account's address book: under the
// number if it is known, otherwise under the LID. For a removal only the index counts.
func NamePatch(person, lid types.JID, name bridge.ContactName) appstate.PatchInfo {
	entry := appstate.MutationInfo{Index: []string{appstate.IndexLIDContact, person.String()}, Version: lidContactVersion, Value: &waSyncAction.SyncActionValue{
		LidContactAction: &waSyncAction.LidContactAction{FullName: &name.Full, FirstName: &name.First, Username: name.Username},
	}}
	if person.Server == types.DefaultUserServer {
		action := &waSyncAction.ContactAction{
			FullName: &name.Full, FirstName: &name.First, PnJID: proto.String(person.String()), SaveOnPrimaryAddressbook: proto.Bool(true),
		}
		if lid.Server == types.HiddenUserServer {
			action.LidJID = proto.String(lid.String())
		}
		entry = appstate.MutationInfo{
			Index: []string{appstate.IndexContact, person.String()}, Version: contactVersion, Value: &waSyncAction.SyncActionValue{ContactAction: action},
		}
	}
	return appstate.PatchInfo{Type: appstate.WAPatchCriticalUnblockLow, Mutations: []appstate.MutationInfo{entry}}
}

// BlockFacts returns who was blocked or unblocked.
func BlockFacts(e *events.Blocklist) (facts []bridge.Fact) {
	for _, change := range e.Changes {
		if jid := JID(change.JID); jid.IsPerson() {
			facts = append(facts, bridge.Block{JID: jid, IsBlocked: change.Action == events.BlocklistChangeActionBlock})
		}
	}
	return facts
}

// LIDContactFacts returns a change in the address book of a person without a number, of
// which whatsmeow makes no event of its own.
func LIDContactFacts(index []string, value *waSyncAction.SyncActionValue) []bridge.Fact {
	action := value.GetLidContactAction()
	if len(index) < 2 || index[0] != appstate.IndexLIDContact || action == nil {
		return nil
	}
	jid, name, username := ParseJID(index[1]), cmp.Or(action.GetFullName(), action.GetFirstName()), action.GetUsername()
	if !jid.IsLID() {
		return nil
	}
	return []bridge.Fact{bridge.Contact{JID: jid, Name: &name, Username: &username}}
}

// AddressBook returns the people in the entries of the account's address book. Entries under numbers
// come last, because their names win.
func AddressBook(entries []appstate.Mutation) []bridge.Contact {
	var people, numbers []bridge.Contact
	for _, entry := range entries {
		for _, fact := range LIDContactFacts(entry.Index, entry.Action) {
			people = append(people, fact.(bridge.Contact))
		}
		action := entry.Action.GetContactAction()
		if len(entry.Index) < 2 || entry.Index[0] != appstate.IndexContact || action == nil {
			continue
		}
		jid, name := ParseJID(entry.Index[1]), cmp.Or(action.GetFullName(), action.GetFirstName())
		switch { // only the name, because the LID and the username may have changed since
		case jid.Server() == bridge.ServerUser:
			numbers = append(numbers, bridge.Contact{JID: jid, Name: &name})
		case jid.IsPerson():
			people = append(people, bridge.Contact{JID: jid, Name: &name})
		}
	}
	return append(people, numbers...)
}

// Contact converts a person in the session.
func Contact(jid types.JID, info types.ContactInfo) bridge.Contact {
	return bridge.Contact{
		JID: JID(jid), Name: optional(cmp.Or(info.FullName, info.FirstName)), PushName: optional(info.PushName),
		BusinessName: optional(info.BusinessName),
	}
}

// PeopleFacts returns the names and usernames in a part of the history.
func PeopleFacts(history *waHistorySync.HistorySync) (facts []bridge.Fact) {
	for _, name := range history.GetPushnames() {
		if jid, push := ParseJID(name.GetID()), name.GetPushname(); jid != "" && push != "" && push != "-" {
			facts = append(facts, bridge.Contact{JID: jid, PushName: &push})
		}
	}
	for _, contact := range history.GetInlineContacts() {
		jid := cmp.Or(ParseJID(contact.GetPnJID()), ParseJID(contact.GetLidJID()))
		facts = append(facts, nameFacts(jid, cmp.Or(contact.GetFullName(), contact.GetFirstName()))...)
		facts = append(facts, usernameFacts(jid, contact.GetUsername())...)
	}
	for _, account := range history.GetAccounts() {
		user, _, _ := strings.Cut(account.GetLid(), "@") // phones write it with or without the server
		jid := ParseJID(user + "@" + types.HiddenUserServer)
		if jid != "" && account.GetIsUsernameDeleted() {
			facts = append(facts, bridge.Contact{JID: jid, Username: new("")})
			continue
		}
		facts = append(facts, usernameFacts(jid, account.GetUsername())...)
	}
	return facts
}

func usernameFacts(jid bridge.JID, username string) []bridge.Fact {
	if !jid.IsPerson() || username == "" {
		return nil
	}
	return []bridge.Fact{bridge.Contact{JID: jid, Username: &username}}
}

func nameFacts(jid bridge.JID, name string) []bridge.Fact {
	if jid == "" || !isName(name) {
		return nil
	}
	return []bridge.Fact{bridge.ChatName{JID: jid, Name: name}}
}

// isName reports whether a chat's name is more than a number.
func isName(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune("+-() .\u00a0\u202a\u202c~", r) })
}

// ChatFacts returns the name and the timer of a chat. A group's timer comes
// from the network.
func ChatFacts(chat *waHistorySync.Conversation, now time.Time) []bridge.Fact {
	jid := ParseJID(chat.GetID())
	if !jid.IsPerson() && !jid.IsGroup() {
		return nil
	}
	facts := append(nameFacts(jid, cmp.Or(chat.GetName(), chat.GetDisplayName())), usernameFacts(jid, chat.GetUsername())...)
	set := settingTime(chat.GetEphemeralSettingTimestamp(), now)
	if jid.IsPerson() && (chat.GetEphemeralExpiration() > 0 || !set.IsZero()) {
		facts = append(facts, bridge.ChatTimer{Chat: jid, Seconds: chat.GetEphemeralExpiration(), SetAt: set, FromHistory: true})
	}
	return facts
}
