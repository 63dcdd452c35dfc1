package wa

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// blocklistAway is the absence after which the list of blocked people is read again: the network
// stores notifications of its changes, but not forever.
const blocklistAway = time.Hour

// catchUpBlocklist reads the list of blocked people after a pairing, the program's start or a
// long absence.
func (l *link) catchUpBlocklist(away time.Duration) {
	read := l.m.blocksReadBy.Load()
	if read == nil || *read != l.cli.Device || away >= blocklistAway {
		l.readBlocklist()
	}
}

// readBlocklist asks the network for the list of blocked people. After an error, the next login
// tries again.
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
			l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot read the list of blocked people")
		}
		return
	}
	device := l.cli.Device
	l.m.blocksReadBy.Store(&device)
}
