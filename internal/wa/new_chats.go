package wa

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// mayBegin refuses a first message beyond the limit before the network is asked about
// the recipient: look-ups of strangers are limited with it.
func (l *link) mayBegin(ctx context.Context, to bridge.JID) error {
	if !l.m.opts.NewChats.IsLimited() || !to.IsPerson() || l.isTrusted(ctx, to) {
		return nil
	}
	return l.m.store.MayBegin(ctx, l.m.opts.NewChats, l.namesOf(to)...)
}

// namesOf returns the names that the chat with a person may have: a number has other
// spellings in some countries.
func (l *link) namesOf(to bridge.JID) []bridge.JID {
	names := []bridge.JID{to}
	if canonical := l.m.store.Canonical(to); canonical.Server() == bridge.ServerUser {
		for _, alias := range bridge.PhoneAliases(canonical.User()) {
			names = append(names, bridge.PhoneJID(alias))
		}
	}
	return names
}

// withNewChat puts what counts a first message, or refuses it, before the facts of the
// message.
func (l *link) withNewChat(ctx context.Context, chat bridge.JID, facts ...bridge.Fact) []bridge.Fact {
	if !l.m.opts.NewChats.IsLimited() || !chat.IsPerson() || l.isTrusted(ctx, chat) {
		return facts
	}
	return append([]bridge.Fact{bridge.NewChat{Chat: chat, Limit: l.m.opts.NewChats}}, facts...)
}

// isTrusted reports whether a person's device has given this account its token: they
// have been in touch, perhaps before the account was paired.
func (l *link) isTrusted(ctx context.Context, person bridge.JID) bool {
	trusted, err := l.cli.HasToken(ctx, convert.WireJID(l.m.store.Canonical(person)))
	if err != nil {
		l.m.log.Warn().Err(err).Msg("a contact's token was not read")
	}
	return trusted
}
