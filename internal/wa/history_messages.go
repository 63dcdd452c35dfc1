package wa

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// imports reports whether the operator wants the messages of a kind of part.
func (m *Manager) imports(kind waHistorySync.HistorySync_HistorySyncType) bool {
	switch kind {
	case waHistorySync.HistorySync_INITIAL_BOOTSTRAP, waHistorySync.HistorySync_RECENT, waHistorySync.HistorySync_ON_DEMAND:
		return m.opts.HistoryImport.IsOn()
	case waHistorySync.HistorySync_FULL:
		return m.opts.HistoryImport.IsDeep()
	}
	return false
}

// messages imports those of a chat, from the oldest on, without those that an
// earlier try has imported: the same part is always read in the same order.
func (t *takeover) messages(ctx context.Context, chat *waHistorySync.Conversation) error {
	jid, err := types.ParseJID(chat.GetID())
	if err != nil || !t.imports {
		return nil
	}
	messages := slices.Clone(chat.GetMessages())
	slices.SortStableFunc(messages, func(a, b *waHistorySync.HistorySyncMsg) int {
		return cmp.Or(cmp.Compare(a.GetMessage().GetMessageTimestamp(), b.GetMessage().GetMessageTimestamp()), cmp.Compare(a.GetMsgOrderID(), b.GetMsgOrderID()))
	})
	for _, message := range messages {
		t.seen++
		if t.seen <= t.part.Position || t.isTooOld(message.GetMessage()) {
			continue
		}
		if err := t.add(ctx, t.l.importedFacts(jid, message.GetMessage())...); err != nil {
			return err
		}
	}
	return nil
}

// isTooOld reports whether a message is from before what the operator wants, though
// the phone has sent it.
func (t *takeover) isTooOld(info *waWeb.WebMessageInfo) bool {
	return time.Unix(int64(info.GetMessageTimestamp()), 0).Before(t.since)
}

// importedFacts interprets a message of the history as one that comes over the
// connection. It never fails: what cannot be read is left out.
func (l *link) importedFacts(chat types.JID, info *waWeb.WebMessageInfo) (facts []bridge.Fact) {
	defer func() {
		if r := recover(); r != nil {
			l.m.log.Error().Str("panic", bridge.Redact(fmt.Sprint(r))).Bytes("stack", debug.Stack()).Msg("message of the history not understood")
			facts = nil
		}
	}()
	if info.GetMessage() == nil {
		return nil // what the apps show between messages: calls, changes of a group
	}
	e, err := l.cli.ParseWebMessage(chat, info)
	if err != nil {
		l.m.log.Debug().Str("error", bridge.Redact(err.Error())).Msg("message of the history not read")
		return nil
	}
	read := l.messageFacts(e)
	var imported bridge.Imported
	for _, fact := range read {
		switch f := fact.(type) {
		case bridge.Identity:
			facts = append(facts, f)
		case bridge.Message:
			imported.Message = &f
		case bridge.Edit:
			if f.Upload == nil && imported.Message == nil {
				imported.Message = editedMessage(f, e.Info)
			}
			imported.Changes = append(imported.Changes, f)
		case bridge.Deletion, bridge.ReactionChange, bridge.PollVote, bridge.Sealed, bridge.EventResponse, bridge.PollOptionAdded, bridge.Pin, bridge.Keep:
			imported.Changes = append(imported.Changes, f)
		}
	}
	if m := imported.Message; m != nil {
		if m.FromMe {
			m.Status = statusOf(info.GetStatus())
		}
		imported.Changes = append(imported.Changes, l.changesOf(info, m)...)
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
func (l *link) changesOf(info *waWeb.WebMessageInfo, m *bridge.Message) (facts []bridge.Fact) {
	own, _ := l.m.own()
	by := func(key *waCommon.MessageKey) bridge.JID {
		switch participant := parseToBridge(key.GetParticipant()); {
		case key.GetFromMe():
			return own
		case participant.IsPerson():
			return participant
		}
		return m.Chat
	}
	for _, r := range first(info.GetReactions()) {
		facts = append(facts, bridge.ReactionChange{Chat: m.Chat, Target: m.ID, Sender: by(r.GetKey()), Emoji: r.GetText(),
			Timestamp: changedAt(r.GetSenderTimestampMS(), m)})
	}
	for _, u := range first(info.GetPollUpdates()) {
		facts = append(facts, bridge.PollVote{Chat: m.Chat, Target: m.ID, Voter: by(u.GetPollUpdateMessageKey()),
			Hashes: u.GetVote().GetSelectedOptions(), Timestamp: changedAt(u.GetSenderTimestampMS(), m)})
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
