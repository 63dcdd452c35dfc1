package wa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// TestReread_ReadsWhatIsReadOnArrival, except for the words of a text.
func TestReread_ReadsWhatIsReadOnArrival(t *testing.T) {
	for _, m := range append(businessMessages(), personalMessages()...) {
		want := described(m.Message)
		got, ok := Reread(want.Raw)
		if kindNamed(want.MessageType) == kindNamed("conversation") {
			want.Content = ""
		}
		if diff := cmp.Diff(want.Parts, got.Parts); !ok || diff != "" || got.Content != want.Content || (got.Media == nil) != (want.Media == nil) {
			t.Errorf("%s: %v %+v %s", m.Name, ok, got, diff)
		}
	}
	forwarded := described(&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{ContextInfo: &waE2E.ContextInfo{IsForwarded: proto.Bool(true)}}})
	if got, ok := Reread(forwarded.Raw); !ok || !got.IsForwarded {
		t.Errorf("a forwarded text: %+v", got)
	}
	if _, ok := Reread([]byte("no protobuf")); ok {
		t.Error("what is no protobuf is read")
	}
}
