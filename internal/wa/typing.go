package wa

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// noteTyping reports the typing of another person in a chat. A message ends it.
func (m *Manager) noteTyping(source types.MessageSource, state bridge.TypingState) {
	chat, person := convert.JID(source.Chat), convert.JID(source.Sender)
	if m.opts.Typing == nil || source.IsFromMe || !chat.IsGroup() && !chat.IsPerson() || !person.IsPerson() {
		return
	}
	m.opts.Typing(m.store.Canonical(chat), m.store.Canonical(person), state)
}
