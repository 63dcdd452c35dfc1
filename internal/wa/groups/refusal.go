package groups

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// These are the network's codes for refusals.
const (
	codeUnauthorized = 401
	codeForbidden    = 403
	codeNotFound     = 404
	codeNotAllowed   = 405
	codeBlocked      = 406
	codeLeft         = 408
	codeConflict     = 409
	codeGone         = 410
	codeFull         = 419
)

// iqCode returns the code of a refused query, or 0 if the network did not answer.
func iqCode(err error) int {
	var iq *whatsmeow.IQError
	if errors.As(err, &iq) {
		return iq.Code
	}
	return 0
}

// queryRefusal returns the error for a refused query of data that only admins may see.
func (c *conn) queryRefusal(ctx context.Context, jid bridge.JID, err error) error {
	if iqCode(err) != 0 {
		return c.refusal(ctx, jid, err)
	}
	return QueryError(err)
}

// refusal returns the error for a change that was refused or may have been made.
func (c *conn) refusal(ctx context.Context, jid bridge.JID, err error) error {
	switch iqCode(err) {
	case codeUnauthorized, codeForbidden:
		// The network gives the same answer to non-members and to members who are not admins.
		if _, asked := c.describe(ctx, jid); bridge.CodeOf(asked) == bridge.CodeNotInGroup {
			c.ForgetGroup(jid)
			return asked
		}
		return bridge.Fail(bridge.CodeNotAdmin, "only an admin of the group may do that, and the account is not an admin").Because(err)
	case codeNotFound:
		c.ForgetGroup(jid)
		return bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group").Because(err)
	case codeConflict:
		return bridge.Fail(bridge.CodeGroupChanged, "another admin changed the group at the same moment: look at it, then try again").Because(err)
	}
	return c.refusedChange(err)
}

// refusedChange returns the errors that any change of a group can have.
func (c *conn) refusedChange(err error) error {
	code := iqCode(err)
	if code == 0 {
		return c.gs.unanswered(err)
	}
	if code == codeFull {
		return bridge.Fail(bridge.CodeGroupFull, "the group has reached its maximum number of members").Because(err)
	}
	if named := c.gs.o.Refusal(err); named != nil {
		return named
	}
	if code >= 500 {
		return bridge.NotConnected("the network failed (code %d): try again in a moment", code).Because(err)
	}
	return bridge.Fail(bridge.CodeSendRefused, "the network refused the change (code %d)", code).Because(err)
}

// unanswered returns the error for a change without an answer.
func (gs *Groups) unanswered(err error) error {
	switch {
	case errors.Is(err, whatsmeow.ErrNotConnected):
		return bridge.NotConnected("the connection was lost before anything was sent: try again").Because(err)
	case errors.Is(err, context.Canceled):
		return err
	}
	if !gs.o.IsLost(err) && !errors.Is(err, whatsmeow.ErrIQTimedOut) {
		return fmt.Errorf("change a group: %w", err)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the change in time; it may still have been made").Because(err)
}

// changeGroups asks the network once for a change of groups.
func (c *conn) changeGroups(ctx context.Context, to types.JID, change waBinary.Node) (*waBinary.Node, error) {
	return c.ChangeGroups(ctx, to, change, c.gs.o.Answer())
}
