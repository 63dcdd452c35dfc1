package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// hold lets the session run. began is when the renewal was begun.
func (o *owner) hold(session string, began time.Time) {
	o.mu.Lock()
	o.renewed = began
	if o.options.Place.IsShared {
		if o.limit != nil {
			o.limit.Stop()
		}
		o.limit = time.AfterFunc(time.Until(began.Add(endsAfter(o.ttl))), func() { o.end() })
	}
	o.mu.Unlock()
	o.become(session, held, nil)
}

// end ends everything if the key has not been renewed in time, and reports whether.
func (o *owner) end() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	isLost := o.standing == held && o.hasRunOut()
	if isLost {
		o.lose()
	}
	return isLost
}

// lose ends everything, for good: another process may have used the directory since, so
// that no later renewal makes up for it. mu is held.
func (o *owner) lose() {
	o.standing, o.refusal, o.serves = refused, ErrLost, false
	o.tell()
	close(o.lost)
}

func (o *owner) refuse(session string, why error) { o.become(session, refused, why) }

// become changes the standing of a session, unless it is not the present one any more.
func (o *owner) become(session string, next standing, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session != session || o.standing == next && fmt.Sprint(o.refusal) == fmt.Sprint(why) || errors.Is(o.refusal, ErrLost) {
		return
	}
	if next == refused {
		o.log.Warn().Str("reason", why.Error()).Msg("the account is not run here")
	}
	o.standing, o.refusal, o.serves = next, why, next != refused
	o.tell()
}

// during calls serve while the account is served here: while this process has the
// session, or there is none and nobody else runs the account. It returns when ctx has
// ended.
func (o *owner) during(ctx context.Context, serve func(ctx context.Context)) {
	for o.await(ctx, true) {
		serving, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { serve(serving) })
		o.await(ctx, false)
		stop()
		done.Wait()
	}
}

// await waits until the account is served here, or not, and reports whether ctx still
// lives.
func (o *owner) await(ctx context.Context, serves bool) bool {
	for {
		o.mu.Lock()
		isSo, changed := o.serves == serves, o.changed
		o.mu.Unlock()
		if isSo && ctx.Err() == nil {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// tell wakes those who wait for a change. mu is held.
func (o *owner) tell() {
	close(o.changed)
	o.changed = make(chan struct{})
	if o.onChange != nil {
		o.onChange()
	}
}
