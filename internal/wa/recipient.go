package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/groups"
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
		return groups.QueryError(err)
	}
	l.noteGroup(info)
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

// groupChangeFacts returns a notification's change. The account's own leaving ends
// the knowledge that it may send there.
func (l *link) groupChangeFacts(e *events.GroupInfo) []bridge.Fact {
	if jid := convert.JID(e.JID); jid != "" {
		l.forgetGroup(jid)
	}
	pn, lid := l.m.own()
	return convert.GroupChangeFacts(e, pn, lid)
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
	l.noteGroup(info)
	return info.AddressingMode == types.AddressingModeLID
}

// noteGroup keeps what sends to a group need to know.
func (l *link) noteGroup(info *types.GroupInfo) {
	l.members.Store(convert.JID(info.JID), kindOf(info))
	l.modes.Store(convert.JID(info.JID), info.AddressingMode)
}

// forgetGroup drops what is known of a group that has changed.
func (l *link) forgetGroup(jid bridge.JID) {
	l.members.Delete(jid)
	l.modes.Delete(jid)
}

// newGroups returns the account's groups.
func (m *Manager) newGroups() *groups.Groups {
	return groups.New(groups.Options{
		Open: func() (groups.Conn, error) {
			l, err := m.open()
			if err != nil {
				return groups.Conn{}, err
			}
			return groups.Conn{Client: l.cli, Recipients: recipients{l}}, nil
		},
		Own: m.own, Within: m.within, Answer: func() time.Duration { return m.waits.answer },
		Refusal: m.accountRefusal, IsLost: func(err error) bool { again, _ := uncertain(err); return again },
		Background: m.background, Store: m.store, Clock: m.opts.Clock, Log: m.log,
	})
}

// recipients is what a link knows of people and groups.
type recipients struct{ l *link }

func (r recipients) InGroup(ctx context.Context, jid bridge.JID) error { return r.l.inGroup(ctx, jid) }
func (r recipients) AddressedByLID(ctx context.Context, jid bridge.JID) bool {
	return r.l.addressedByLID(ctx, jid)
}
func (r recipients) NoteGroup(info *types.GroupInfo) { r.l.noteGroup(info) }
func (r recipients) ForgetGroup(jid bridge.JID)      { r.l.forgetGroup(jid) }
func (r recipients) LookUpAll(ctx context.Context, people []bridge.JID) error {
	return r.l.lookUpAll(ctx, people)
}
func (r recipients) NumberExists(ctx context.Context, to types.JID) (types.JID, error) {
	return r.l.numberExists(ctx, to)
}
func (r recipients) SaveAnswered(ctx context.Context) { r.l.saveAnswered(ctx) }
