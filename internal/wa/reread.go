package wa

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// Reread returns what a stored protobuf shows, for messages that an earlier
// version stored. Of text there is no content: the row has the sender's own
// words, the protobuf those in the form of the wire.
func Reread(raw []byte) (m bridge.Message, ok bool) {
	defer func() {
		if recover() != nil {
			m, ok = bridge.Message{}, false // it is stored, and stays as it is
		}
	}()
	msg := new(waE2E.Message)
	if proto.Unmarshal(raw, msg) != nil {
		return bridge.Message{}, false
	}
	m = describe(msg, source{}, "", "", bridge.Time{})
	isText := m.MessageType == "conversation" || m.MessageType == "extendedTextMessage"
	if isText && plainText(unwrap(msg).msg) != "" { // without text it is an ad's headline
		m.Content = ""
	}
	return m, true
}
