package simnet

import (
	"context"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
)

// ChatState is the state of a chat on the account's devices. A Muted one without MutedUntil is muted for ever.
type ChatState struct {
	Archived, Pinned, Unread, Muted bool
	MutedUntil                      time.Time
}

// ChatState returns how the phone shows a chat, by either name of a person, from all that the account's devices have changed of it.
func (p *Phone) ChatState(ctx context.Context, chat types.JID) (state ChatState, err error) {
	if _, err := p.beginAppState(ctx); err != nil {
		return state, err
	}
	names := p.namesOf(chat)
	for _, collection := range []appstate.WAPatchName{appstate.WAPatchRegularLow, appstate.WAPatchRegularHigh} {
		mutations, _, err := p.readCollection(ctx, string(collection))
		if err != nil {
			return state, err
		}
		for _, m := range mutations {
			if len(m.Index) > 1 && slices.Contains(names, m.Index[1]) {
				state.apply(m)
			}
		}
	}
	return state, nil
}

func (s *ChatState) apply(m appstate.Mutation) {
	switch m.Index[0] {
	case appstate.IndexArchive:
		s.Archived = m.Action.GetArchiveChatAction().GetArchived()
	case appstate.IndexPin:
		s.Pinned = m.Action.GetPinAction().GetPinned()
	case appstate.IndexMarkChatAsRead:
		s.Unread = !m.Action.GetMarkChatAsReadAction().GetRead()
	case appstate.IndexMute:
		mute := m.Action.GetMuteAction()
		s.Muted, s.MutedUntil = mute.GetMuted(), time.Time{}
		if end := mute.GetMuteEndTimestamp(); s.Muted && end > 0 {
			s.MutedUntil = time.UnixMilli(end)
		}
	}
}

// namesOf returns the JIDs under which devices may store a chat.
func (p *Phone) namesOf(chat types.JID) []string {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	names := []string{chat.String()}
	if a := p.net.AccountOf(chat); a != nil {
		names = append(names, a.PN().String(), a.LID().String())
	}
	return names
}
