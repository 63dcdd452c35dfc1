package content

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// HistoryPart returns a part of the history with chats.
func HistoryPart(kind waHistorySync.HistorySync_HistorySyncType, chats ...*waHistorySync.Conversation) *waHistorySync.HistorySync {
	return &waHistorySync.HistorySync{SyncType: kind.Enum(), ChunkOrder: proto.Uint32(1), Progress: proto.Uint32(100), Conversations: chats}
}

// PastInfo is a message in a phone's history.
type PastInfo = waWeb.WebMessageInfo

// PastMessage returns a message for a phone's history. The sender is empty for the phone's own messages, and the other person in a direct chat.
func PastMessage(chat, sender types.JID, id types.MessageID, at time.Time, msg *waE2E.Message) *PastInfo {
	info := &waWeb.WebMessageInfo{
		Key:     &waCommon.MessageKey{RemoteJID: proto.String(chat.String()), FromMe: proto.Bool(sender.IsEmpty()), ID: proto.String(id)},
		Message: msg, MessageTimestamp: proto.Uint64(uint64(at.Unix())),
	}
	if sender.IsEmpty() {
		info.Status = waWeb.WebMessageInfo_READ.Enum()
	} else if chat.Server == types.GroupServer {
		info.Participant = proto.String(sender.String())
		info.Key.Participant = info.Participant
	}
	return info
}

// PastText returns a text for a phone's history.
func PastText(chat, sender types.JID, id types.MessageID, at time.Time, text string) *PastInfo {
	return PastMessage(chat, sender, id, at, &waE2E.Message{Conversation: proto.String(text)})
}

// WithMessages returns a conversation that carries only messages.
func WithMessages(id string, messages []*PastInfo) *waHistorySync.Conversation {
	c := &waHistorySync.Conversation{ID: proto.String(id)}
	for i, info := range messages {
		c.Messages = append(c.Messages, &waHistorySync.HistorySyncMsg{Message: info, MsgOrderID: proto.Uint64(uint64(i))})
	}
	return c
}
