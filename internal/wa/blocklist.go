package wa

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// blocklistAway is after which absence the list of blocked people is read again: the
// network keeps notifications of its changes, but not for ever.
const blocklistAway = time.Hour

// catchUpBlocklist reads whom the account blocks, after a pairing, the program's start or
// a long absence.
func (l *link) catchUpBlocklist(away time.Duration) {
	read := l.m.blocksReadBy.Load()
	if read == nil || *read != l.cli.Device || away >= blocklistAway {
		l.readBlocklist()
	}
}

// readBlocklist asks the network whom the account blocks. What fails is tried again at the
// next login.
func (l *link) readBlocklist() {
	ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
	defer cancel()
	l.m.blocksReadBy.Store(nil)
	list, err := l.cli.GetBlocklist(ctx)
	if err == nil {
		var facts bridge.Blocklist
		for _, jid := range list.JIDs {
			facts.JIDs = append(facts.JIDs, convert.JID(jid))
		}
		err = l.m.store.Save(ctx, facts)
	}
	if err != nil {
		if l.ctx.Err() == nil {
			l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the list of blocked people was not read")
		}
		return
	}
	device := l.cli.Device
	l.m.blocksReadBy.Store(&device)
}
