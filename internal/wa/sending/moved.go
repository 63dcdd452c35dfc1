package sending

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// errMoved says that the network has acknowledged a message to a person's former LID, and
// does not deliver it.
var errMoved = errors.New("the recipient has another LID")

// follow asks for the recipient's present LID, once for each message, and reports whether
// the message has to be sent to another one. It fails with [bridge.CodeNotOnNetwork] if the
// recipient has no account any more.
func (s *Sender) follow(ctx context.Context, d *delivery) (moved bool, err error) {
	log := s.o.Log.With().Str("msg_id", d.id).Logger()
	if d.followed {
		log.Warn().Msg("the network asks for the recipient's LID once more; the message is not sent a third time")
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
		log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the recipient has another LID, which was not found")
	case !to.IsEmpty():
		d.to, moved = to, true
		log.Info().Msg("the recipient has another LID; sending the message there with the same id")
	default:
		log.Warn().Msg("the network asked for the recipient's LID, which is the same")
	}
	return moved, err
}

// lookUpAgain asks for the LID of a person's number. It returns the number, or the empty JID
// if the LID is the same.
func (c *Client) lookUpAgain(ctx context.Context, to types.JID) (pn types.JID, err error) {
	pn = to
	if to.Server == types.HiddenUserServer {
		if pn, err = c.NumberOf(ctx, to); err != nil {
			return types.EmptyJID, err
		}
	}
	if pn.IsEmpty() { // the person is known by the LID alone
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

// askFormerNumber asks, at most once a day, who has a person's former number now. It leads
// to that person's chat until the store learns that it is somebody else's.
func (c *Client) askFormerNumber(ctx context.Context, to bridge.JID) error {
	if now := c.s.o.Store.Canonical(to); now == to || to.Server() != bridge.ServerUser {
		return nil
	}
	if _, err := c.lookUp(ctx, to.User()); err != nil {
		return c.s.RefusalOf(err, to)
	}
	return nil
}
