package convert

import (
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// TypingState returns what somebody does in a chat.
func TypingState(e *events.ChatPresence) bridge.TypingState {
	switch {
	case e.State != types.ChatPresenceComposing:
		return bridge.TypingPaused
	case e.Media == types.ChatPresenceMediaAudio:
		return bridge.TypingVoice
	}
	return bridge.TypingText
}
