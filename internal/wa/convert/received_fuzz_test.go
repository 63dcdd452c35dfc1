package convert

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/simnet"
)

// FuzzDescribe checks that reading a message never panics, keeps the whole protobuf
// and names a type, whatever a stranger's phone sends.
func FuzzDescribe(f *testing.F) {
	seeds := []*waE2E.Message{
		{Conversation: proto.String("hello")},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("x"), ContextInfo: &waE2E.ContextInfo{StanzaID: proto.String("A"), Participant: proto.String("1@lid"), MentionedJID: []string{"2@lid", "nobody"}}}},
		{ViewOnceMessageV2: &waE2E.FutureProofMessage{Message: &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("c")}}}},
		{EphemeralMessage: &waE2E.FutureProofMessage{}},
		{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{FileName: proto.String("f")}}}},
		{LocationMessage: &waE2E.LocationMessage{}},
		{LiveLocationMessage: &waE2E.LiveLocationMessage{}},
		{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: []*waE2E.ContactMessage{{}}}},
		{PollCreationMessageV3: &waE2E.PollCreationMessage{Options: []*waE2E.PollCreationMessage_Option{{}}}},
		{StickerMessage: &waE2E.StickerMessage{}},
		{AudioMessage: &waE2E.AudioMessage{}},
		{PtvMessage: &waE2E.VideoMessage{}},
		{TemplateMessage: &waE2E.TemplateMessage{}},
		{InteractiveMessage: &waE2E.InteractiveMessage{}},
		{HighlyStructuredMessage: &waE2E.HighlyStructuredMessage{}},
		{ProtocolMessage: &waE2E.ProtocolMessage{}},
		{},
	}
	for _, business := range simnet.BusinessMessages(simnet.BusinessFiles{}) {
		seeds = append(seeds, business.Message)
	}
	for _, msg := range seeds {
		data, err := proto.Marshal(msg)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	who := source{sender: "1@lid"}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzbudget.Usual.Check(t, len(data), func() {
			msg := new(waE2E.Message)
			if proto.Unmarshal(data, msg) != nil {
				return
			}
			got := describe(msg, who, "1@lid", "ID", bridge.Millis(0))
			if got.MessageType == "" {
				t.Error("a message without a type")
			}
			kept := new(waE2E.Message)
			if err := proto.Unmarshal(got.Raw, kept); err != nil || !proto.Equal(kept, msg) {
				t.Errorf("the stored protobuf is another one: %v", err)
			}
			bounded := bridge.Bounded(got).(bridge.Message)
			if f := bounded.Media; f != nil && (f.Size < 0 || f.MimeType == "" || f.Width < 0 || f.Height < 0 || f.DurationSec < 0 || f.Pages < 0) {
				t.Errorf("a file that cannot be: %+v", f)
			}
			if _, err := json.Marshal(bounded); err != nil || !utf8.ValidString(bounded.Content) {
				t.Errorf("not shown: %v", err)
			}
			if alone := contentAlone(msg); alone != nil {
				forwarded, err := forwardedContent(alone)
				if err == nil && contentField(forwarded) == nil && contentField(alone) != nil {
					t.Errorf("forwarding leaves nothing of %s", got.MessageType)
				}
			}
			protocolFacts(unwrap(msg).msg.GetProtocolMessage(), who, "1@lid", bridge.Millis(0))
			partOf(msg)
			QuotedMessage(&bridge.Message{Raw: got.Raw})
		})
	})
}
