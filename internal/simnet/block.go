package simnet

import (
	"context"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
)

// Block blocks a person or, with false, unblocks them.
func (p *Phone) Block(ctx context.Context, person types.JID, block bool) error {
	action := events.BlocklistChangeActionUnblock
	if block {
		action = events.BlocklistChangeActionBlock
	}
	_, err := p.client.UpdateBlocklist(ctx, person, action)
	return err
}
