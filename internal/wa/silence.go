package wa

import (
	"context"
)

// silent asks the network once more after a keepalive that it did not answer,
// and gives the connection up if that is not answered either: one answer that
// was lost, or came late on a bad line, is no reason to log in anew.
func (l *link) silent() {
	if !l.asking.CompareAndSwap(false, true) {
		return
	}
	l.m.workers.Go(func() {
		defer l.asking.Store(false)
		_, before := l.dials()
		if l.ping(l.ctx) {
			l.m.log.Debug().Msg("a keepalive was not answered; the next one was")
			return
		}
		if _, now := l.dials(); now == before && l.cli.IsConnected() && l.ctx.Err() == nil {
			l.notify(notice{kind: noticeSilent, sentence: "the network does not answer; reconnecting"})
		}
	})
}

// ping reports whether the network answers a keepalive.
func (l *link) ping(ctx context.Context) bool {
	answered, _ := l.cli.SendKeepAlive(ctx)
	return answered
}
