package settings

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// SaveHistoryPart stores a part of the phone's history. It replaces a part of the same kind and
// number that could not be downloaded.
func SaveHistoryPart(c *sqlite.Conn, f bridge.HistoryPart) {
	added := c.Change(`
		INSERT INTO history_parts (id, kind, chunk, notification) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		f.ID, f.Kind, f.Chunk, f.Notification)
	if added == 0 || f.Kind == bridge.HistoryOnDemand || f.Kind == bridge.HistoryShared {
		return
	}
	c.Run(`
		UPDATE history_parts SET state = ?, notification = NULL
		WHERE kind = ? AND chunk = ? AND state = ? AND tries > 0 AND id != ?`,
		bridge.HistoryReplaced, f.Kind, f.Chunk, bridge.HistoryWaiting, f.ID)
}

// SaveHistoryStep stores the progress of a part, and removes its notification if it is done.
func SaveHistoryStep(c *sqlite.Conn, f bridge.HistoryStep) (done bool) {
	done = f.State >= bridge.HistoryDone
	c.Run(`
		UPDATE history_parts SET state = ?, position = ?, tries = ?, next_at = ?, notification = iif(?, NULL, notification)
		WHERE id = ? AND state < ?`,
		f.State, f.Position, f.Tries, f.NextAt.UnixMilli(), done, f.ID, bridge.HistoryDone)
	return done
}

// ForgetHistory removes all parts, and reports whether there were any.
func ForgetHistory(c *sqlite.Conn) bool { return c.Change("DELETE FROM history_parts") > 0 }

// NextHistoryPart returns the part of the phone's history to import next, due or not, and reports
// whether there is one.
func (t *Tables) NextHistoryPart(ctx context.Context) (part bridge.HistoryPart, found bool, err error) {
	part, err = view(ctx, t, "read the history that waits", func(c *sqlite.Conn) (p bridge.HistoryPart) {
		found = c.Find(`
			SELECT id, kind, chunk, notification, state, position, tries, next_at
			FROM history_parts WHERE state < 2 ORDER BY next_at, seq LIMIT 1`, nil,
			&p.ID, &p.Kind, &p.Chunk, &p.Notification, &p.State, &p.Position, &p.Tries, &p.NextAt)
		return p
	})
	return part, found, err
}

// HistoryKinds returns the kinds of parts that the phone has announced in this session.
func (t *Tables) HistoryKinds(ctx context.Context) (map[string]bool, error) {
	return view(ctx, t, "read which history was announced", func(c *sqlite.Conn) map[string]bool {
		kinds := make(map[string]bool)
		for _, kind := range sqlite.List[string](c, "SELECT DISTINCT kind FROM history_parts") {
			kinds[kind] = true
		}
		return kinds
	})
}

// HistoryCount counts the parts of the phone's history by their state.
func (t *Tables) HistoryCount(ctx context.Context) (bridge.HistoryCount, error) {
	return view(ctx, t, "count the parts of the history", func(c *sqlite.Conn) (count bridge.HistoryCount) {
		c.Find(`
			SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state IN (1, 2)), count(*) FILTER (WHERE state = 3)
			FROM history_parts`, nil, &count.Waiting, &count.Done, &count.GivenUp)
		return count
	})
}
