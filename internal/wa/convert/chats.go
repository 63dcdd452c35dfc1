package convert

import (
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// MarkFacts returns the update for a chat that was marked as read or unread in the list of chats.
func MarkFacts(e *events.MarkChatAsRead) []bridge.Fact {
	chat := JID(e.JID)
	if chat == "" {
		return nil
	}
	if !e.Action.GetRead() {
		return []bridge.Fact{bridge.ChatMarkedUnread{Chat: chat}}
	}
	read := bridge.ChatRead{Chat: chat, Until: bridge.At(e.Timestamp)}
	if seconds := e.Action.GetMessageRange().GetLastMessageTimestamp(); seconds > 0 {
		read.Until = bridge.At(time.Unix(seconds+1, 0).Add(-time.Millisecond)) // to the end of that second
	}
	for _, last := range e.Action.GetMessageRange().GetMessages() {
		if id := last.GetKey().GetID(); id != "" {
			read.Last = append(read.Last, ID(id))
		}
	}
	return []bridge.Fact{read}
}

// ChatSettingFacts returns whether a chat was archived, pinned or muted.
func ChatSettingFacts(evt any) []bridge.Fact {
	var settings bridge.ChatSettings
	switch e := evt.(type) {
	case *events.Archive:
		settings.Chat, settings.Archived = JID(e.JID), new(e.Action.GetArchived())
	case *events.Pin:
		settings.Chat, settings.Pinned = JID(e.JID), new(e.Action.GetPinned())
	case *events.Mute:
		end := e.Action.GetMuteEndTimestamp()
		if end > 0 {
			end /= 1000 // session.db has it in seconds, too
		}
		settings.Chat, settings.MutedUntil = JID(e.JID), new(MutedUntil(e.Action.GetMuted(), end))
	}
	if settings.Chat == "" {
		return nil
	}
	return []bridge.Fact{settings}
}

// PatchFacts returns the updates of a chat in a change of the account's app state.
func PatchFacts(chat bridge.JID, patch appstate.PatchInfo) (facts []bridge.Fact) {
	jid := WireJID(chat)
	for _, m := range patch.Mutations {
		switch m.Index[0] {
		case appstate.IndexArchive:
			facts = append(facts, ChatSettingFacts(&events.Archive{JID: jid, Action: m.Value.GetArchiveChatAction()})...)
		case appstate.IndexPin:
			facts = append(facts, ChatSettingFacts(&events.Pin{JID: jid, Action: m.Value.GetPinAction()})...)
		case appstate.IndexMute:
			facts = append(facts, ChatSettingFacts(&events.Mute{JID: jid, Action: m.Value.GetMuteAction()})...)
		case appstate.IndexMarkChatAsRead:
			facts = append(facts, MarkFacts(&events.MarkChatAsRead{JID: jid, Timestamp: patch.Timestamp, Action: m.Value.GetMarkChatAsReadAction()})...)
		}
	}
	return facts
}

// MutedUntil returns the time until which a chat is muted, or the zero time if it is not muted. end is
// in seconds; a negative end means forever.
func MutedUntil(muted bool, end int64) bridge.Time {
	switch {
	case !muted:
		return bridge.Time{}
	case end < 0:
		return bridge.MutedForever()
	}
	return bridge.At(time.Unix(end, 0))
}

// StarFacts returns the update for a message that the account starred, or whose star it removed. own is the account; if it
// is empty, the star does not wait for its message.
func StarFacts(e *events.Star, own bridge.JID) []bridge.Fact {
	chat := JID(e.ChatJID)
	if chat == "" || e.MessageID == "" {
		return nil
	}
	return []bridge.Fact{bridge.Star{Chat: chat, Target: ID(e.MessageID), By: own, Starred: e.Action.GetStarred(), Timestamp: bridge.At(e.Timestamp)}}
}

// StarOf returns the message that an entry of the account's state stars, or whose star it removes.
func StarOf(entry appstate.Mutation) []bridge.Fact {
	if len(entry.Index) < 5 || entry.Index[0] != appstate.IndexStar {
		return nil
	}
	chat, err := types.ParseJID(entry.Index[1])
	if err != nil {
		return nil
	}
	return StarFacts(&events.Star{ChatJID: chat, MessageID: entry.Index[2], Timestamp: time.UnixMilli(entry.Action.GetTimestamp()), Action: entry.Action.GetStarAction()}, "")
}

// deletionVersion is the version of entries that delete a message on the account's devices.
const deletionVersion = 3

// DeletionPatch returns the change that deletes a message on the account's devices. The author equals
// the chat unless another member of a group wrote the message.
func DeletionPatch(chat, author types.JID, m bridge.Message) appstate.PatchInfo {
	index := []string{appstate.IndexDeleteMessageForMe, chat.String(), OnWire(&m), "0", "0"}
	if m.FromMe {
		index[3] = "1"
	}
	if author != chat {
		index[4] = author.String()
	}
	action := &waSyncAction.DeleteMessageForMeAction{DeleteMedia: proto.Bool(true), MessageTimestamp: proto.Int64(m.Timestamp.Unix())}
	return appstate.PatchInfo{Type: appstate.WAPatchRegularHigh, Mutations: []appstate.MutationInfo{{
		Index: index, Version: deletionVersion, Value: &waSyncAction.SyncActionValue{DeleteMessageForMeAction: action},
	}}}
}

// clearingVersion is the version of entries that clear a chat.
const clearingVersion = 6

// ClearingPatch returns the change that clears a chat on the account's devices, or deletes it, up to its
// last message, which may be nil.
func ClearingPatch(chat types.JID, at time.Time, last *waCommon.MessageKey, c bridge.ChatClearing) appstate.PatchInfo {
	patch := appstate.BuildDeleteChat(chat, at, last, true)
	if c.Delete {
		return patch
	}
	deletesStarred := "1"
	if c.KeepStarred {
		deletesStarred = "0"
	}
	action := &waSyncAction.ClearChatAction{MessageRange: patch.Mutations[0].Value.GetDeleteChatAction().GetMessageRange()}
	patch.Mutations = []appstate.MutationInfo{{
		Index:   []string{appstate.IndexClearChat, chat.String(), deletesStarred, "1"}, // and files
		Version: clearingVersion, Value: &waSyncAction.SyncActionValue{ClearChatAction: action},
	}}
	return patch
}

// MarkOf returns the chat that an entry of the account's state marks as read or unread.
func MarkOf(entry appstate.Mutation) []bridge.Fact {
	if len(entry.Index) < 2 || entry.Index[0] != appstate.IndexMarkChatAsRead {
		return nil
	}
	chat, err := types.ParseJID(entry.Index[1])
	if err != nil {
		return nil
	}
	return MarkFacts(&events.MarkChatAsRead{JID: chat, Timestamp: time.UnixMilli(entry.Action.GetTimestamp()), Action: entry.Action.GetMarkChatAsReadAction()})
}
