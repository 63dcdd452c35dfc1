package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// Each type of event is a line for people, and an object for programs.
func TestPrintEvent(t *testing.T) {
	t.Parallel()
	const grace, club = bridge.JID("15557654321@s.whatsapp.net"), bridge.JID("120363025246125486@g.us")
	known := names{grace: "Grace\x1b[2J", club: "Readers"}
	at, read, why := bridge.At(noon), bridge.DeliveryRead, "no network"
	said := bridge.Message{ID: "M1", PushName: "Alan", Content: "two\nlines", Timestamp: at}
	own := bridge.Message{ID: "M2", FromMe: true, Content: "mine", Status: &read}
	for want, e := range map[string]bridge.Event{
		"12:00  Alan in Readers  two lines\n":                                                   {Type: bridge.EventMessageCreated, ChatJID: club, Message: &said},
		"12:00  Grace\\x1b[2J  changed: two lines\n":                                            {Type: bridge.EventMessageUpdated, ChatJID: grace, Message: &said},
		"12:00  Alan in Readers  edited: two lines\n":                                           {Type: bridge.EventMessageUpdated, ChatJID: club, Message: &said, Changes: bridge.EventChanges{Fields: []bridge.MessageField{bridge.ChangedContent, bridge.ChangedEdited}}},
		"12:00  Alan in Readers  deleted: two lines\n":                                          {Type: bridge.EventMessageUpdated, ChatJID: club, Message: &said, Changes: bridge.EventChanges{Fields: []bridge.MessageField{bridge.ChangedContent, bridge.ChangedDeleted}}},
		"12:00  me to Readers  Grace\\x1b[2J reacted 👍: mine\n":                                 {Type: bridge.EventMessageUpdated, ChatJID: club, Message: &own, Reactions: []bridge.MessageReaction{{SenderJID: grace, Emoji: "👍"}}},
		"12:00  me to Readers  Grace\\x1b[2J took a reaction back: mi…\n":                       {Type: bridge.EventMessageUpdated, ChatJID: club, Message: &own, Reactions: []bridge.MessageReaction{{SenderJID: grace}}},
		"12:00  me to Readers  Grace\\x1b[2J voted: mine\n":                                     {Type: bridge.EventMessageUpdated, ChatJID: club, Message: &own, Voters: []bridge.JID{grace}},
		"12:00  me to Readers  read: mine\n":                                                    {Type: bridge.EventMessageStatus, ChatJID: club, Message: &own},
		"12:00  Readers  the chat has changed: 3 unread\n":                                      {Type: bridge.EventChatUpdated, ChatJID: club, Chat: &bridge.Chat{JID: club, Name: "Readers", UnreadCount: 3}},
		"12:00  Readers  the group has changed: 1 people\n":                                     {Type: bridge.EventGroupUpdated, ChatJID: club, Group: &bridge.StoredGroup{Group: bridge.Group{Name: "Readers", Participants: make([]bridge.Participant, 1)}}},
		"12:00  Grace\\x1b[2J  video call: answered elsewhere\n":                                {Type: bridge.EventCallUpdated, ChatJID: grace, Call: &bridge.Call{FromJID: grace, IsVideo: true, State: bridge.CallAnsweredElsewhere}},
		"12:00  Readers  Grace\\x1b[2J asks to join\n":                                          {Type: bridge.EventGroupUpdated, ChatJID: club, Group: &bridge.StoredGroup{Group: bridge.Group{Name: "Readers"}}, JoinRequests: &bridge.JoinRequestChange{Created: []bridge.JoinRequest{{JID: grace}}}},
		"12:00  account  closed: no network\n":                                                  {Type: bridge.EventAccountStatus, Status: &bridge.Status{Status: bridge.StateClosed, LastError: &why}},
		"Some events were deleted before they could be read. From here on there are no gaps.\n": {Type: bridge.EventReset},
		"12:00  Alan in Readers  a text that is too long for the ter…\n":                        {Type: bridge.EventMessageCreated, ChatJID: club, Message: &bridge.Message{PushName: "Alan", Content: "a text that is too long for the terminal"}},
	} {
		e.At = at
		s, out := onTerminal(60)
		if err := s.printEvent(t.Context(), known, e); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s: -want +got\n%s", e.Type, diff)
		}
	}
	for want, e := range map[string]bridge.Event{
		`{"type":"reset"}` + "\n": {Type: bridge.EventReset},
		`{"id":7,"type":"account.status","timestamp":"2026-11-21T09:00:00.000Z","chatJid":null,"status":{"status":"open","hasSession":true,"user":null,"pairingCode":null,` +
			`"pairingCodeExpiresAt":null,"lastError":null,"since":"2026-11-21T09:00:00.000Z","qr":null,"passkey":null,` +
			`"newChats":null,"securityNotice":null,"catchingUp":null,"clientVersion":{"current":"","expiresAt":null},"pausedUntil":null}}` + "\n": {
			ID: 7, Type: bridge.EventAccountStatus, At: at, Status: &bridge.Status{Status: bridge.StateOpen, HasSession: true, Since: at},
		},
	} {
		s, out := onTerminal(60)
		s.JSON = true
		if err := s.printEvent(t.Context(), known, e); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("as JSON: -want +got\n%s", diff)
		}
	}
}
