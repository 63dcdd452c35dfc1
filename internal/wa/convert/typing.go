package convert

import (
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// TypingState returns what a person does in a chat: type, record or pause.
func TypingState(e *events.ChatPresence) bridge.TypingState {
	switch {
	case e.State != types.ChatPresenceComposing:
		return bridge.TypingPaused
	case e.Media == types.ChatPresenceMediaAudio:
		return bridge.TypingVoice
	}
	return bridge.TypingText
}
