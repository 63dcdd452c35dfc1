package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
)

// Save writes the facts of one stanza: all of them or none. When it answers
// nil they are on the disk; saving them again changes nothing. A fact that
// cannot apply (an edit by somebody else, a reaction to a message that is not
// stored) is left out without an error, so that no stanza can come back for
// ever. What strangers chose is kept within [bridge.Bounded]. What the disk
// refuses is [bridge.CodeStorageUnavailable].
func (s *Store) Save(ctx context.Context, facts ...bridge.Fact) error {
	return s.write(ctx, func(t *writeTx) error {
		for _, fact := range facts {
			if err := t.save(bridge.Bounded(fact)); err != nil {
				return fmt.Errorf("save %T: %w", fact, err)
			}
		}
		return nil
	})
}

func (t *writeTx) save(fact bridge.Fact) error {
	switch f := fact.(type) {
	case bridge.Message:
		return t.saveMessage(f)
	case bridge.Group:
		return t.saveGroup(f)
	case bridge.Identity:
		return t.saveIdentity(f)
	case bridge.Contact:
		return t.saveContact(f)
	case bridge.ReactionChange:
		return t.saveReaction(f)
	case bridge.Edit:
		return t.saveEdit(f)
	case bridge.Deletion:
		return t.saveDeletion(f)
	case bridge.RemovedElsewhere:
		return t.saveRemovedElsewhere(f)
	case bridge.PollVote:
		return t.saveVote(f)
	case bridge.Receipt:
		return t.saveReceipt(f)
	case bridge.SendResult:
		return t.saveSendResult(f)
	case bridge.GroupChange:
		return t.saveGroupChange(f)
	case bridge.ChatTimer:
		return t.saveTimer(f)
	case bridge.Owner:
		return t.saveOwner(f)
	case bridge.MediaMoved:
		return t.saveMediaMoved(f)
	case bridge.SendKey:
		return t.saveSendKey(f)
	case bridge.Status:
		return t.saveStatus(f)
	}
	return fmt.Errorf("the store does not know this kind of fact")
}
