package wa

import (
	"context"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// groupFetcher asks the network for the account's groups, and for those that are
// known by their JID alone: one query at a time, off the path of the
// acknowledgement.
type groupFetcher struct {
	m      *Manager
	notify chan struct{}

	mu     sync.Mutex
	list   bool                // all are wanted; guarded by mu
	wanted map[bridge.JID]bool // guarded by mu
	known  map[bridge.JID]bool // or asked for in vain; guarded by mu
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
		case bridge.MemberLabel:
			f.add(fact.Chat)
		}
	}
}

// add wants a group, unless it is known. The caller holds mu.
func (f *groupFetcher) add(jid bridge.JID) {
	if !jid.IsGroup() || f.known[jid] {
		return
	}
	f.wanted[jid] = true
	f.wake()
}

// wake has run look. The caller holds mu.
func (f *groupFetcher) wake() {
	select {
	case f.notify <- struct{}{}:
	default:
	}
}

// next returns a group to ask for; the empty JID for the list of all.
func (f *groupFetcher) next() (bridge.JID, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list {
		f.list = false
		return "", true
	}
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

// groupGap lies between two queries about groups: more than one or two a second
// are limited.
const groupGap = 500 * time.Millisecond

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

// wantList has the list of all groups read, before any single one.
func (f *groupFetcher) wantList() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = true
	f.wake()
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
			wait := groupGap
			if f.ask(ctx, jid) {
				limited = min(max(2*limited, groupPause), longestGroupPause)
				wait = limited
			} else {
				limited = 0
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
		}
	}
}

// ask makes one query: about a group, or for the list of all where jid is
// empty. It reports whether the network limits such queries; then it is made
// again.
func (f *groupFetcher) ask(ctx context.Context, jid bridge.JID) (limited bool) {
	err := f.fetch(ctx, jid)
	if err == nil {
		return false
	}
	f.m.log.Debug().Str("group", jid.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("groups not fetched")
	switch code := bridge.CodeOf(groupError(err)); {
	case code == bridge.CodeRateLimited && jid == "":
		f.wantList()
		return true
	case jid == "": // the next login asks again
	case code == bridge.CodeRateLimited:
		f.forget(jid)
		f.wantAll(jid)
		return true
	case code == bridge.CodeNotInGroup:
		if err := f.m.store.Save(ctx, bridge.GroupWithheld{JID: jid}); err != nil {
			f.m.log.Warn().Err(err).Msg("a group that the network says nothing of was not noted")
		}
	default:
		f.forget(jid) // the next message of the group, or the next login, asks again
	}
	return false
}

// fetch makes one query and saves the answer.
func (f *groupFetcher) fetch(ctx context.Context, jid bridge.JID) error {
	l, err := f.m.open()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, groupTimeout)
	defer cancel()
	if jid == "" {
		return l.readGroups(ctx)
	}
	info, err := l.cli.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return err
	}
	return f.m.store.Save(ctx, convert.GroupFacts(info)...)
}
