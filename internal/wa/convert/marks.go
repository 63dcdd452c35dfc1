package convert

import (
	"cmp"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waWeb"

	"bridged/internal/bridge"
)

const (
	// longestPin is the longest that the apps offer; one that is claimed to be
	// longer ends then.
	longestPin = 30 * 24 * time.Hour
	// usualPin is what the apps propose, for a pin that does not say.
	usualPin = 7 * 24 * time.Hour
)

// pinFacts read that a message is put at the top of the chat, or taken from there.
func pinFacts(msg *waE2E.Message, s source, chat bridge.JID, at bridge.Time) []bridge.Fact {
	p := msg.GetPinInChatMessage()
	pin := bridge.Pin{Chat: chat, Target: ID(p.GetKey().GetID()), By: s.sender, Timestamp: withinSecond(p.GetSenderTimestampMS(), at)}
	switch p.GetType() {
	case waE2E.PinInChatMessage_PIN_FOR_ALL:
		pin.Until = pinEnd(msg.GetMessageContextInfo().GetMessageAddOnDurationInSecs(), at)
	case waE2E.PinInChatMessage_UNPIN_FOR_ALL:
	default:
		return nil
	}
	return []bridge.Fact{pin}
}

func pinEnd(seconds uint32, at bridge.Time) bridge.Time {
	lasts := time.Duration(seconds) * time.Second
	if seconds == 0 {
		lasts = usualPin
	}
	return bridge.At(at.Add(min(lasts, longestPin)))
}

// keepFacts read that a disappearing message is kept, or let go.
func keepFacts(k *waE2E.KeepInChatMessage, s source, chat bridge.JID, at bridge.Time) []bridge.Fact {
	keep := bridge.Keep{Chat: chat, Target: ID(k.GetKey().GetID()), By: s.sender, Timestamp: withinSecond(k.GetTimestampMS(), at)}
	switch k.GetKeepType() {
	case waE2E.KeepType_KEEP_FOR_ALL:
		keep.Kept = true
	case waE2E.KeepType_UNDO_KEEP_FOR_ALL:
	default:
		return nil
	}
	return []bridge.Fact{keep}
}

// withinSecond returns the network's time of a change that anybody may undo, which
// is in whole seconds, with the sender's milliseconds: a clock that is wrong, or
// lies, must not outlast what others do a second later.
func withinSecond(ms int64, at bridge.Time) bridge.Time {
	from := at.Truncate(time.Second)
	ahead := bridge.Millis(ms).Sub(from)
	return bridge.At(from.Add(max(0, min(ahead, 999*time.Millisecond))))
}

// optionFacts read an option that is added to a poll.
func optionFacts(add *waE2E.PollAddOptionMessage, s source, chat bridge.JID, poll string, at bridge.Time) []bridge.Fact {
	return []bridge.Fact{bridge.PollOptionAdded{Chat: chat, Target: ID(poll), By: s.sender, Name: add.GetAddOption().GetOptionName(), Timestamp: at}}
}

// addedOptions read a whole poll as what is added to it: the store leaves out what
// the poll has.
func addedOptions(poll *waE2E.PollCreationMessage, s source, chat bridge.JID, id string, at bridge.Time) (facts []bridge.Fact) {
	for _, option := range poll.GetOptions()[:min(len(poll.GetOptions()), bridge.MaxPollOptions)] {
		facts = append(facts, optionFacts(&waE2E.PollAddOptionMessage{AddOption: option}, s, chat, id, at)...)
	}
	return facts
}

// marksOf returns whether a message of the history is pinned or kept. Who did it is
// who is named, which the network has checked.
func marksOf(info *waWeb.WebMessageInfo, m *bridge.Message, by func(*waCommon.MessageKey) bridge.JID) (facts []bridge.Fact) {
	if p := info.GetPinInChat(); p.GetType() == waWeb.PinInChat_PIN_FOR_ALL {
		at := changedAt(p.GetServerTimestampMS(), m)
		facts = append(facts, bridge.Pin{Chat: m.Chat, Target: cmp.Or(ID(p.GetKey().GetID()), m.ID), By: by(info.GetKey()),
			Until: pinEnd(p.GetMessageAddOnContextInfo().GetMessageAddOnDurationInSecs(), at), Timestamp: at})
	}
	if k := info.GetKeepInChat(); k.GetKeepType() == waE2E.KeepType_KEEP_FOR_ALL {
		facts = append(facts, bridge.Keep{Chat: m.Chat, Target: m.ID, By: by(info.GetKey()), Kept: true, Timestamp: changedAt(k.GetServerTimestampMS(), m)})
	}
	return facts
}
