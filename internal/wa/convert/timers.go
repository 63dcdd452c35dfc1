package convert

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// AccountTimer marks a message's timer as the account's default, which applies to new chats.
func AccountTimer() *waE2E.DisappearingMode {
	return &waE2E.DisappearingMode{
		Initiator: waE2E.DisappearingMode_INITIATED_BY_ME.Enum(), Trigger: waE2E.DisappearingMode_ACCOUNT_SETTING.Enum(), InitiatedByMe: new(true),
	}
}

// TimerMessage returns the message that sets the timer of a private chat.
func TimerMessage(seconds uint32, at time.Time) *waE2E.Message {
	return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type:                      waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(),
		EphemeralExpiration:       &seconds,
		EphemeralSettingTimestamp: proto.Int64(at.Unix()),
		DisappearingMode: &waE2E.DisappearingMode{
			Initiator: waE2E.DisappearingMode_CHANGED_IN_CHAT.Enum(), Trigger: waE2E.DisappearingMode_CHAT_SETTING.Enum(), InitiatedByMe: proto.Bool(true),
		},
	}}
}

// BegunTimer returns the timer of a chat that begins with an own message; nil if the message
// begins none.
func BegunTimer(chat bridge.JID, msg *waE2E.Message) []bridge.Fact {
	context := contextInfo(unwrap(msg).msg)
	if context.GetExpiration() == 0 || context.GetDisappearingMode().GetTrigger() != waE2E.DisappearingMode_ACCOUNT_SETTING {
		return nil
	}
	return []bridge.Fact{bridge.ChatTimer{Chat: chat, Seconds: context.GetExpiration(), SetAt: bridge.At(time.Unix(context.GetEphemeralSettingTimestamp(), 0))}}
}
