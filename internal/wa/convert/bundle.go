package convert

import (
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// bundleFacts returns the messages that a member of a group shares with the account, as a part
// of the history that is to be downloaded; nil if a message shares none.
func bundleFacts(e *events.Message) []bridge.Fact {
	bundle := unwrap(e.RawMessage).msg.GetMessageHistoryBundle()
	if bundle == nil || e.Info.IsFromMe || !JID(e.Info.Chat).IsGroup() || !JID(e.Info.Sender).IsPerson() {
		return nil
	}
	member, at := e.Info.Sender.ToNonAD().String(), e.Info.Timestamp.Unix()
	return []bridge.Fact{bridge.HistoryPart{
		HistoryStep: bridge.HistoryStep{ID: ID(e.Info.ID)}, Kind: bridge.HistoryShared,
		Notification: encoded(&waWeb.WebMessageInfo{
			Key:     &waCommon.MessageKey{RemoteJID: proto.String(e.Info.Chat.String()), ID: &e.Info.ID},
			Message: &waE2E.Message{MessageHistoryBundle: bundle}, Participant: &member, MessageTimestamp: proto.Uint64(uint64(max(at, 0))),
		}),
	}}
}
