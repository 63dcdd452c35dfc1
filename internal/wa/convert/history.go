package convert

import (
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// ImportedFacts returns a message of the history with what became of it, of what was
// read as if it had come over the connection.
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
				imported.Message = editedMessage(f, about)
			}
			imported.Changes = append(imported.Changes, f)
		case bridge.Deletion, bridge.ReactionChange, bridge.PollVote, bridge.Encrypted, bridge.EventResponse, bridge.PollOptionAdded, bridge.Pin, bridge.Keep:
			imported.Changes = append(imported.Changes, f)
		}
	}
	if m := imported.Message; m != nil {
		if m.FromMe {
			m.Status = statusOf(info.GetStatus())
		}
		imported.Changes = append(imported.Changes, changesOf(info, m, own)...)
	}
	if imported.Message == nil && len(imported.Changes) == 0 {
		return facts
	}
	return append(facts, imported)
}

// editedMessage returns the message that an edit stands for in the history, which
// has no longer what was there before.
func editedMessage(f bridge.Edit, info types.MessageInfo) *bridge.Message {
	m := f.New
	m.Chat, m.ID, m.FromMe, m.SenderJID = f.Chat, f.Target, info.IsFromMe, f.Editor
	m.PushName, m.Timestamp = info.PushName, bridge.At(info.Timestamp)
	return &m
}

// statusOf returns how far an own message had got.
func statusOf(status waWeb.WebMessageInfo_Status) *bridge.Delivery {
	delivery := bridge.DeliverySent
	switch status {
	case waWeb.WebMessageInfo_ERROR:
		delivery = bridge.DeliveryFailed
	case waWeb.WebMessageInfo_DELIVERY_ACK:
		delivery = bridge.DeliveryDelivered
	case waWeb.WebMessageInfo_READ:
		delivery = bridge.DeliveryRead
	case waWeb.WebMessageInfo_PLAYED:
		delivery = bridge.DeliveryPlayed
	}
	return &delivery
}

// changesOf returns what others made of a message, which the history keeps with it:
// reactions, votes, answers to an event, whether it is pinned or kept.
func changesOf(info *waWeb.WebMessageInfo, m *bridge.Message, own bridge.JID) (facts []bridge.Fact) {
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
	return append(facts, marksOf(info, m, by)...)
}

// changedAt returns when a message was changed, which may be long after it was
// written.
func changedAt(ms int64, m *bridge.Message) bridge.Time {
	if ms <= 0 {
		return m.Timestamp
	}
	return claimed(ms, bridge.At(time.Now()))
}

// HistoricLabels returns how the members of a group of the account describe
// themselves, as the phone tells.
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
		return nil // what is left of a group that the account is not in any more
	}
	return facts
}
