package store

import (
	"context"
	"fmt"
	"time"
)

// What waits for its message is bounded in age, in size and in number, for each
// sender and in all, so that no stranger fills the disk or drives out what others
// have parked. Deletions go last.
const (
	// parkedLife is as long as the network keeps stanzas for a device, and as long
	// as a phone may be away before its devices are unlinked: what has not come by
	// then will not come.
	parkedLife = 14 * 24 * time.Hour

	maxParkedSize         = 1 << 20 // of one change, in bytes
	maxParkedOfSender     = 1000
	maxParkedSizeOfSender = 2 << 20
	maxParked             = 20_000
	maxParkedSizeInAll    = 64 << 20

	// parkedCheck is after how many changes the whole table is looked at.
	parkedCheck = 64
)

// limitParked removes what is too much: of a sender with each change, in all with
// every parkedCheck-th.
func (t *writeTx) limitParked(ctx context.Context, id int64, sender string) error {
	if err := t.trimParked(ctx, "sender = ?", sender, maxParkedOfSender, maxParkedSizeOfSender); err != nil {
		return err
	}
	if id%parkedCheck != 0 {
		return nil
	}
	return t.trimParked(ctx, "? != ''", sender, maxParked, maxParkedSizeInAll)
}

func (t *writeTx) trimParked(ctx context.Context, where, sender string, most, mostSize int64) error {
	var count, size int64
	_, err := t.find(ctx, "SELECT count(*), ifnull(sum(size), 0) FROM parked WHERE "+where, []any{sender}, &count, &size)
	if err != nil || count <= most && size <= mostSize {
		return err
	}
	return t.unpark(ctx, `id IN (
		SELECT id FROM (
			SELECT id, row_number() OVER last AS place, sum(size) OVER last AS size FROM parked WHERE `+where+`
			WINDOW last AS (ORDER BY kind = ? DESC, id DESC)
		) WHERE place > ? OR size > ?)`, sender, parkedDeletion, most, mostSize)
}

// ForgetParked removes the changes that have waited too long for their message,
// and returns how many.
func (s *Store) ForgetParked(ctx context.Context) (int, error) {
	return s.forgetParkedBefore(ctx, s.clock.Now().Add(-parkedLife))
}

func (s *Store) forgetParkedBefore(ctx context.Context, before time.Time) (int, error) {
	removed := int64(0)
	err := s.write(ctx, func(ctx context.Context, t *writeTx) (err error) {
		if removed, err = t.change(ctx, "DELETE FROM parked WHERE at < ?", before.UnixMilli()); err != nil || removed == 0 {
			return err
		}
		return t.markErased(ctx)
	})
	if err != nil {
		return 0, fmt.Errorf("remove changes whose messages have not come: %w", err)
	}
	return int(removed), nil
}
