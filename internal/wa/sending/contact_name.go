package sending

import (
	"context"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// SaveName saves a person's name in the account's address book, or removes the person from it, on
// all of the account's devices. It stores what the network has accepted.
func (s *Sender) SaveName(ctx context.Context, person bridge.JID, name bridge.ContactName) error {
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	return s.changeShared(ctx, person, "the change of the address book", func(c *Client) error { return c.saveName(ctx, person, name) })
}

func (c *Client) saveName(ctx context.Context, person bridge.JID, name bridge.ContactName) error {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	if err := c.s.changing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.s.changing.Release(1)
	number := convert.WireJID(c.s.o.Store.Canonical(person))
	lid := convert.WireJID(c.Hidden(ctx, convert.JID(number)))
	patch, change := convert.NamePatch(number, lid, name), c.ChangeState
	if name.Full == "" {
		change = c.RemoveState
	}
	if err := change(ctx, patch); err != nil {
		return err
	}
	if name.Full == "" { // before the store, because a login saves the session's names
		for _, form := range []types.JID{number, lid} {
			if err := c.ForgetName(ctx, form); err != nil {
				return err
			}
		}
	}
	if err := c.s.save(bridge.Contact{JID: convert.JID(number), Name: &name.Full}); err != nil {
		return err
	}
	if err := c.FollowState(ctx, patch.Type); err != nil { // the next change applies this one, too
		c.s.o.Log.Warn().Str("chat", person.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("a name was saved, but the change cannot be applied here yet")
	}
	return nil
}
