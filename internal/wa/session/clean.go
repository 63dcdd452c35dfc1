package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

const (
	// cleanPause is how often session.db is cleaned. A program that is restarted often
	// would not live to see a longer one.
	cleanPause = settledAfter
	// settledAfter is how long a connection has been open when the network has
	// surely sent again what was not acknowledged on earlier ones: it does so at the
	// login.
	settledAfter = time.Hour
	// secretLife is how long session.db keeps the secrets of messages, with which votes
	// on them and edits of them are opened: longer than any of them usually takes. The
	// secret of a stored message is in the store as well, and is looked for there.
	secretLife = 90 * 24 * time.Hour
	// secretPause is how often the age of secrets is noted.
	secretPause = 24 * time.Hour

	settingSecretMarks = "secret_marks"
)

// Cleaner deletes from session.db what whatsmeow keeps without need.
type Cleaner struct {
	DB *DB
	// OpenSince returns since when the account is open; not ok while it is not.
	OpenSince func() (since time.Time, ok bool)
	// Setting and SetSetting keep a text between runs.
	Setting    func(ctx context.Context, name string) (string, error)
	SetSetting func(ctx context.Context, name, value string) error
	Clock      *bridge.Clock
	Log        zerolog.Logger
}

// Run cleans hourly until ctx ends.
func (c *Cleaner) Run(ctx context.Context) {
	ticker := time.NewTicker(cleanPause)
	defer ticker.Stop()
	for {
		if err := c.pruneSecrets(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn().Err(err).Msg("old message secrets not deleted; trying again in an hour")
		}
		if err := c.clearLeftContent(ctx, time.Now()); err != nil && ctx.Err() == nil {
			c.Log.Warn().Err(err).Msg("content that a kill left in the session database not cleared; trying again in an hour")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// clearLeftContent clears what was decrypted before the present connection and
// not cleared by a process that was killed (see [clearedContent]), once all that was
// not acknowledged then has come again.
func (c *Cleaner) clearLeftContent(ctx context.Context, now time.Time) error {
	since, open := c.OpenSince()
	if !open || now.Sub(since) < settledAfter {
		return nil
	}
	n, err := c.DB.clearContent(ctx, since)
	if err == nil && n > 0 {
		c.Log.Info().Int64("stanzas", n).Msg("content of stored messages cleared, which a kill had left")
	}
	return err
}

// secretMarks are how far the table of secrets had grown at the end of each day: its
// rows have no time of their own.
type secretMarks struct {
	Device string       `json:"device"` // whose secrets they are
	Marks  []secretMark `json:"marks"`
}

type secretMark struct {
	At  int64 `json:"at"` // in seconds
	Row int64 `json:"row"`
}

// advance notes today's growth, and returns the last row that is old; 0 is none. Another
// session's marks are forgotten, and so are those of a table that was emptied.
func (m *secretMarks) advance(device string, newest int64, now time.Time) (old int64) {
	if last := len(m.Marks) - 1; m.Device != device || last >= 0 && m.Marks[last].Row > newest {
		*m = secretMarks{Device: device}
	}
	for len(m.Marks) > 0 && now.Unix()-m.Marks[0].At >= int64(secretLife.Seconds()) {
		old = m.Marks[0].Row
		m.Marks = m.Marks[1:]
	}
	if last := len(m.Marks) - 1; last < 0 || now.Unix()-m.Marks[last].At >= int64(secretPause.Seconds()) {
		m.Marks = append(m.Marks, secretMark{At: now.Unix(), Row: newest})
	}
	return old
}

// pruneSecrets notes how old the secrets of messages are, and deletes the old ones.
func (c *Cleaner) pruneSecrets(ctx context.Context) error {
	device, newest, err := c.DB.NewestSecret(ctx)
	if err != nil || device == "" {
		return err
	}
	text, err := c.Setting(ctx, settingSecretMarks)
	if err != nil {
		return err
	}
	var marks secretMarks
	if err := json.Unmarshal([]byte(text), &marks); err != nil && text != "" {
		c.Log.Warn().Err(err).Msg("ages of message secrets not read; beginning anew")
	}
	if old := marks.advance(device, newest, c.Clock.Now()); old > 0 {
		n, err := c.DB.DeleteSecrets(ctx, old)
		if err != nil {
			return err
		}
		c.Log.Info().Int64("secrets", n).Msg("old message secrets deleted")
	}
	noted, err := bridge.EncodeJSON(marks)
	if err != nil {
		return fmt.Errorf("encode the ages of message secrets: %w", err)
	}
	return c.SetSetting(ctx, settingSecretMarks, string(noted))
}
