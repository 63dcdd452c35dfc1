package convert

import (
	"math"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// wrapperFields returns the fields of a message that wrap another one, by name,
// each around inner; around nothing if inner is nil.
func wrapperFields(t *testing.T, inner *waE2E.Message) map[string]*waE2E.Message {
	t.Helper()
	found := make(map[string]*waE2E.Message)
	fields := new(waE2E.Message).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !isWrapper(field) {
			continue
		}
		msg := new(waE2E.Message)
		wrapper := msg.ProtoReflect().Mutable(field).Message()
		if inner != nil {
			content := wrapper.Mutable(wrapper.Descriptor().Fields().ByName("message"))
			proto.Merge(content.Message().Interface(), inner)
		}
		found[string(field.Name())] = msg
	}
	if len(found) < 20 {
		t.Fatalf("only %d kinds of wrapper", len(found))
	}
	return found
}

func described(msg *waE2E.Message) bridge.Message {
	return describe(msg, source{sender: "15550100301@s.whatsapp.net"}, "15550100301@s.whatsapp.net", "ID", bridge.Millis(0))
}

func wantInvalid(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil || bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("%s: %v, want a refusal", what, err)
	}
}

// TestForwardable_NoWrapperWithoutContent covers messages that made whatsmeow panic
// when they were forwarded.
func TestForwardable_NoWrapperWithoutContent(t *testing.T) {
	for name, msg := range wrapperFields(t, nil) {
		m := described(msg)
		wantInvalid(t, name, m.Forwardable())
		for outer, nested := range wrapperFields(t, msg) {
			m := described(nested)
			wantInvalid(t, outer+" around "+name, m.Forwardable())
		}
	}
	endless := &waE2E.Message{Conversation: proto.String("deep")}
	for range 50 {
		endless = &waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{Message: endless}}
	}
	m := described(endless)
	wantInvalid(t, "fifty wrappers", m.Forwardable())
}

// TestForwardable_NoEvents, and nothing that is encrypted for its chat.
func TestForwardable_NoEvents(t *testing.T) {
	for name, msg := range map[string]*waE2E.Message{
		"event":           {EventMessage: &waE2E.EventMessage{Name: proto.String("party")}},
		"event's answer":  {EncEventResponseMessage: &waE2E.EncEventResponseMessage{}},
		"event's invite":  {EventInviteMessage: &waE2E.EventInviteMessage{}},
		"event's picture": {EventCoverImage: &waE2E.FutureProofMessage{}},
		"encrypted":       {SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{}},
	} {
		m := described(msg)
		wantInvalid(t, name, m.Forwardable())
	}
	m := described(&waE2E.Message{Conversation: proto.String("hello")})
	if err := m.Forwardable(); err != nil {
		t.Error(err)
	}
}

// TestForward_TakesTheContentAlone from a message in which a stranger set fields
// that the apps never set together.
func TestForward_TakesTheContentAlone(t *testing.T) {
	picture := &waE2E.ImageMessage{Caption: proto.String("look")}
	for name, empty := range wrapperFields(t, nil) {
		msg := proto.Clone(empty).(*waE2E.Message)
		msg.ImageMessage = picture
		msg.SenderKeyDistributionMessage = &waE2E.SenderKeyDistributionMessage{}
		alone := contentAlone(msg)
		if want := (&waE2E.Message{ImageMessage: picture}); !proto.Equal(alone, want) {
			t.Errorf("beside %s: %v", name, alone)
		}
	}
	if quoted := QuotedMessage(&bridge.Message{Content: "as shown", Raw: described(&waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{}}).Raw}); quoted.GetConversation() != "as shown" {
		t.Errorf("an empty wrapper is quoted as %v", quoted)
	}
}

// TestDescribe_BelievesNoNumber from a sender.
func TestDescribe_BelievesNoNumber(t *testing.T) {
	huge := proto.Uint32(math.MaxUint32)
	for name, msg := range map[string]*waE2E.Message{
		"image":    {ImageMessage: &waE2E.ImageMessage{FileLength: proto.Uint64(math.MaxUint64), Width: huge, Height: huge}},
		"video":    {VideoMessage: &waE2E.VideoMessage{FileLength: proto.Uint64(1 << 63), Seconds: huge, Width: huge}},
		"audio":    {AudioMessage: &waE2E.AudioMessage{FileLength: proto.Uint64(math.MaxInt64), Seconds: huge}},
		"document": {DocumentMessage: &waE2E.DocumentMessage{FileLength: proto.Uint64(3 << 30), PageCount: huge}},
		"sticker":  {StickerMessage: &waE2E.StickerMessage{FileLength: proto.Uint64(math.MaxUint64), Width: huge}},
	} {
		m := bridge.Bounded(described(msg)).(bridge.Message)
		if f := m.Media; f.Size != 0 || f.Width != 0 || f.Height != 0 || f.DurationSec != 0 || f.Pages != 0 || f.MimeType != bridge.UnknownMIMEType {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestContext_ManyMentions are deduplicated and limited.
func TestContext_ManyMentions(t *testing.T) {
	mentions := make([]string, 1<<16)
	for i := range mentions {
		mentions[i] = []string{"15550100301@s.whatsapp.net", "nobody", "15550100302@s.whatsapp.net"}[i%3]
	}
	context := contextOf(&waE2E.ContextInfo{MentionedJID: mentions})
	if len(context.MentionedJID) != 2 {
		t.Errorf("mentioned: %v", context.MentionedJID)
	}
	if context = contextOf(&waE2E.ContextInfo{NonJIDMentions: proto.Uint32(1)}); context == nil || !context.MentionsAll {
		t.Errorf("a mention of everybody: %+v", context)
	}
}
