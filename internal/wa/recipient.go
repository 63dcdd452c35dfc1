package wa

import (
	"context"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// destination checks that there is somebody to send to, before anything is
// stored, and returns the library's form of the chat.
func (l *link) destination(ctx context.Context, jid bridge.JID) (types.JID, error) {
	jid = l.m.store.Canonical(jid)
	to := convert.WireJID(jid)
	switch {
	case jid.IsGroup():
		return to, l.inGroup(ctx, jid)
	case jid.IsLID():
		return to, l.lidExists(ctx, to)
	case jid.Server() == bridge.ServerUser:
		return l.numberExists(ctx, to)
	}
	return to, nil
}

func (l *link) inGroup(ctx context.Context, jid bridge.JID) error {
	if known, ok := l.members.Load(jid); ok {
		return known.(groupKind).mayWrite()
	}
	info, err := l.cli.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return groupError(err)
	}
	l.members.Store(jid, kindOf(info))
	if err := l.m.store.Save(ctx, convert.GroupFacts(info)...); err != nil {
		l.m.log.Warn().Err(err).Msg("group not stored")
	}
	return kindOf(info).mayWrite()
}

// numberExists returns the number that the network knows the person by.
func (l *link) numberExists(ctx context.Context, to types.JID) (types.JID, error) {
	if lid, err := l.cli.LIDOf(ctx, to); err != nil {
		return to, err
	} else if !lid.IsEmpty() {
		return to, nil
	}
	known, err := l.lookUp(ctx, to.User)
	switch {
	case err != nil:
		return to, l.m.refusalOf(err, convert.JID(to))
	case known.IsEmpty():
		return to, notOnNetwork()
	}
	return known, nil
}

func (l *link) lidExists(ctx context.Context, to types.JID) error {
	if pn, err := l.cli.NumberOf(ctx, to); err != nil {
		return err
	} else if !pn.IsEmpty() {
		return nil
	}
	devices, err := l.cli.GetUserDevices(ctx, []types.JID{to})
	if err != nil {
		return l.m.refusalOf(err, convert.JID(to))
	}
	if len(devices) == 0 {
		return notOnNetwork()
	}
	return nil
}

func notOnNetwork() error {
	return bridge.Fail(bridge.CodeNotOnNetwork, "the recipient is not on WhatsApp: check the number (E.164 digits with country code)")
}
