package wa

import (
	"context"
	"time"

	"bridged/internal/bridge"
)

const (
	// cleanPause is how often session.db is relieved of what nobody needs. A program
	// that is restarted often would not live to see a longer one.
	cleanPause = settledAfter
	// settledAfter is how long a connection has been open when the network has
	// surely sent again what was not acknowledged on earlier ones: it does so at the
	// login.
	settledAfter = time.Hour
)

// keepSessionClean deletes from session.db what whatsmeow keeps and nobody
// needs, until ctx ends.
func (m *Manager) keepSessionClean(ctx context.Context) {
	ticker := time.NewTicker(cleanPause)
	defer ticker.Stop()
	for {
		if err := m.pruneSecrets(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn().Err(err).Msg("old message secrets not deleted; trying again in an hour")
		}
		if err := m.clearLeftContent(ctx, time.Now()); err != nil && ctx.Err() == nil {
			m.log.Warn().Err(err).Msg("content that a kill left in the session database not cleared; trying again in an hour")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// clearLeftContent clears what was decrypted before the present connection and
// not cleared by a process that was killed (see [clearings]), once all that was
// not acknowledged then has come again.
func (m *Manager) clearLeftContent(ctx context.Context, now time.Time) error {
	status := m.Status()
	since := status.Since.Time
	if status.Status != bridge.StateOpen || now.Sub(since) < settledAfter {
		return nil
	}
	n, err := m.db.clearContent(ctx, since)
	if err == nil && n > 0 {
		m.log.Info().Int64("stanzas", n).Msg("content of stored messages cleared, which a kill had left")
	}
	return err
}
