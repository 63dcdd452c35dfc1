package wa

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

const (
	// secretLife is how long session.db keeps the secrets of messages, with which votes
	// on them and edits of them are opened: longer than any of them usually takes. The
	// secret of a stored message is in the store as well, and is looked for there.
	secretLife = 90 * 24 * time.Hour
	// secretPause is how often the age of secrets is noted.
	secretPause = 24 * time.Hour

	settingSecretMarks = "secret_marks"
)

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
func (m *Manager) pruneSecrets(ctx context.Context) error {
	device, newest, err := m.db.newestSecret(ctx)
	if err != nil || device == "" {
		return err
	}
	text, err := m.store.Setting(ctx, settingSecretMarks)
	if err != nil {
		return err
	}
	var marks secretMarks
	if err := json.Unmarshal([]byte(text), &marks); err != nil && text != "" {
		m.log.Warn().Err(err).Msg("ages of message secrets not read; beginning anew")
	}
	if old := marks.advance(device, newest, m.opts.Clock.Now()); old > 0 {
		n, err := m.db.deleteSecrets(ctx, old)
		if err != nil {
			return err
		}
		m.log.Info().Int64("secrets", n).Msg("old message secrets deleted")
	}
	noted, err := bridge.EncodeJSON(marks)
	if err != nil {
		return fmt.Errorf("encode the ages of message secrets: %w", err)
	}
	return m.store.SetSetting(ctx, settingSecretMarks, string(noted))
}
