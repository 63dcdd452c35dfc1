package wa_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestImport_AddOns: the history has ads, albums, answers to events, and pinned and
// kept messages, as fields or as messages of their own.
func TestImport_AddOns(t *testing.T) {
	t.Parallel()
	a, anna := importing(t, bridge.HistoryRecent, plainly)
	chat, key := anna.PN(), func(id string) *waCommon.MessageKey { return &waCommon.MessageKey{ID: &id} }
	minute := 0
	past := func(id string, msg *waE2E.Message) *simnet.PastInfo {
		minute++
		return simnet.PastMessage(chat, chat, id, longAgo.Add(time.Duration(minute)*time.Minute), msg)
	}
	text := func() *waE2E.Message { return &waE2E.Message{Conversation: proto.String("hello")} }
	lately := time.Now().Add(-time.Hour).UnixMilli()
	day := uint32(24 * 60 * 60)

	ad := past("AD", &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{ContextInfo: anAd()}})
	album := past("ALBUM", &waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{ExpectedImageCount: proto.Uint32(2)}})
	part := past("PART", &waE2E.Message{ImageMessage: &waE2E.ImageMessage{}, MessageContextInfo: &waE2E.MessageContextInfo{MessageAssociation: &waE2E.MessageAssociation{
		AssociationType: waE2E.MessageAssociation_MEDIA_ALBUM.Enum(), ParentMessageKey: key("ALBUM"),
	}}})
	event := past("EVENT", &waE2E.Message{EventMessage: &waE2E.EventMessage{Name: proto.String("Party")}})
	event.EventResponses = []*waWeb.EventResponse{
		{EventResponseMessageKey: &waCommon.MessageKey{FromMe: proto.Bool(true)}, EventResponseMessage: &waE2E.EventResponseMessage{Response: waE2E.EventResponseMessage_GOING.Enum(), ExtraGuestCount: proto.Int32(1)}},
		{EventResponseMessageKey: key("ANSWER"), EventResponseMessage: &waE2E.EventResponseMessage{Response: waE2E.EventResponseMessage_NOT_GOING.Enum()}},
	}
	pinned := past("PINNED", text())
	pinned.PinInChat = &waWeb.PinInChat{
		Type: waWeb.PinInChat_PIN_FOR_ALL.Enum(), ServerTimestampMS: &lately,
		MessageAddOnContextInfo: &waWeb.MessageAddOnContextInfo{MessageAddOnDurationInSecs: &day},
	}
	kept := past("KEPT", text())
	kept.KeepInChat = &waWeb.KeepInChat{KeepType: waE2E.KeepType_KEEP_FOR_ALL.Enum()}
	keptLater := past("KEPT-LATER", text())
	keep := past("KEEP", &waE2E.Message{KeepInChatMessage: &waE2E.KeepInChatMessage{Key: key("KEPT-LATER"), KeepType: waE2E.KeepType_KEEP_FOR_ALL.Enum()}})
	poll := past("POLL", &waE2E.Message{PollCreationMessageV3: &waE2E.PollCreationMessage{
		Name: proto.String("When?"), AllowAddOption: proto.Bool(true),
		Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("now")}},
	}})
	option := past("OPTION", &waE2E.Message{PollAddOptionMessage: &waE2E.PollAddOptionMessage{
		PollCreationMessageKey: key("POLL"),
		AddOption:              &waE2E.PollCreationMessage_Option{OptionName: proto.String("later")},
	}})
	a.phone.SetPast(simnet.Past{With: chat, Recent: []*simnet.PastInfo{ad, album, part, event, pinned, kept, keptLater, keep, poll, option}})
	a.pair()

	shown := map[string]any{}
	for _, m := range a.messages(jidOf(anna)) {
		switch {
		case m.Referral != nil:
			shown[m.ID] = m.Content
		case m.Album != nil:
			shown[m.ID] = *m.Album
		case m.AlbumID != nil:
			shown[m.ID] = *m.AlbumID
		case m.Event != nil:
			shown[m.ID] = *m.Event.Responses
		case m.Poll != nil:
			shown[m.ID] = m.Poll.Options[len(m.Poll.Options)-1].Name
		default:
			shown[m.ID] = [2]bool{m.PinnedUntil != nil, m.Kept}
		}
	}
	want := map[string]any{
		"AD": "Boots at half price", "ALBUM": bridge.Album{Images: 2, Arrived: 1}, "PART": "ALBUM", "POLL": "later",
		"EVENT":  bridge.EventResponses{Going: []bridge.JID{jidOf(a.phone)}, Maybe: []bridge.JID{}, NotGoing: []bridge.JID{jidOf(anna)}, Guests: 1},
		"PINNED": [2]bool{true, false}, "KEPT": [2]bool{false, true}, "KEPT-LATER": [2]bool{false, true},
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
}
