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

	"bridged/internal/bridge"
)

// ContactFacts returns a change in the account's address book.
func ContactFacts(e *events.Contact) []bridge.Fact {
	name := e.Action.GetFullName()
	if name == "" {
		name = e.Action.GetFirstName()
	}
	var facts []bridge.Fact
	if other := ParseJID(e.Action.GetLidJID()); other.IsLID() && JID(e.JID).Server() == bridge.ServerUser {
		facts = append(facts, bridge.Identity{PN: JID(e.JID), LID: other})
	}
	contact := bridge.Contact{JID: JID(e.JID), Name: &name}
	if username := e.Action.GetUsername(); username != "" {
		contact.Username = &username
	}
	return append(facts, contact)
}

// LIDContactFacts returns what the account's address book says of a person without
// a number, of which whatsmeow makes no event of its own.
func LIDContactFacts(index []string, value *waSyncAction.SyncActionValue) []bridge.Fact {
	action := value.GetLidContactAction()
	if len(index) < 2 || index[0] != appstate.IndexLIDContact || action == nil {
		return nil
	}
	jid, name, username := ParseJID(index[1]), action.GetFullName(), action.GetUsername()
	if !jid.IsLID() {
		return nil
	}
	if name == "" {
		name = action.GetFirstName()
	}
	return []bridge.Fact{bridge.Contact{JID: jid, Name: &name, Username: &username}}
}

func Contact(jid types.JID, info types.ContactInfo) bridge.Contact {
	contact := bridge.Contact{JID: JID(jid)}
	if name := cmp.Or(info.FullName, info.FirstName); name != "" {
		contact.Name = &name
	}
	if name := info.PushName; name != "" {
		contact.PushName = &name
	}
	if name := info.BusinessName; name != "" {
		contact.BusinessName = &name
	}
	return contact
}

func PushNameFacts(name *waHistorySync.Pushname) []bridge.Fact {
	jid, push := ParseJID(name.GetID()), name.GetPushname()
	if jid == "" || push == "" || push == "-" {
		return nil
	}
	return []bridge.Fact{bridge.Contact{JID: jid, PushName: &push}}
}

func InlineContactFacts(contact *waHistorySync.InlineContact) []bridge.Fact {
	jid := ParseJID(contact.GetPnJID())
	if jid == "" {
		jid = ParseJID(contact.GetLidJID())
	}
	name := contact.GetFullName()
	if name == "" {
		name = contact.GetFirstName()
	}
	return append(nameFacts(jid, name), usernameFacts(jid, contact.GetUsername())...)
}

// AccountFacts returns the username of a person whom the phone knows by LID.
func AccountFacts(account *waHistorySync.Account) []bridge.Fact {
	user, _, _ := strings.Cut(account.GetLid(), "@") // phones write it with or without the server
	jid := ParseJID(user + "@" + types.HiddenUserServer)
	if gone := ""; jid != "" && account.GetIsUsernameDeleted() {
		return []bridge.Fact{bridge.Contact{JID: jid, Username: &gone}}
	}
	return usernameFacts(jid, account.GetUsername())
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

// isName reports whether what a phone shows for a chat is more than a number.
func isName(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune("+-() .\u00a0\u202a\u202c~", r) })
}

// ChatFacts returns the name and the timer of a chat. A group's timer is told
// by the network.
func ChatFacts(chat *waHistorySync.Conversation, now time.Time) []bridge.Fact {
	jid := ParseJID(chat.GetID())
	if !jid.IsPerson() && !jid.IsGroup() {
		return nil
	}
	name := chat.GetName()
	if name == "" {
		name = chat.GetDisplayName()
	}
	facts := append(nameFacts(jid, name), usernameFacts(jid, chat.GetUsername())...)
	set := settingTime(chat.GetEphemeralSettingTimestamp(), now)
	if jid.IsPerson() && (chat.GetEphemeralExpiration() > 0 || !set.IsZero()) {
		facts = append(facts, bridge.ChatTimer{Chat: jid, Seconds: chat.GetEphemeralExpiration(), SetAt: set, FromHistory: true})
	}
	return facts
}
