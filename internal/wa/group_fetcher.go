package wa

import (
	"context"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// groupFetcher fills in groups that are known by their JID alone, one at a
// time and off the path of the acknowledgement.
type groupFetcher struct {
	m      *Manager
	notify chan struct{}

	mu     sync.Mutex
	wanted map[bridge.JID]bool // guarded by mu
	known  map[bridge.JID]bool // guarded by mu
}

func newGroupFetcher(m *Manager) *groupFetcher {
	return &groupFetcher{m: m, notify: make(chan struct{}, 1), wanted: map[bridge.JID]bool{}, known: map[bridge.JID]bool{}}
}

// want notes the groups that facts speak of.
func (f *groupFetcher) want(facts []bridge.Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fact := range facts {
		switch fact := fact.(type) {
		case bridge.Group:
			f.known[fact.JID] = true
		case bridge.Message:
			f.add(fact.Chat)
		case bridge.GroupChange:
			f.add(fact.JID)
		}
	}
}

// add wants a group, unless it is known. The caller holds mu.
func (f *groupFetcher) add(jid bridge.JID) {
	if !jid.IsGroup() || f.known[jid] {
		return
	}
	f.wanted[jid] = true
	select {
	case f.notify <- struct{}{}:
	default:
	}
}

// next returns a group to ask for.
func (f *groupFetcher) next() (bridge.JID, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for jid := range f.wanted {
		delete(f.wanted, jid)
		f.known[jid] = true
		return jid, true
	}
	return "", false
}

func (f *groupFetcher) forget(jid bridge.JID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, jid)
}

// groupTimeout bounds one query about a group.
const groupTimeout = 30 * time.Second

// groupPause is how long queries about groups pause after the network has
// limited them, doubling up to longestGroupPause: more of them would block the
// account's other queries.
const (
	groupPause        = time.Minute
	longestGroupPause = time.Hour
)

// wantAll notes groups.
func (f *groupFetcher) wantAll(jids ...bridge.JID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, jid := range jids {
		f.add(jid)
	}
}

func (f *groupFetcher) run(ctx context.Context) {
	var limited time.Duration
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.notify:
		}
		for jid, ok := f.next(); ok; jid, ok = f.next() {
			err := f.fetch(ctx, jid)
			if err == nil {
				limited = 0
				continue
			}
			f.m.log.Debug().Str("group", jid.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("group not fetched")
			f.forget(jid) // the next message of the group, or the next login, asks again
			if bridge.CodeOf(groupError(err)) != bridge.CodeRateLimited {
				continue
			}
			f.wantAll(jid)
			limited = min(max(2*limited, groupPause), longestGroupPause)
			select {
			case <-ctx.Done():
				return
			case <-time.After(limited):
			}
		}
	}
}

func (f *groupFetcher) fetch(ctx context.Context, jid bridge.JID) error {
	l, err := f.m.open()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, groupTimeout)
	defer cancel()
	info, err := l.cli.GetGroupInfo(ctx, toWA(jid))
	if err != nil {
		return err
	}
	return f.m.store.Save(ctx, groupFacts(info)...)
}
