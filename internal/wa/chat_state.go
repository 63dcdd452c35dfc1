package wa

import (
	"context"

	"bridged/internal/bridge"
)

// keepSettings saves one change of how a chat is kept. whatsmeow has entered it
// into session.db before.
func (l *link) keepSettings(facts []bridge.Fact) bool {
	l.settings.Lock()
	defer l.settings.Unlock()
	return l.keep(facts)
}

// catchUpSettings passes on how chats are kept as the session has it: what a
// whole sync brought, of which whatsmeow tells nothing, and what was learned
// while the store failed. A change that comes meanwhile waits, so that what was
// read before it does not overwrite it.
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
