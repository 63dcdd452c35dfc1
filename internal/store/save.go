package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
)

// Save writes the facts of one stanza: all of them or none. When it returns
// nil they are on the disk; saving them again changes nothing. A fact that
// cannot apply (an edit by somebody else) is left out without an error, so that
// no stanza comes back endlessly; one whose message has not come yet waits for
// it. What strangers chose is kept within [bridge.Bounded]. What the disk
// refuses is [bridge.CodeStorageUnavailable].
func (s *Store) Save(ctx context.Context, facts ...bridge.Fact) error {
	return s.write(ctx, func(ctx context.Context, t *writeTx) error {
		for _, fact := range facts {
			if err := t.save(ctx, bridge.Bounded(fact)); err != nil {
				return fmt.Errorf("save %T: %w", fact, err)
			}
		}
		return nil
	})
}

func (t *writeTx) save(ctx context.Context, fact bridge.Fact) error {
	switch f := fact.(type) {
	case bridge.Message:
		return t.saveMessage(ctx, f)
	case bridge.Group:
		return t.saveGroup(ctx, f)
	case bridge.Identity:
		return t.saveIdentity(ctx, f)
	case bridge.Contact:
		return t.saveContact(ctx, f)
	case bridge.ReactionChange:
		return t.saveReaction(ctx, f)
	case bridge.Edit:
		return t.saveEdit(ctx, f)
	case bridge.Deletion:
		return t.saveDeletion(ctx, f)
	case bridge.NoMessage:
		return t.saveNoMessage(ctx, f)
	case bridge.RemovedElsewhere:
		return t.saveRemovedElsewhere(ctx, f)
	case bridge.PollVote:
		return t.saveVote(ctx, f)
	case bridge.EventResponse:
		return t.saveEventResponse(ctx, f)
	case bridge.PollOptionAdded:
		return t.savePollOption(ctx, f)
	case bridge.Pin:
		return t.savePin(ctx, f)
	case bridge.Keep:
		return t.saveKeep(ctx, f)
	case bridge.Sealed:
		return t.saveEncrypted(ctx, f)
	case bridge.Receipt:
		return t.saveReceipt(ctx, f)
	case bridge.SendResult:
		return t.saveSendResult(ctx, f)
	case bridge.GroupChange:
		return t.saveGroupChange(ctx, f)
	case bridge.MemberLabel:
		return t.saveMemberLabel(ctx, f)
	case bridge.ChatTimer:
		return t.saveTimer(ctx, f)
	case bridge.Owner:
		return t.saveOwner(ctx, f)
	case bridge.MediaMoved:
		return t.saveMediaMoved(ctx, f)
	case bridge.GroupWithheld:
		return t.saveWithheld(ctx, f)
	case bridge.ChatRead:
		return t.saveChatRead(ctx, f)
	case bridge.ChatMarkedUnread:
		return t.saveMarkedUnread(ctx, f)
	case bridge.ChatSettings:
		return t.saveSettings(ctx, f)
	case bridge.SendKey:
		return t.saveSendKey(ctx, f)
	case bridge.NumberCheck:
		return t.saveNumberCheck(ctx, f)
	case bridge.KeyedRequest:
		return t.saveKeyedRequest(ctx, f)
	case bridge.GroupMade:
		return t.saveGroupMade(ctx, f)
	case bridge.Call:
		return t.saveCall(ctx, f)
	case bridge.CallChange:
		return t.saveCallChange(ctx, f)
	case bridge.CallsMissed:
		return t.saveCallsMissed(ctx, f)
	case bridge.NewChat:
		return t.saveNewChat(ctx, f)
	case bridge.HistoryPart:
		return t.saveHistoryPart(ctx, f)
	case bridge.HistoryStep:
		return t.saveHistoryStep(ctx, f)
	case bridge.HistoryForgotten:
		return t.forgetHistory(ctx)
	case bridge.ChatName:
		return t.saveChatName(ctx, f)
	case bridge.Imported:
		return t.saveImported(ctx, f)
	case bridge.Status:
		return t.saveStatus(ctx, f)
	}
	return fmt.Errorf("the store does not know this kind of fact")
}
