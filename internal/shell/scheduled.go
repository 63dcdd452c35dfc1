package shell

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Scheduled prints the messages that are sent later, the next one first; limit 0 is all of them.
func (s *Shell) Scheduled(ctx context.Context, chat string, limit int) (err error) {
	q := bridge.ScheduledQuery{Limit: pageOf(limit)}
	if chat != "" {
		if q.Chat, err = s.find(ctx, chat); err != nil {
			return err
		}
	}
	columns := []column{{title: "TIME"}, {title: "STATUS"}, {title: "CHAT"}, {title: "ID"}, {title: "MESSAGE", flexible: true, wraps: true}}
	return list(s, s.API.AllScheduled(ctx, q), limit, "No messages are scheduled.", columns, func(m bridge.ScheduledMessage) []string {
		text := cmp.Or(m.Content, "["+string(m.Type)+"]")
		if m.Error != nil {
			text += " (" + m.Error.Error + ")"
		}
		return []string{s.when(&m.SendAt), string(m.Status), string(m.Chat), m.ID, text}
	})
}

// ChangeScheduled gives a scheduled message another time, another text or both.
func (s *Shell) ChangeScheduled(ctx context.Context, id, sendAt, text string) error {
	at, err := s.future("--send-at", sendAt)
	if err != nil {
		return err
	}
	patch := client.ScheduledPatch{SendAt: at}
	if text != "" {
		patch.Text = &text
	}
	if at == nil && text == "" {
		return Usage("there is nothing to change: give --send-at, a text or both")
	}
	changed, err := s.API.UpdateScheduled(ctx, id, patch)
	if err != nil {
		return listHint(err, "bridged scheduled list")
	}
	return s.printSent("Changed in", changed)
}

// CancelScheduled erases a scheduled message.
func (s *Shell) CancelScheduled(ctx context.Context, id string) error {
	if err := s.API.CancelScheduled(ctx, id); err != nil {
		return listHint(err, "bridged scheduled list")
	}
	if s.JSON {
		return s.printJSON(map[string]any{"ok": true, "msgId": id})
	}
	return s.note("Cancelled.")
}

// SendScheduled sends a scheduled message now, once.
func (s *Shell) SendScheduled(ctx context.Context, id, key string) error {
	key, err := keyOr(key)
	if err != nil {
		return err
	}
	sent, err := once(ctx, s, key, func(ctx context.Context) (client.Sent, error) { return s.API.SendScheduled(ctx, id, key) })
	if err != nil {
		return listHint(err, "bridged scheduled list")
	}
	return s.printSent("Sent to", sent)
}
