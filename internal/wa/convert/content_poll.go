package convert

import (
	"cmp"
	"math"
	"strconv"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

func readPoll(msg *waE2E.Message) shown {
	creation := pollCreation(msg)
	poll := &bridge.PollTally{
		Name: creation.GetName(), Options: []bridge.PollOption{}, SelectableCount: int(creation.GetSelectableOptionsCount()),
		Extensible: creation.GetAllowAddOption(),
	}
	for _, option := range creation.GetOptions() {
		poll.Options = append(poll.Options, bridge.PollOption{Name: option.GetOptionName(), Voters: []bridge.JID{}})
	}
	return shown{text: creation.GetName(), poll: poll}
}

// pollCreation returns the poll in any of the fields that phones use for it.
func pollCreation(msg *waE2E.Message) *waE2E.PollCreationMessage {
	return cmp.Or(msg.GetPollCreationMessage(), msg.GetPollCreationMessageV2(), msg.GetPollCreationMessageV3(),
		msg.GetPollCreationMessageV5(), msg.GetPollCreationMessageV6())
}

// readPollResult reads the result of a poll that was held elsewhere: it has
// numbers, but no names.
func readPollResult(msg *waE2E.Message) shown {
	result := cmp.Or(msg.GetPollResultSnapshotMessage(), msg.GetPollResultSnapshotMessageV3())
	poll := &bridge.PollTally{Name: result.GetName(), Options: []bridge.PollOption{}}
	text := []string{result.GetName()}
	for _, vote := range first(result.GetPollVotes()) {
		votes := max(0, min(vote.GetOptionVoteCount(), math.MaxInt32))
		poll.Options = append(poll.Options, bridge.PollOption{Name: vote.GetOptionName(), Votes: int(votes), Voters: []bridge.JID{}})
		text = append(text, labelled(vote.GetOptionName(), strconv.FormatInt(votes, 10)))
	}
	return shown{text: lines(text...), poll: poll}
}

// pollMessage makes a poll. Voters may choose any number of options unless selectable is a valid
// number.
func pollMessage(name string, values []string, selectable int) *waE2E.Message {
	if selectable < 0 || selectable > len(values) {
		selectable = 0
	}
	options := make([]*waE2E.PollCreationMessage_Option, len(values))
	for i, value := range values {
		options[i] = &waE2E.PollCreationMessage_Option{OptionName: proto.String(value)}
	}
	return &waE2E.Message{MessageContextInfo: newSecret(), PollCreationMessage: &waE2E.PollCreationMessage{
		Name: proto.String(name), Options: options, SelectableOptionsCount: proto.Uint32(uint32(selectable)),
	}}
}
