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
	return s.write(ctx, func(t *tx) error {
		for _, fact := range facts {
			if err := t.save(bridge.Bounded(fact)); err != nil {
				return fmt.Errorf("save %T: %w", fact, err)
			}
		}
		return nil
	})
}

func (t *tx) save(fact bridge.Fact) error {
	switch f := fact.(type) {
	case bridge.Message:
		return t.message(f)
	case bridge.Group:
		return t.group(f)
	case bridge.Identity:
		return t.identity(f)
	case bridge.Contact:
		return t.contact(f)
	case bridge.ReactionChange:
		return t.reaction(f)
	case bridge.Edit:
		return t.edit(f)
	case bridge.Deletion:
		return t.deletion(f)
	case bridge.RemovedElsewhere:
		return t.removedElsewhere(f)
	case bridge.PollVote:
		return t.vote(f)
	case bridge.Receipt:
		return t.receipt(f)
	case bridge.SendResult:
		return t.sendResult(f)
	case bridge.GroupChange:
		return t.groupChange(f)
	case bridge.ChatTimer:
		return t.setTimer(f)
	case bridge.Owner:
		return t.setOwner(f)
	case bridge.MediaMoved:
		return t.mediaMoved(f)
	case bridge.SendKey:
		return t.sendKey(f)
	case bridge.Status:
		return t.status(f)
	}
	return fmt.Errorf("the store does not know this kind of fact")
}
