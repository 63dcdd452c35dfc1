package convert

import (
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// LabelFacts returns a change of a label, or of the labels of a chat or a message. own is the
// account; if it is empty, the label of a message does not wait for the message.
func LabelFacts(evt any, own bridge.JID) []bridge.Fact {
	switch e := evt.(type) {
	case *events.LabelEdit:
		if !isLabel(e.Action) {
			return nil
		}
		return []bridge.Fact{bridge.LabelChange{
			Label:      bridge.Label{ID: e.LabelID, Name: e.Action.GetName(), Color: int(e.Action.GetColor())},
			Predefined: int(e.Action.GetPredefinedID()), Deleted: e.Action.GetDeleted(), Timestamp: bridge.At(e.Timestamp),
		}}
	case *events.LabelAssociationChat:
		if chat := JID(e.JID); chat != "" {
			return []bridge.Fact{bridge.ChatLabel{Chat: chat, Label: e.LabelID, Labelled: e.Action.GetLabeled(), Timestamp: bridge.At(e.Timestamp)}}
		}
	case *events.LabelAssociationMessage:
		if chat := JID(e.JID); chat != "" && e.MessageID != "" {
			return []bridge.Fact{bridge.MessageLabel{
				Chat: chat, Target: ID(e.MessageID), Label: e.LabelID, By: own, Labelled: e.Action.GetLabeled(), Timestamp: bridge.At(e.Timestamp),
			}}
		}
	}
	return nil
}

// isLabel reports whether an entry is a label. The apps store the filters of their lists of chats,
// such as unread chats and favourites, in the same way.
func isLabel(action *waSyncAction.LabelEditAction) bool {
	switch action.GetType() {
	case waSyncAction.LabelEditAction_NONE, waSyncAction.LabelEditAction_PREDEFINED, waSyncAction.LabelEditAction_CUSTOM, waSyncAction.LabelEditAction_SERVER_ASSIGNED:
		return action.GetName() != "" || action.GetDeleted()
	}
	return false
}

// LabelOf returns the change that an entry of the account's state has, if it is about labels.
func LabelOf(entry appstate.Mutation) []bridge.Fact {
	at := time.UnixMilli(entry.Action.GetTimestamp())
	chatOf := func(least int) (types.JID, bool) {
		if len(entry.Index) < least {
			return types.EmptyJID, false
		}
		chat, err := types.ParseJID(entry.Index[2])
		return chat, err == nil
	}
	switch entry.Index[0] {
	case appstate.IndexLabelEdit:
		if len(entry.Index) >= 2 {
			return LabelFacts(&events.LabelEdit{LabelID: entry.Index[1], Timestamp: at, Action: entry.Action.GetLabelEditAction()}, "")
		}
	case appstate.IndexLabelAssociationChat:
		if chat, ok := chatOf(3); ok {
			return LabelFacts(&events.LabelAssociationChat{JID: chat, LabelID: entry.Index[1], Timestamp: at, Action: entry.Action.GetLabelAssociationAction()}, "")
		}
	case appstate.IndexLabelAssociationMessage:
		if chat, ok := chatOf(6); ok {
			return LabelFacts(&events.LabelAssociationMessage{
				JID: chat, LabelID: entry.Index[1], MessageID: entry.Index[3], Timestamp: at, Action: entry.Action.GetLabelAssociationAction(),
			}, "")
		}
	}
	return nil
}
