package store

import (
	"context"
	"fmt"
	"time"
)

// What waits for its message is bounded in age, in size and in number, for each
// sender and in all, so that no stranger fills the disk or drives out what others
// have postponed. Deletions go last.
const (
	// pendingLife is as long as the network keeps stanzas for a device, and as long
	// as a phone may be away before its devices are unlinked: what has not come by
	// then will not come.
	pendingLife = 14 * 24 * time.Hour

	maxPendingSize         = 1 << 20 // of one change, in bytes
	maxPendingOfSender     = 1000
	maxPendingSizeOfSender = 2 << 20
	maxPending             = 20_000
	maxPendingSizeInAll    = 64 << 20

	// pendingCheck is after how many changes the whole table is looked at.
	pendingCheck = 64
)

// limitPending removes what is too much: of a sender with each change, in all with
// every pendingCheck-th.
func (t *writeTx) limitPending(id int64, sender string) {
	t.trimPending("sender = ?", sender, maxPendingOfSender, maxPendingSizeOfSender)
	if id%pendingCheck != 0 {
		return
	}
	t.trimPending("? != ''", sender, maxPending, maxPendingSizeInAll)
}

func (t *writeTx) trimPending(where, sender string, most, mostSize int64) {
	var count, size int64
	t.Find("SELECT count(*), ifnull(sum(size), 0) FROM pending_changes WHERE "+where, []any{sender}, &count, &size)
	if count <= most && size <= mostSize {
		return
	}
	t.dropPending(`id IN (
		SELECT id FROM (
			SELECT id, row_number() OVER last AS place, sum(size) OVER last AS size FROM pending_changes WHERE `+where+`
			WINDOW last AS (ORDER BY kind = ? DESC, id DESC)
		) WHERE place > ? OR size > ?)`, sender, pendingDeletion, most, mostSize)
}

// ForgetPending removes the changes that have waited too long for their message,
// and returns how many.
func (s *Store) ForgetPending(ctx context.Context) (int, error) {
	return s.forgetPendingBefore(ctx, s.clock.Now().Add(-pendingLife))
}

func (s *Store) forgetPendingBefore(ctx context.Context, before time.Time) (int, error) {
	removed := int64(0)
	err := s.write(ctx, func(t *writeTx) {
		if removed = t.Change("DELETE FROM pending_changes WHERE at < ?", before.UnixMilli()); removed == 0 {
			return
		}
		t.markErased()
	})
	if err != nil {
		return 0, fmt.Errorf("remove changes whose messages have not come: %w", err)
	}
	return int(removed), nil
}
