package sending

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

const (
	// blockTimeout limits the blocking of a person, blockAnswer one request of it.
	blockTimeout = 60 * time.Second
	blockAnswer  = 10 * time.Second
)

// Block blocks a person, or unblocks them if block is false. It stores the change after the
// network has accepted it.
func (s *Sender) Block(ctx context.Context, person bridge.JID, block bool) error {
	ctx, cancel := s.Within(ctx, blockTimeout)
	defer cancel()
	err := s.untilConfirmed(ctx, person, "the change of the list of blocked people", "it takes effect once", func(c *Client) error {
		return c.block(ctx, person, block)
	})
	if err != nil && bridge.CodeOf(err) == bridge.CodeInternal {
		return s.RefusalOf(err, person)
	}
	return err
}

func (c *Client) block(ctx context.Context, person bridge.JID, block bool) error {
	ctx, cancel := context.WithTimeout(ctx, blockAnswer)
	defer cancel()
	action := events.BlocklistChangeActionUnblock
	if block {
		action = events.BlocklistChangeActionBlock
	}
	if _, err := c.UpdateBlocklist(ctx, convert.WireJID(c.wireForm(ctx, person, person)), action); err != nil {
		return err
	}
	return c.s.save(bridge.Block{JID: person, IsBlocked: block})
}
