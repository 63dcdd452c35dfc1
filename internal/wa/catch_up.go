package wa

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// catchUpTimeout bounds what is done after a login.
const catchUpTimeout = 2 * time.Minute

// catchUp makes the store agree with the session and the network after a login: owner,
// names, identities, groups. away is how long the account was not connected.
func (l *link) catchUp(away time.Duration) {
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
	if l.m.behind.CompareAndSwap(true, false) {
		l.catchUpPeople(ctx)
		l.catchUpSettings(ctx)
	}
	l.m.Groups.CatchUp(ctx, away)
	l.catchUpBlocklist(away)
}

// catchUpPeople passes on the session's identities and address book, also those learned
// while the store failed.
func (l *link) catchUpPeople(ctx context.Context) {
	facts, err := l.m.db.Identities(ctx)
	if err != nil {
		l.m.behind.Store(true)
		l.m.log.Warn().Err(err).Msg("identities not read")
	}
	contacts, err := l.cli.Contacts(ctx)
	if err != nil {
		l.m.behind.Store(true)
		l.m.log.Warn().Err(err).Msg("contacts not read")
	}
	for _, server := range []string{types.HiddenUserServer, types.DefaultUserServer} { // the number's names win
		for jid, contact := range contacts {
			if jid.Server == server {
				facts = append(facts, convert.Contact(jid, contact))
			}
		}
	}
	others, err := l.cli.AddressBook(ctx)
	if err != nil {
		l.m.behind.Store(true)
		level := zerolog.WarnLevel
		if errors.Is(err, appstate.ErrKeyNotFound) {
			level = zerolog.DebugLevel // the phone sends its keys after the pairing, and a whole sync follows
		}
		l.m.log.WithLevel(level).Str("error", bridge.Redact(err.Error())).Msg("people without a number not read")
	}
	l.saveAll(ctx, append(facts, others...))
}

// saveAll saves what the session knows, some at a time.
func (l *link) saveAll(ctx context.Context, facts []bridge.Fact) {
	const batch = 500
	for ; len(facts) > 0; facts = facts[min(batch, len(facts)):] {
		if err := l.m.store.Save(ctx, facts[:min(batch, len(facts))]...); err != nil {
			l.m.log.Warn().Err(err).Msg("contacts, usernames or settings not stored")
			l.m.behind.Store(true)
			return
		}
	}
}

// catchUpMarks takes over, after a whole sync, which chats are marked as read or unread:
// whatsmeow stores no marks, and makes events of single changes alone.
func (l *link) catchUpMarks(ctx context.Context) {
	entries, err := l.cli.ReadCollection(ctx, appstate.WAPatchRegularLow)
	if err != nil {
		if l.ctx.Err() == nil {
			l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("which chats are marked as read was not read")
		}
		return
	}
	var facts []bridge.Fact
	for _, entry := range entries {
		facts = append(facts, convert.MarkOf(entry)...)
	}
	l.saveAll(ctx, facts)
}

// keepSettings saves one change of how a chat is kept; session.db has it already.
func (l *link) keepSettings(facts []bridge.Fact) bool {
	l.settings.Lock()
	defer l.settings.Unlock()
	return l.keep(facts)
}

// catchUpSettings passes on how the session keeps chats: whatsmeow makes no events of a
// whole sync, and the store may have failed. Changes that come meanwhile wait, so that
// older settings do not overwrite them.
func (l *link) catchUpSettings(ctx context.Context) {
	l.settings.Lock()
	defer l.settings.Unlock()
	facts, err := l.m.db.ChatSettings(ctx)
	if err != nil {
		l.m.behind.Store(true)
		l.m.log.Warn().Err(err).Msg("settings of chats not read")
	}
	l.saveAll(ctx, facts)
}
