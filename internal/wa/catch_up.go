package wa

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/appstate"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// catchUpTimeout limits the work after a login.
const catchUpTimeout = 2 * time.Minute

// catchUp updates the store from the session and the network after a login: owner, names,
// identities, groups. away is how long the account was not connected.
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
		l.m.log.Error().Err(err).Msg("cannot store the owner")
	}
	if l.m.storeLags.CompareAndSwap(true, false) {
		l.catchUpShared(ctx, func() {
			l.catchUpPeople(ctx)
			l.catchUpSettings(ctx)
			// Only stars and labels have times: a chat that was marked as unread may have been read since.
			l.catchUpMarks(ctx, appstate.WAPatchRegularHigh)
			l.catchUpMarks(ctx, appstate.WAPatchRegular)
		})
	}
	l.m.Groups.CatchUp(ctx, away)
	l.catchUpBlocklist(away)
}

// catchUpShared saves parts of the state that the account's devices share. Calls that change it wait, so
// that older names and settings do not overwrite newer ones.
func (l *link) catchUpShared(ctx context.Context, save func()) {
	if err := l.m.WhileUnchanged(ctx, save); err != nil {
		l.m.storeLags.Store(true)
	}
}

// saveAll saves data of the session in batches.
func (l *link) saveAll(ctx context.Context, facts []bridge.Fact) {
	const batch = 500
	for ; len(facts) > 0; facts = facts[min(batch, len(facts)):] {
		if err := l.m.store.Save(ctx, facts[:min(batch, len(facts))]...); err != nil {
			l.m.log.Warn().Err(err).Msg("cannot store contacts, usernames or settings")
			l.m.storeLags.Store(true)
			return
		}
	}
}

// catchUpMarks saves, after a full sync of a collection, which chats are marked as read or unread,
// which messages are starred, and the labels: whatsmeow does not store these marks and emits events only for
// single changes.
func (l *link) catchUpMarks(ctx context.Context, collection appstate.WAPatchName) {
	entries, err := l.cli.ReadCollection(ctx, collection)
	if err != nil {
		if l.ctx.Err() == nil {
			l.m.log.WithLevel(levelOf(err)).Str("error", bridge.Redact(err.Error())).Str("collection", string(collection)).Msg("cannot read which chats are marked as read, stars and labels")
		}
		return
	}
	var facts []bridge.Fact
	for _, entry := range entries {
		facts = append(facts, convert.MarkOf(entry)...)
		facts = append(facts, convert.StarOf(entry)...)
		facts = append(facts, convert.LabelOf(entry)...)
	}
	l.saveAll(ctx, facts)
}

// levelOf returns the level at which an error of reading the account's state is logged. The phone sends
// its keys after the pairing, and a full sync follows.
func levelOf(err error) zerolog.Level {
	if errors.Is(err, appstate.ErrKeyNotFound) {
		return zerolog.DebugLevel
	}
	return zerolog.WarnLevel
}

// saveSettings saves one change of a chat's settings. session.db already has it.
func (l *link) saveSettings(facts []bridge.Fact) bool {
	l.settings.Lock()
	defer l.settings.Unlock()
	return l.saveAndFollowUp(facts)
}

// catchUpSettings saves the session's chat settings: whatsmeow emits no events for a full sync,
// and the store may have failed. Concurrent changes wait, so that older settings do not overwrite
// them.
func (l *link) catchUpSettings(ctx context.Context) {
	l.settings.Lock()
	defer l.settings.Unlock()
	facts, err := l.m.db.ChatSettings(ctx)
	if err != nil {
		l.m.storeLags.Store(true)
		l.m.log.Warn().Err(err).Msg("cannot read the settings of chats")
	}
	l.saveAll(ctx, facts)
}
