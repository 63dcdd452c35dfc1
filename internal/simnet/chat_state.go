package simnet

import (
	"context"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
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

// Starred returns whether the phone shows a star on a message, from all that the account's devices have changed. It must be named as the
// apps name it: the author only of another member's message in a group.
func (p *Phone) Starred(ctx context.Context, chat types.JID, id types.MessageID, fromMe bool, author types.JID) (starred bool, err error) {
	if _, err := p.beginAppState(ctx); err != nil {
		return false, err
	}
	mutations, _, err := p.readCollection(ctx, string(appstate.WAPatchRegularHigh))
	for _, m := range mutations {
		if p.isKey(m.Index, appstate.IndexStar, chat, id, fromMe, author) {
			starred = m.Action.GetStarAction().GetStarred()
		}
	}
	return starred, err
}

// DeletedForMe returns whether a device of the account has deleted a message for the account. For the names see [Phone.Starred].
func (p *Phone) DeletedForMe(ctx context.Context, chat types.JID, id types.MessageID, fromMe bool, author types.JID) (deleted bool, err error) {
	if _, err := p.beginAppState(ctx); err != nil {
		return false, err
	}
	mutations, _, err := p.readCollection(ctx, string(appstate.WAPatchRegularHigh))
	return slices.ContainsFunc(mutations, func(m appstate.Mutation) bool {
		return p.isKey(m.Index, appstate.IndexDeleteMessageForMe, chat, id, fromMe, author) && m.Action.GetDeleteMessageForMeAction() != nil
	}), err
}

// Clearing is what the account's devices have removed of a chat.
type Clearing struct {
	Until                time.Time // of the last removed message; zero if none
	Deleted, KeepStarred bool
}

// Cleared returns what the phone has removed of a chat, as any of the account's devices has told it.
func (p *Phone) Cleared(ctx context.Context, chat types.JID) (c Clearing, err error) {
	if _, err := p.beginAppState(ctx); err != nil {
		return c, err
	}
	names := p.namesOf(chat)
	mutations, _, err := p.readCollection(ctx, string(appstate.WAPatchRegularHigh))
	for _, m := range mutations {
		if len(m.Index) < 3 || !slices.Contains(names, m.Index[1]) {
			continue
		}
		switch m.Index[0] {
		case appstate.IndexClearChat:
			c.Until = time.Unix(m.Action.GetClearChatAction().GetMessageRange().GetLastMessageTimestamp(), 0)
			c.KeepStarred = m.Index[2] == "0"
		case appstate.IndexDeleteChat:
			c.Until = time.Unix(m.Action.GetDeleteChatAction().GetMessageRange().GetLastMessageTimestamp(), 0)
			c.Deleted = true
		}
	}
	return c, err
}

// isKey reports whether the index of an entry is of a kind and names a message.
func (p *Phone) isKey(index []string, kind string, chat types.JID, id types.MessageID, fromMe bool, author types.JID) bool {
	if len(index) != 5 || index[0] != kind || index[2] != id || index[3] != map[bool]string{false: "0", true: "1"}[fromMe] {
		return false
	}
	authors := []string{"0"}
	if chat.Server == types.GroupServer && !fromMe {
		authors = p.namesOf(author)
	}
	return slices.Contains(p.namesOf(chat), index[1]) && slices.Contains(authors, index[4])
}

// Star stars a message on the account's devices, or removes the star. author is only needed for another member's message in a group.
func (p *Phone) Star(ctx context.Context, chat types.JID, id types.MessageID, fromMe bool, author types.JID, starred bool) error {
	if chat.Server != types.GroupServer || fromMe {
		author = chat
	}
	return p.SendAppState(ctx, appstate.BuildStar(chat, author, id, fromMe, starred))
}

// DeleteForMe deletes a message on the account's devices, with its file. For the names see [Phone.Starred].
func (p *Phone) DeleteForMe(ctx context.Context, chat types.JID, id types.MessageID, fromMe bool, author types.JID) error {
	index := []string{appstate.IndexDeleteMessageForMe, chat.String(), id, "0", "0"}
	if fromMe {
		index[3] = "1"
	} else if chat.Server == types.GroupServer {
		index[4] = author.String()
	}
	return p.SendAppState(ctx, appstate.PatchInfo{Type: appstate.WAPatchRegularHigh, Mutations: []appstate.MutationInfo{{
		Index: index, Version: 3,
		Value: &waSyncAction.SyncActionValue{DeleteMessageForMeAction: &waSyncAction.DeleteMessageForMeAction{DeleteMedia: proto.Bool(true)}},
	}}})
}

// ClearChat removes the messages of a chat so far on the account's devices, with their files but without the starred ones if keepStarred is
// set.
func (p *Phone) ClearChat(ctx context.Context, chat types.JID, keepStarred bool) error {
	starred := "1"
	if keepStarred {
		starred = "0"
	}
	return p.SendAppState(ctx, appstate.PatchInfo{Type: appstate.WAPatchRegularHigh, Mutations: []appstate.MutationInfo{{
		Index: []string{appstate.IndexClearChat, chat.String(), starred, "1"}, Version: 6,
		Value: &waSyncAction.SyncActionValue{ClearChatAction: &waSyncAction.ClearChatAction{
			MessageRange: &waSyncAction.SyncActionMessageRange{LastMessageTimestamp: proto.Int64(time.Now().Unix())},
		}},
	}}})
}

// DeleteChat deletes a chat on the account's devices, with its messages and their files.
func (p *Phone) DeleteChat(ctx context.Context, chat types.JID) error {
	return p.SendAppState(ctx, appstate.BuildDeleteChat(chat, time.Time{}, nil, true))
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
