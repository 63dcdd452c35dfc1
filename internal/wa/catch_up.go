package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// catchUpTimeout bounds what is done after a login.
const catchUpTimeout = 2 * time.Minute

// catchUp makes the store agree, after a login, with what the session knows
// and the network says: whose account it is, names, identities, groups.
func (l *link) catchUp() {
	ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
	defer cancel()
	l.stayUnavailable()
	pn, lid := l.m.own()
	if pn == "" {
		return
	}
	facts := append([]bridge.Fact{bridge.Owner{PN: pn, LID: lid}}, l.m.ownNames()...)
	if err := l.m.store.Save(ctx, facts...); err != nil {
		l.m.log.Error().Err(err).Msg("owner not stored")
	}
	l.catchUpPeople(ctx)
	l.catchUpSettings(ctx)
	l.catchUpGroups(ctx)
}

// catchUpPeople passes on identities and address book as the session has
// them: what was learned while the store failed is not lost.
func (l *link) catchUpPeople(ctx context.Context) {
	facts, err := l.m.db.identities(ctx)
	if err != nil {
		l.m.log.Warn().Err(err).Msg("identities not read")
	}
	contacts, err := l.stores.contacts.GetAllContacts(ctx)
	if err != nil {
		l.m.log.Warn().Err(err).Msg("contacts not read")
	}
	for _, server := range []string{types.HiddenUserServer, types.DefaultUserServer} { // the number's names win
		for jid, contact := range contacts {
			if jid.Server == server {
				facts = append(facts, contactOf(jid, contact))
			}
		}
	}
	l.saveAll(ctx, facts)
}

// saveAll saves what the session knows, some at a time.
func (l *link) saveAll(ctx context.Context, facts []bridge.Fact) {
	const batch = 500
	for ; len(facts) > 0; facts = facts[min(batch, len(facts)):] {
		if err := l.m.store.Save(ctx, facts[:min(batch, len(facts))]...); err != nil {
			l.m.log.Warn().Err(err).Msg("not all that the session knows is stored")
			return
		}
	}
}

func contactOf(jid types.JID, info types.ContactInfo) bridge.Contact {
	contact := bridge.Contact{JID: toBridge(jid)}
	if name := info.FullName; name != "" {
		contact.Name = &name
	}
	if name := info.PushName; name != "" {
		contact.PushName = &name
	}
	if name := info.BusinessName; name != "" {
		contact.BusinessName = &name
	}
	return contact
}

// catchUpGroups reads all joined groups with one query.
func (l *link) catchUpGroups(ctx context.Context) {
	joined, err := l.cli.GetJoinedGroups(ctx)
	if err != nil {
		l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("groups not read")
		return
	}
	for _, info := range joined {
		facts := groupFacts(info)
		if len(facts) == 0 {
			continue
		}
		if err := l.m.store.Save(ctx, facts...); err != nil {
			l.m.log.Warn().Err(err).Msg("group not stored")
			return
		}
		l.m.groups.want(facts)
		l.members.Store(toBridge(info.JID), kindOf(info))
		l.modes.Store(toBridge(info.JID), info.AddressingMode)
	}
	missing, err := l.m.store.GroupsWithoutInfo(ctx)
	if err != nil {
		l.m.log.Warn().Err(err).Msg("groups without metadata not read")
		return
	}
	l.m.groups.wantAll(missing...)
}
