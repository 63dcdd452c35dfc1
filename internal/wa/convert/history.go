package convert

import (
	"cmp"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// ImportedFacts returns a message of the history with its changes. read are its facts as
// if it had come over the connection.
func ImportedFacts(read []bridge.Fact, about types.MessageInfo, info *waWeb.WebMessageInfo, own bridge.JID) (facts []bridge.Fact) {
	var imported bridge.Imported
	for _, fact := range read {
		switch f := fact.(type) {
		case bridge.Identity:
			facts = append(facts, f)
		case bridge.Message:
			imported.Message = &f
		case bridge.Edit:
			if f.Upload == nil && imported.Message == nil {
				m := f.New // the history no longer has the message before
				m.Chat, m.ID, m.FromMe, m.SenderJID = f.Chat, f.Target, about.IsFromMe, f.Editor
				m.PushName, m.Timestamp = about.PushName, bridge.At(about.Timestamp)
				imported.Message = &m
			}
			imported.Changes = append(imported.Changes, f)
		case bridge.Deletion, bridge.ReactionChange, bridge.PollVote, bridge.Encrypted, bridge.EventResponse, bridge.PollOptionAdded, bridge.Pin, bridge.Keep:
			imported.Changes = append(imported.Changes, f)
		}
	}
	if m := imported.Message; m != nil {
		if m.FromMe {
			m.Status = new(cmp.Or(statuses[info.GetStatus()], bridge.DeliverySent))
		}
		imported.Changes = append(imported.Changes, changesOf(info, m, own)...)
	}
	if imported.Message == nil && len(imported.Changes) == 0 {
		return facts
	}
	return append(facts, imported)
}

// statuses says how far own messages of the history have got; others are sent.
var statuses = map[waWeb.WebMessageInfo_Status]bridge.Delivery{
	waWeb.WebMessageInfo_ERROR: bridge.DeliveryFailed, waWeb.WebMessageInfo_DELIVERY_ACK: bridge.DeliveryDelivered,
	waWeb.WebMessageInfo_READ: bridge.DeliveryRead, waWeb.WebMessageInfo_PLAYED: bridge.DeliveryPlayed,
}

// changesOf returns the changes that the history has stored with a message: reactions, votes, answers
// to an event, pins, keeps and stars.
func changesOf(info *waWeb.WebMessageInfo, m *bridge.Message, own bridge.JID) (facts []bridge.Fact) {
	// by returns the person in a key, which the network has checked.
	by := func(key *waCommon.MessageKey) bridge.JID {
		switch participant := ParseJID(key.GetParticipant()); {
		case key.GetFromMe():
			return own
		case participant.IsPerson():
			return participant
		}
		return m.Chat
	}
	for _, r := range first(info.GetReactions()) {
		facts = append(facts, bridge.ReactionChange{
			Chat: m.Chat, Target: m.ID, Sender: by(r.GetKey()), Emoji: r.GetText(),
			Timestamp: changedAt(r.GetSenderTimestampMS(), m),
		})
	}
	for _, u := range first(info.GetPollUpdates()) {
		facts = append(facts, bridge.PollVote{
			Chat: m.Chat, Target: m.ID, Voter: by(u.GetPollUpdateMessageKey()),
			Hashes: u.GetVote().GetSelectedOptions(), Timestamp: changedAt(u.GetSenderTimestampMS(), m),
		})
	}
	for _, r := range first(info.GetEventResponses()) {
		facts = append(facts, responseFact(r.GetEventResponseMessage(), m.Chat, m.ID, by(r.GetEventResponseMessageKey()), changedAt(r.GetTimestampMS(), m)))
	}
	if p := info.GetPinInChat(); p.GetType() == waWeb.PinInChat_PIN_FOR_ALL {
		at := changedAt(p.GetServerTimestampMS(), m)
		facts = append(facts, bridge.Pin{
			Chat: m.Chat, Target: cmp.Or(ID(p.GetKey().GetID()), m.ID), By: by(info.GetKey()),
			Until: pinEnd(p.GetMessageAddOnContextInfo().GetMessageAddOnDurationInSecs(), at), Timestamp: at,
		})
	}
	if k := info.GetKeepInChat(); k.GetKeepType() == waE2E.KeepType_KEEP_FOR_ALL {
		facts = append(facts, bridge.Keep{Chat: m.Chat, Target: m.ID, By: by(info.GetKey()), Kept: true, Timestamp: changedAt(k.GetServerTimestampMS(), m)})
	}
	if info.GetStarred() {
		facts = append(facts, bridge.Star{Chat: m.Chat, Target: m.ID, By: own, Starred: true, Timestamp: m.Timestamp})
	}
	return facts
}

// changedAt returns when a message was changed, which may be long after it was written.
func changedAt(ms int64, m *bridge.Message) bridge.Time {
	if ms <= 0 {
		return m.Timestamp
	}
	return claimed(ms, bridge.At(time.Now()))
}

// HistoricLabels returns the labels that the members of a group of the account have
// given themselves.
func HistoricLabels(chat *waHistorySync.Conversation, own ...bridge.JID) (facts []bridge.Fact) {
	group, isIn := ParseJID(chat.GetID()), false
	for _, p := range chat.GetParticipant() {
		member := ParseJID(p.GetUserJID())
		isIn = isIn || member != "" && slices.Contains(own, member)
		if p.GetMemberLabel().GetLabel() != "" {
			facts = append(facts, labelFacts(group, member, p.GetMemberLabel(), bridge.Millis(0))...)
		}
	}
	if !isIn {
		return nil // the account has left the group
	}
	return facts
}
