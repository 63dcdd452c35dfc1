package wa

import (
	"context"

	"go.mau.fi/whatsmeow/appstate"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// catchUpMarks takes over which chats the account's devices have marked as read or
// unread, after a whole sync: whatsmeow keeps these marks nowhere, and tells of single
// changes alone.
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
