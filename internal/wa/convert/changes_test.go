package convert

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

func TestMergeEdit_PutsTheCaptionIntoTheProtobuf(t *testing.T) {
	image := func(caption string, context *waE2E.ContextInfo) *waE2E.Message {
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: &caption, MediaKey: []byte("key"), ContextInfo: context}}
	}
	document := func(caption string) *waE2E.Message {
		return captioned(&waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: &caption, FileName: proto.String("f")}})
	}
	answers := &waE2E.ContextInfo{StanzaID: proto.String("Q"), MentionedJID: []string{"1@lid"}}
	mentions := &waE2E.ContextInfo{MentionedJID: []string{"2@lid"}}
	both := &waE2E.ContextInfo{StanzaID: proto.String("Q"), MentionedJID: []string{"2@lid"}}
	text := func(s string) *waE2E.Message { return &waE2E.Message{Conversation: &s} }
	ephemeral := func(m *waE2E.Message) *waE2E.Message {
		return &waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{Message: m}, MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: []byte("s")}}
	}
	for name, test := range map[string]struct{ original, edit, want *waE2E.Message }{
		"image by caption":       {image("a", nil), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("b")}}, image("b", nil)},
		"image by text":          {image("a", nil), text("b"), image("b", nil)},
		"image without caption":  {&waE2E.Message{ImageMessage: &waE2E.ImageMessage{}}, text("b"), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("b")}}},
		"document in its wrap":   {document("a"), document("b"), document("b")},
		"disappearing":           {ephemeral(image("a", nil)), ephemeral(text("b")), ephemeral(image("b", nil))},
		"answer with mentions":   {image("a", answers), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("b"), ContextInfo: mentions}}, image("b", both)},
		"mentions are new":       {image("a", nil), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("b"), ContextInfo: mentions}}, image("b", mentions)},
		"no place: voice":        {&waE2E.Message{AudioMessage: &waE2E.AudioMessage{}}, text("b"), nil},
		"no place: sticker":      {&waE2E.Message{StickerMessage: &waE2E.StickerMessage{}}, text("b"), nil},
		"no place: empty":        {ephemeral(nil), text("b"), nil},
		"video":                  {&waE2E.Message{VideoMessage: &waE2E.VideoMessage{}}, text("b"), &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: proto.String("b")}}},
		"note":                   {&waE2E.Message{PtvMessage: &waE2E.VideoMessage{}}, text("b"), &waE2E.Message{PtvMessage: &waE2E.VideoMessage{Caption: proto.String("b")}}},
		"caption is taken away":  {image("a", nil), text(""), image("", nil)},
		"edit without a content": {image("a", nil), &waE2E.Message{}, image("", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			merged, ok := MergeEdit(mustMarshal(t, test.original), mustMarshal(t, test.edit))
			if ok != (test.want != nil) {
				t.Fatalf("merged: %v", ok)
			}
			got := new(waE2E.Message)
			if err := proto.Unmarshal(merged, got); err != nil {
				t.Fatal(err)
			}
			if ok && !proto.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	if _, ok := MergeEdit([]byte("no protobuf"), nil); ok {
		t.Error("no protobuf was merged")
	}
}

func mustMarshal(t *testing.T, msg *waE2E.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(msg)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEditFacts_IntoNothingAreLeftOut: they would only empty the message.
func TestEditFacts_IntoNothingAreLeftOut(t *testing.T) {
	who := source{sender: "15550100301@s.whatsapp.net"}
	for name, edited := range map[string]*waE2E.Message{
		"nothing":       nil,
		"no content":    {},
		"empty wrapper": {EphemeralMessage: &waE2E.FutureProofMessage{}},
		"a reaction":    {ReactionMessage: &waE2E.ReactionMessage{}},
		"another edit":  {ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum()}},
		"keys alone":    {SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{}},
	} {
		if facts := editFacts(edited, who, who.sender, "ID", bridge.Millis(1)); facts != nil {
			t.Errorf("%s: %+v", name, facts)
		}
	}
	if facts := editFacts(&waE2E.Message{Conversation: proto.String("better")}, who, who.sender, "ID", bridge.Millis(1)); len(facts) != 1 {
		t.Errorf("an edit: %+v", facts)
	}
}
