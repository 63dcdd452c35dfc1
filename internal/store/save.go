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
	return s.write(ctx, func(t *writeTx) {
		for _, fact := range facts {
			t.save(bridge.Bounded(fact))
		}
	})
}

func (t *writeTx) save(fact bridge.Fact) {
	switch f := fact.(type) {
	case bridge.Message:
		t.saveMessage(f)
		return
	case bridge.Group:
		t.saveGroup(f)
		return
	case bridge.Identity:
		t.saveIdentity(f)
		return
	case bridge.Contact:
		t.saveContact(f)
		return
	case bridge.ReactionChange:
		t.saveReaction(f)
		return
	case bridge.Edit:
		t.saveEdit(f)
		return
	case bridge.Deletion:
		t.saveDeletion(f)
		return
	case bridge.NoMessage:
		t.saveNoMessage(f)
		return
	case bridge.RemovedElsewhere:
		t.saveRemovedElsewhere(f)
		return
	case bridge.PollVote:
		t.saveVote(f)
		return
	case bridge.EventResponse:
		t.saveEventResponse(f)
		return
	case bridge.PollOptionAdded:
		t.savePollOption(f)
		return
	case bridge.Pin:
		t.savePin(f)
		return
	case bridge.Keep:
		t.saveKeep(f)
		return
	case bridge.Sealed:
		t.saveEncrypted(f)
		return
	case bridge.Receipt:
		t.saveReceipt(f)
		return
	case bridge.SendResult:
		t.saveSendResult(f)
		return
	case bridge.GroupChange:
		t.saveGroupChange(f)
		return
	case bridge.MemberLabel:
		t.saveMemberLabel(f)
		return
	case bridge.ChatTimer:
		t.saveTimer(f)
		return
	case bridge.Owner:
		t.saveOwner(f)
		return
	case bridge.MediaMoved:
		t.saveMediaMoved(f)
		return
	case bridge.GroupWithheld:
		t.saveWithheld(f)
		return
	case bridge.ChatRead:
		t.saveChatRead(f)
		return
	case bridge.ChatMarkedUnread:
		t.saveMarkedUnread(f)
		return
	case bridge.ChatSettings:
		t.saveSettings(f)
		return
	case bridge.SendKey:
		t.saveSendKey(f)
		return
	case bridge.NumberCheck:
		t.saveNumberCheck(f)
		return
	case bridge.KeyedRequest:
		t.saveKeyedRequest(f)
		return
	case bridge.GroupMade:
		t.saveGroupMade(f)
		return
	case bridge.Call:
		t.saveCall(f)
		return
	case bridge.CallChange:
		t.saveCallChange(f)
		return
	case bridge.CallsMissed:
		t.saveCallsMissed(f)
		return
	case bridge.NewChat:
		t.saveNewChat(f)
		return
	case bridge.HistoryPart:
		t.saveHistoryPart(f)
		return
	case bridge.HistoryStep:
		t.saveHistoryStep(f)
		return
	case bridge.HistoryForgotten:
		t.forgetHistory()
		return
	case bridge.ChatName:
		t.saveChatName(f)
		return
	case bridge.Imported:
		t.saveImported(f)
		return
	case bridge.Status:
		t.saveStatus(f)
		return
	}
	t.Fail(fmt.Errorf("the store does not know this kind of fact"))
}
