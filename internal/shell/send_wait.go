package shell

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// awaitDelivery waits until a phone has taken the message. The log is read from
// before it was sent.
func (s *Shell) awaitDelivery(ctx context.Context, sent client.Sent, cursor string, wait time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	m, err := s.API.Message(ctx, sent.Chat, sent.ID)
	if err != nil {
		return err
	}
	if done, err := s.isDelivered(m); done {
		return err
	}
	query := client.EventQuery{After: cursor, Chat: sent.Chat, Types: []bridge.EventType{bridge.EventMessageStatus}}
	for event, err := range s.API.Events(waiting, query) {
		if err != nil && waiting.Err() == nil {
			return err
		}
		if event.Message == nil || event.Message.ID != sent.ID {
			continue
		}
		if done, err := s.isDelivered(*event.Message); done {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return hinted(fmt.Errorf("sent, but no phone has taken it within %s", wait), "it is delivered once their phone is online; do not send it again")
}

// isDelivered reports whether nothing more is to be waited for.
func (s *Shell) isDelivered(m bridge.Message) (bool, error) {
	if m.Status == nil {
		return false, nil
	}
	switch *m.Status {
	case bridge.DeliveryDelivered, bridge.DeliveryRead, bridge.DeliveryPlayed:
		return true, s.note("It is %s.", *m.Status)
	case bridge.DeliveryFailed:
		return true, fmt.Errorf("the network refused the message")
	}
	return false, nil
}
