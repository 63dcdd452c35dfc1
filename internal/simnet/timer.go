package simnet

import (
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
)

// Timer returns the disappearing-messages timer of a private chat, in seconds, as the last received message of either side has set it.
func (p *Phone) Timer(chat types.JID) (seconds uint32) {
	names := p.namesOf(chat)
	for _, r := range p.Messages() {
		setting := r.Message.Message.GetProtocolMessage()
		if setting.GetType() == waE2E.ProtocolMessage_EPHEMERAL_SETTING && slices.Contains(names, r.Info.Chat.String()) {
			seconds = setting.GetEphemeralExpiration()
		}
	}
	return seconds
}
