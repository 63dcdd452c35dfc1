package wa

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// The codes with which the network refuses changes of groups, beside those of
// messages.
const (
	codeUnauthorized = 401
	codeNotFound     = 404
	codeLeft         = 408
	codeConflict     = 409
	codeGone         = 410
	codeFull         = 419
)

// iqCode returns the code with which the network refused a query; 0 where it
// did not answer.
func iqCode(err error) int {
	var iq *whatsmeow.IQError
	if errors.As(err, &iq) {
		return iq.Code
	}
	return 0
}

// groupRefusal names the reason why a group was not changed, or that nobody
// knows whether it was.
func (l *link) groupRefusal(ctx context.Context, jid bridge.JID, err error) error {
	switch iqCode(err) {
	case 0:
		return unansweredChange(err)
	case codeUnauthorized, codeForbidden:
		// The network has one answer for strangers and for plain members.
		if _, asked := l.cli.GetGroupInfo(ctx, convert.WireJID(jid)); asked != nil && bridge.CodeOf(groupError(asked)) == bridge.CodeNotInGroup {
			l.members.Delete(jid)
			return groupError(asked)
		}
		return bridge.Fail(bridge.CodeNotAdmin, "only an admin of the group may do that, and the account is none").Because(err)
	case codeNotFound:
		l.members.Delete(jid)
		return bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group").Because(err)
	case codeConflict:
		return bridge.Fail(bridge.CodeGroupChanged, "somebody else changed the group at the same moment: look at it, then try again").Because(err)
	case codeFull:
		return groupFull(err)
	case codeRateLimited:
		return rateLimited(err)
	}
	return l.refusedChange(err)
}

func groupFull(err error) error {
	return bridge.Fail(bridge.CodeGroupFull, "the group has as many members as it may have").Because(err)
}

// refusedChange is a refusal without a name.
func (l *link) refusedChange(err error) error {
	switch code := iqCode(err); {
	case code == codeReachout:
		return reachoutRestricted(l.m.timelock.left()).Because(err)
	case code >= 500:
		return bridge.NotConnected("the network could not do it (code %d): try again in a moment", code).Because(err)
	default:
		return bridge.Fail(bridge.CodeSendRefused, "the network refused the change (code %d)", code).Because(err)
	}
}

// unansweredChange is the end of a change that the network has not answered.
func unansweredChange(err error) error {
	switch {
	case errors.Is(err, whatsmeow.ErrNotConnected):
		return bridge.NotConnected("the connection was lost before anything left: try again").Because(err)
	case errors.Is(err, context.Canceled):
		return err
	}
	if again, _ := uncertain(err); !again && !errors.Is(err, whatsmeow.ErrIQTimedOut) {
		return fmt.Errorf("change a group: %w", err)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the change in time; it may have been made all the same").Because(err)
}

// changeGroups asks the network once for a change of groups.
func (l *link) changeGroups(ctx context.Context, to types.JID, change waBinary.Node) (*waBinary.Node, error) {
	return l.cli.ChangeGroups(ctx, to, change, l.m.waits.answer)
}
