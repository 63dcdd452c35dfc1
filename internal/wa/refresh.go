package wa

import (
	"context"
	"errors"
	"fmt"

	"bridged/internal/wa/convert"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/wa/session"
)

// isStale reports whether the network refused a message because what is known
// of its recipients is out of date: a group knows its members by numbers no
// more, or a device is gone or new. Nobody has the message.
func isStale(err error) bool {
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return false
	}
	code := session.ServerCode(err)
	return code == codeWrongMode || code == codeStale
}

// refreshRecipients has the next send to a chat ask for its members and their
// devices.
func (l *link) refreshRecipients(ctx context.Context, to types.JID) error {
	if to.Server == types.GroupServer {
		info, err := l.cli.GetGroupInfo(ctx, to) // whatsmeow keeps it
		if err != nil {
			return fmt.Errorf("ask for the group: %w", err)
		}
		l.noteGroup(info)
		if err := l.m.store.Save(ctx, convert.GroupFacts(info)...); err != nil {
			return fmt.Errorf("store the group: %w", err)
		}
	}
	people, err := l.cli.PeopleOf(ctx, to)
	if err != nil {
		return err
	}
	for _, person := range people {
		l.cli.ForgetDevices(ctx, person)
	}
	return nil
}
