package wa

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// groupChangeFacts returns a notification's change. The account's own leaving ends
// the knowledge that it may send there.
func (l *link) groupChangeFacts(e *events.GroupInfo) []bridge.Fact {
	if jid := convert.JID(e.JID); jid != "" {
		l.members.Delete(jid)
		l.modes.Delete(jid)
	}
	pn, lid := l.m.own()
	return convert.GroupChangeFacts(e, pn, lid)
}

// LiveGroup asks the network for a group's metadata.
func (m *Manager) LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error) {
	l, err := m.open()
	if err != nil {
		return nil, err
	}
	info, err := l.cli.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return nil, groupError(err)
	}
	l.saveAnswered(ctx)
	g := convert.Group(info)
	for i := range g.Participants {
		g.Participants[i].JID = m.store.Canonical(g.Participants[i].JID)
	}
	g.OwnerJID = m.store.Canonical(g.OwnerJID)
	return &g, nil
}

// groupError names the reason why a group's metadata cannot be read.
func groupError(err error) error {
	var iq *whatsmeow.IQError
	switch {
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound),
		errors.As(err, &iq) && (iq.Code == 403 || iq.Code == 404):
		return bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group").Because(err)
	case errors.As(err, &iq) && iq.Code == 429:
		return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "the network limits queries about groups for now", Err: err, RetryAfter: time.Minute}
	}
	return bridge.NotConnected("the network did not answer about the group: try again in a moment").Because(err)
}

// addressedByLID reports whether a group's members know each other by LID. The
// library keeps what it learned of a group; asking it costs a query only the
// first time.
func (l *link) addressedByLID(ctx context.Context, jid bridge.JID) bool {
	if mode, known := l.modes.Load(jid); known {
		return mode == types.AddressingModeLID
	}
	info, err := l.cli.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return false
	}
	l.modes.Store(jid, info.AddressingMode)
	return info.AddressingMode == types.AddressingModeLID
}
