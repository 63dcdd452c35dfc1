package sending

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// errMoved means that the network has acknowledged a message to a person's former LID and does
// not deliver it.
var errMoved = errors.New("the recipient has another LID")

// follow looks up the recipient's current LID, once for each message, and reports whether the
// message must be sent there. It fails with [bridge.CodeNotOnNetwork] if the recipient has no
// account any more.
func (s *Sender) follow(ctx context.Context, d *delivery) (moved bool, err error) {
	log := s.o.Log.With().Str("msg_id", d.id).Logger()
	if d.followed {
		log.Warn().Msg("the network asks again to look up the recipient's LID; not sending the message a third time")
		return false, nil
	}
	d.followed = true
	c, err := s.o.Connection()
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithDeadline(ctx, d.deadline(s.Waits))
	defer cancel()
	to, err := c.lookUpAgain(ctx, d.to)
	switch {
	case err != nil:
		log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the recipient has another LID, but bridged cannot look it up")
	case !to.IsEmpty():
		d.to, moved = to, true
		log.Info().Msg("the recipient has another LID; sending the message there with the same id")
	default:
		log.Warn().Msg("the network asked to look up the recipient's LID, but it is unchanged")
	}
	return moved, err
}

// lookUpAgain looks up the LID of a person's number. It returns the number, or the empty JID if
// the LID is unchanged.
func (c *Client) lookUpAgain(ctx context.Context, to types.JID) (pn types.JID, err error) {
	pn = to
	if to.Server == types.HiddenUserServer {
		if pn, err = c.NumberOf(ctx, to); err != nil {
			return types.EmptyJID, err
		}
	}
	if pn.IsEmpty() { // only the person's LID is known
		c.ForgetDevices(ctx, to)
		return types.EmptyJID, c.lidExists(ctx, to)
	}
	before, err := c.LIDOf(ctx, pn)
	if err != nil {
		return types.EmptyJID, err
	}
	if err := c.ForgetLID(ctx, pn); err != nil {
		return types.EmptyJID, err
	}
	checks, err := c.checkNumbers(ctx, []string{pn.User}, false)
	switch {
	case err != nil:
		return types.EmptyJID, c.s.RefusalOf(err, convert.JID(to))
	case checks[0].JID == "":
		return types.EmptyJID, notOnNetwork().Because(errMoved)
	}
	if now, err := c.LIDOf(ctx, pn); err != nil || now == before {
		return types.EmptyJID, err
	}
	return pn, nil
}

// askFormerNumber asks, at most once a day, who has a person's former number now. The number
// leads to that person's chat until the store learns that it belongs to somebody else.
func (c *Client) askFormerNumber(ctx context.Context, to bridge.JID) error {
	if now := c.s.o.Store.Canonical(to); now == to || to.Server() != bridge.ServerUser {
		return nil
	}
	if _, err := c.lookUp(ctx, to.User()); err != nil {
		return c.s.RefusalOf(err, to)
	}
	return nil
}
