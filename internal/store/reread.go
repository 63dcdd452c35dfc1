package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// What bridged can read of a message grows from version to version, and the
// protobuf of each is kept: what earlier versions stored is read anew once, in
// the background, from the oldest message to the newest at the start.

// rereadDone is the setting's value once all messages show what this version
// reads. Who teaches bridged to read more gives it another number.
const rereadDone = "done 2"

// rereadBatch is how many messages are read at a time.
const rereadBatch = 256

// rereadRow is a stored message that is to be read anew.
type rereadRow struct {
	seq                    int64
	kind, content, details string
	raw                    []byte
	expiration             uint32
}

// rereadChange is what a row is to show.
type rereadChange struct {
	rereadRow
	newContent string
	newDetails any
	mediaRef   any     // nil where the file was known, or there is none
	albumID    *string // nil where it is a part of no album
}

// rereadInBackground reads messages anew and rests as long as it works. What
// cannot be read or written now is tried again at the next start.
func (s *Store) rereadInBackground(ctx context.Context, read func([]byte) (bridge.Message, bool)) {
	defer close(s.reread)
	if read == nil {
		return
	}
	began := time.Now()
	n, err := s.rereadAll(ctx, read)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Error().Err(err).Msg("messages of earlier versions not read anew; trying again at the next start")
	case n > 0:
		s.log.Info().Int("messages", n).Dur("took", time.Since(began)).Msg("messages of earlier versions read anew")
	}
}

// rereadAll returns how many messages it changed.
func (s *Store) rereadAll(ctx context.Context, read func([]byte) (bridge.Message, bool)) (changed int, err error) {
	progress, err := s.Setting(ctx, settingReread)
	if err != nil || progress == rereadDone {
		return 0, err
	}
	after, err := strconv.ParseInt(progress, 10, 64)
	if err != nil { // never begun, or done by an earlier version
		after = 0
	}
	var last int64
	if err := s.read(ctx, func(r *readTx) error { return r.scan(ctx, "SELECT ifnull(max(arrival), 0) FROM messages", nil, &last) }); err != nil {
		return 0, err
	}
	for after < last {
		began := time.Now()
		n, next, err := s.rereadSome(ctx, after, last, read)
		if err != nil {
			return changed, err
		}
		changed, after = changed+n, next
		if !sleep(ctx, time.Since(began)) {
			return changed, ctx.Err()
		}
	}
	return changed, s.SetSetting(ctx, settingReread, rereadDone)
}

// rereadSome reads the next batch and returns where it ended. Messages are read
// before the transaction: it holds up acknowledgements.
func (s *Store) rereadSome(ctx context.Context, after, last int64, read func([]byte) (bridge.Message, bool)) (changed int, next int64, err error) {
	rows, err := s.rowsToReread(ctx, after, last)
	if err != nil || len(rows) == 0 {
		return 0, last, err
	}
	next = rows[len(rows)-1].seq
	changes := s.rereadRows(rows, read)
	err = s.write(ctx, func(ctx context.Context, t *writeTx) error {
		for _, c := range changes {
			if err := t.saveReread(ctx, c); err != nil {
				return fmt.Errorf("read a message anew: %w", err)
			}
		}
		return t.setSetting(ctx, settingReread, strconv.FormatInt(next, 10))
	})
	return len(changes), next, err
}

// rereadRows returns the rows that are to show more than they do.
func (s *Store) rereadRows(rows []rereadRow, read func([]byte) (bridge.Message, bool)) (changes []rereadChange) {
	for _, row := range rows {
		m, ok := read(row.raw)
		if !ok {
			continue
		}
		m.Bound()
		c, err := row.merge(m)
		if err != nil {
			s.log.Warn().Err(err).Int64("arrival", row.seq).Msg("message of an earlier version not read anew")
			continue
		}
		if column, _ := c.newDetails.(string); column != row.details || c.newContent != row.content {
			changes = append(changes, c)
		}
	}
	return changes
}

func (s *Store) rowsToReread(ctx context.Context, after, last int64) (rows []rereadRow, err error) {
	err = s.read(ctx, func(r *readTx) error {
		return r.each(ctx, `
			SELECT m.arrival, m.type, m.content, ifnull(m.details, ''), r.raw, r.expiration
			FROM messages m JOIN message_raw r ON r.arrival = m.arrival
			WHERE m.arrival > ? AND m.arrival <= ? AND m.deleted_at IS NULL AND r.raw IS NOT NULL
			ORDER BY m.arrival`+limited, []any{after, last, rereadBatch}, func(found *resultSet) error {
			var row rereadRow
			err := found.Scan(&row.seq, &row.kind, &row.content, &row.details, &row.raw, &row.expiration)
			rows = append(rows, row)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read messages of earlier versions: %w", err)
	}
	return rows, nil
}

// saveReread changes a row to what is read now. One that has changed since it
// was read is up to date.
func (t *writeTx) saveReread(ctx context.Context, c rereadChange) error {
	changed, err := t.change(ctx, `
		UPDATE messages SET details = ?, content = ?, folded = ?
		WHERE arrival = ? AND deleted_at IS NULL AND type = ? AND content = ? AND ifnull(details, '') = ?`,
		c.newDetails, c.newContent, folded(c.newContent), c.seq, c.kind, c.content, c.details)
	if err != nil || changed == 0 {
		return err
	}
	if c.mediaRef != nil {
		if err := t.run(ctx, "UPDATE message_raw SET media_ref = ? WHERE arrival = ? AND media_ref IS NULL", c.mediaRef, c.seq); err != nil {
			return err
		}
	}
	if err := t.silently(func() error { return t.joinAlbum(ctx, c.seq, c.albumID) }); err != nil || c.newContent == c.content {
		return err
	}
	return t.markStale(ctx, c.seq)
}

// merge returns what a row shows with what is read now. Its context, its file
// and its poll stay as they are: edits, uploads and votes have changed them.
func (row rereadRow) merge(m bridge.Message) (c rereadChange, err error) {
	var d details
	if row.details != "" {
		if err := json.Unmarshal([]byte(row.details), &d); err != nil {
			return c, fmt.Errorf("details of a message: %w", err)
		}
	}
	c.rereadRow, c.newContent = row, row.content
	fresh := detailsOf(m)
	before := d
	d.Parts, d.Forwarded, d.Expiration = fresh.Parts, d.Forwarded || fresh.Forwarded, row.expiration
	switch {
	case d.Poll == nil:
		d.Poll = fresh.Poll
	case fresh.Poll != nil:
		d.Poll.Extensible = fresh.Poll.Extensible
	}
	d.keepMarks(before)
	if d.Media == nil && fresh.Media != nil {
		d.Media = fresh.Media
		if c.mediaRef, err = packRef(m); err != nil {
			return c, err
		}
	}
	if strings.Contains(m.Content, row.content) { // it says more than it did
		c.newContent = m.Content
	}
	if d.Parts != nil {
		c.albumID = d.Parts.AlbumID
	}
	c.newDetails, err = d.pack()
	return c, err
}
