package evolution

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/webhook/format"
)

// posted returns the posts of an event to a webhook, each by its event's name.
func posted(t *testing.T, w bridge.Webhook, e bridge.Event) map[string]format.Post {
	t.Helper()
	w.URL, e.At = "https://flow.example/webhook/evo", morning
	own := format.Account{User: &bridge.User{JID: owner, PushName: "Ada"}, State: bridge.StateOpen}
	posts, err := Format{Instance: "bridged", Base: "https://bridge.example/evolution"}.Posts(format.Delivery{Webhook: w, ID: "evt_1", Event: e, Own: own, Now: time.Unix(1000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]format.Post{}
	for _, p := range posts {
		var shown struct{ Event string }
		if err := json.Unmarshal(slices.Concat(p.Body, p.Tail), &shown); err != nil {
			t.Fatalf("%s: %v", p.Body, err)
		}
		byName[shown.Event] = p
	}
	return byName
}

func eventOf(kind bridge.EventType, m bridge.Message) bridge.Event {
	return bridge.Event{Type: kind, ChatJID: m.Chat, Message: &m}
}

// Each event of the bridge becomes the events of Evolution that flows read.
func TestFormat_PostsWhatFlowsRead(t *testing.T) {
	read := bridge.DeliveryRead
	mine := with(said(bridge.TypeText, "yes"), func(m *bridge.Message) { m.FromMe, m.SenderJID, m.Status = true, owner, &read })
	typed := with(mine, func(m *bridge.Message) { m.ID = "AC0102" })
	deleted := with(said(bridge.TypeText, ""), func(m *bridge.Message) { m.DeletedAt = &morning })
	poll := with(said("pollCreationMessageV3", "When?"), func(m *bridge.Message) {
		m.Poll = &bridge.PollTally{Name: "When?", Options: []bridge.PollOption{{Name: "now", Voters: []bridge.JID{sofia}}, {Name: "later"}}}
	})
	changed := func(m bridge.Message, fields ...bridge.MessageField) bridge.Event {
		e := eventOf(bridge.EventMessageUpdated, m)
		e.Changes.Fields = fields
		return e
	}
	reacted := changed(mine, bridge.ChangedReactions)
	reacted.Reactions = []bridge.MessageReaction{{SenderJID: sofia, Emoji: "", Timestamp: morning}}
	voted := changed(poll, bridge.ChangedPoll)
	voted.Voters = []bridge.JID{sofia}
	inWalks := func(c bridge.GroupChanges) bridge.Event {
		return bridge.Event{Type: bridge.EventGroupUpdated, Group: &bridge.StoredGroup{Group: bridge.Group{JID: "1203@g.us"}}, Changes: bridge.EventChanges{Group: &c}}
	}
	for name, test := range map[string]struct {
		event bridge.Event
		want  map[string][]string // parts of the body, by the event's name
	}{
		"a text":                   {eventOf(bridge.EventMessageCreated, said(bridge.TypeText, "Hi!")), map[string][]string{"messages.upsert": {`"conversation":"Hi!"`, `"pushName":"Sofía"`, `"remoteJidAlt":"222222222222222@lid"`, `"sender":"15550001111@s.whatsapp.net"`, `"server_url":"https://bridge.example/evolution"`, `"apikey":null`, `"instance":"bridged"`}}},
		"one sent through the API": {eventOf(bridge.EventMessageCreated, mine), map[string][]string{"messages.upsert": {`"fromMe":true`}, "send.message": {`"conversation":"yes"`}}},
		"one typed on the phone":   {eventOf(bridge.EventMessageCreated, typed), map[string][]string{"messages.upsert": {`"fromMe":true`}}},
		"read":                     {eventOf(bridge.EventMessageStatus, mine), map[string][]string{"messages.update": {`"status":"READ"`, `"keyId":"3EB0A1"`}}},
		"a reaction, removed":      {reacted, map[string][]string{"messages.upsert": {`"messageType":"reactionMessage"`, `"text":""`}}},
		"a vote":                   {voted, map[string][]string{"messages.update": {`"pollUpdates":[{"name":"now","voters":["34600100101@s.whatsapp.net"]}`}}},
		"an edit":                  {changed(said(bridge.TypeText, "new"), bridge.ChangedContent, bridge.ChangedEdited), map[string][]string{"messages.edited": {`"editedMessage":{"conversation":"new"}`}}},
		"a deletion":               {changed(deleted, bridge.ChangedContent, bridge.ChangedDeleted), map[string][]string{"messages.delete": {`"id":"3EB0A1"`}, "messages.update": {`"status":"DELETED"`}}},
		"not decrypted":            {eventOf(bridge.EventMessageCreated, said(bridge.TypeUndecryptable, "")), map[string][]string{}},
		"decrypted later":          {changed(said(bridge.TypeText, "at last"), bridge.ChangedContent, bridge.ChangedType), map[string][]string{"messages.upsert": {`"conversation":"at last"`}}},
		"edited and deleted":       {changed(deleted, bridge.ChangedContent, bridge.ChangedEdited), map[string][]string{}},
		"a pin":                    {changed(mine, bridge.ChangedPinned), map[string][]string{}},
		"connected":                {bridge.Event{Type: bridge.EventAccountStatus, Status: &bridge.Status{Status: bridge.StateOpen, User: &bridge.User{JID: owner, PushName: "Ada"}}}, map[string][]string{"connection.update": {`"state":"open"`, `"statusReason":200`, `"profileName":"Ada"`}}},
		"unlinked":                 {bridge.Event{Type: bridge.EventAccountStatus, Status: &bridge.Status{Status: bridge.StateNeedsPair}}, map[string][]string{"connection.update": {`"state":"close"`, `"statusReason":401`}}},
		"a test":                   {bridge.Event{Type: format.Test}, map[string][]string{"connection.update": {`"state":"open"`}}},
		"a new member":             {inWalks(bridge.GroupChanges{By: owner, Added: []bridge.JID{sofia}}), map[string][]string{"group-participants.update": {`"data":{"id":"1203@g.us","author":"15550001111@s.whatsapp.net","action":"add","participants":["34600100101@s.whatsapp.net"]}`}}},
		"a member who left":        {inWalks(bridge.GroupChanges{Left: []bridge.JID{sofia}}), map[string][]string{"group-participants.update": {`"author":null,"action":"remove"`}}},
		"a member who was removed": {inWalks(bridge.GroupChanges{By: owner, Removed: []bridge.JID{sofia}}), map[string][]string{"group-participants.update": {`"action":"remove"`}}},
		"a new admin":              {inWalks(bridge.GroupChanges{By: owner, Promoted: []bridge.JID{sofia}}), map[string][]string{"group-participants.update": {`"action":"promote"`}}},
		"no admin any more":        {inWalks(bridge.GroupChanges{By: owner, Demoted: []bridge.JID{sofia}}), map[string][]string{"group-participants.update": {`"action":"demote"`}}},
		"a group's settings":       {inWalks(bridge.GroupChanges{By: sofia, Subject: &bridge.Change[string]{New: "Hikes"}, IsAnnounce: &bridge.Change[bool]{Old: true}}), map[string][]string{"groups.update": {`"data":[{"id":"1203@g.us","author":"34600100101@s.whatsapp.net","subject":"Hikes","announce":false}]`}}},
		"a group's picture":        {bridge.Event{Type: bridge.EventGroupUpdated, Group: &bridge.StoredGroup{}}, map[string][]string{}},
		"a chat":                   {bridge.Event{Type: bridge.EventChatUpdated, Chat: &bridge.Chat{}}, map[string][]string{}},
	} {
		got := posted(t, bridge.Webhook{}, test.event)
		if len(got) != len(test.want) {
			t.Errorf("%s: %d posts, want %d", name, len(got), len(test.want))
		}
		for event, parts := range test.want {
			for _, part := range parts {
				if body := string(got[event].Body); !strings.Contains(body, part) {
					t.Errorf("%s: %s has no %s: %s", name, event, part, body)
				}
			}
		}
	}
}

// A webhook chooses events by either form of their names, may have an address for each, the
// file of a message, and a signed token instead of the key for it.
func TestFormat_ObeysTheWebhooksOptions(t *testing.T) {
	photo := with(said("imageMessage", "a view"), func(m *bridge.Message) {
		m.Media = &bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg", Caption: "a view"}
	})
	w := bridge.Webhook{Options: bridge.FormatOptions{Events: []string{"MESSAGES_UPSERT", "QRCODE_UPDATED"}, ByEvents: true, Base64: true, Headers: map[string]string{"jwt_key": "secret", "X-Flow": "7"}}}
	got := posted(t, w, eventOf(bridge.EventMessageCreated, photo))
	p := got["messages.upsert"]
	if p.URL != "https://flow.example/webhook/evo/messages-upsert" || p.Header.Get("X-Flow") != "7" || p.Header.Get("jwt_key") != "" {
		t.Errorf("posted to %s with %v", p.URL, p.Header)
	}
	whole := string(slices.Concat(p.Body, []byte("QUJD"), p.Tail))
	if *p.File != (format.File{Chat: sofia, ID: "3EB0A1"}) || !strings.Contains(whole, `"base64":"QUJD"`) || !json.Valid([]byte(whole)) || strings.Contains(string(p.Without), "base64") || !json.Valid(p.Without) {
		t.Errorf("the file of %v in %s, without %s", p.File, whole, p.Without)
	}
	token, _ := strings.CutPrefix(p.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(token, ".")
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	if len(parts) != 3 || parts[2] != base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) {
		t.Errorf("the token %s is not signed with the key", token)
	}
	if got := posted(t, w, eventOf(bridge.EventMessageStatus, said(bridge.TypeText, "x"))); len(got) != 0 {
		t.Errorf("posted, though it is not wanted: %v", got)
	}
	if got := posted(t, bridge.Webhook{Only: []bridge.JID{sofia}}, bridge.Event{Type: format.Test}); len(got) != 0 {
		t.Errorf("a token that is limited to chats is told the account's state: %v", got)
	}
	if types := typesOf([]string{"messages.update", "SEND_MESSAGE"}); !slices.Equal(types, []bridge.EventType{bridge.EventMessageCreated, bridge.EventMessageStatus, bridge.EventMessageUpdated}) {
		t.Errorf("types %v", types)
	}
	for _, o := range []bridge.FormatOptions{{VerifyToken: "x"}, {Groups: true}} {
		if err := (Format{}).Check(bridge.Webhook{Secret: "x", Options: o}); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestFormat_EventsOfGroupsHaveTheirNamesOfSettings: a webhook that asks for one gets it alone.
func TestFormat_EventsOfGroupsHaveTheirNamesOfSettings(t *testing.T) {
	e := bridge.Event{Type: bridge.EventGroupUpdated, Group: &bridge.StoredGroup{}, Changes: bridge.EventChanges{Group: &bridge.GroupChanges{Added: []bridge.JID{sofia}, Topic: &bridge.Change[string]{New: "x"}}}}
	for name, want := range map[string]string{"GROUP_PARTICIPANTS_UPDATE": "group-participants.update", "group-participants.update": "group-participants.update", "GROUP_UPDATE": "groups.update", "GROUPS_UPDATE": "groups.update"} {
		got := posted(t, bridge.Webhook{Options: bridge.FormatOptions{Events: []string{name}}}, e)
		if _, found := got[want]; !found || len(got) != 1 || !slices.Equal(typesOf([]string{name}), []bridge.EventType{bridge.EventGroupUpdated}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
