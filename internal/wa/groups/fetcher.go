package groups

import (
	"context"
	"strings"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// fetcher asks the network for the account's groups, and for those that are
// known by their JID alone: one query at a time, off the path of the
// acknowledgement.
type fetcher struct {
	gs     *Groups
	notify chan struct{}

	mu     sync.Mutex
	list   bool                // all are wanted; guarded by mu
	wanted map[bridge.JID]bool // guarded by mu
	known  map[bridge.JID]bool // or asked for in vain; guarded by mu
}

func newFetcher(gs *Groups) *fetcher {
	return &fetcher{gs: gs, notify: make(chan struct{}, 1), wanted: map[bridge.JID]bool{}, known: map[bridge.JID]bool{}}
}

// wantAgain wants a group that was asked for in vain.
func (f *fetcher) wantAgain(jid bridge.JID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, jid)
	f.add(jid)
}

// want notes the groups that facts speak of.
func (f *fetcher) want(facts []bridge.Fact) {
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
func (f *fetcher) add(jid bridge.JID) {
	if !jid.IsGroup() || f.known[jid] {
		return
	}
	f.wanted[jid] = true
	f.wake()
}

// wake has run look. The caller holds mu.
func (f *fetcher) wake() {
	select {
	case f.notify <- struct{}{}:
	default:
	}
}

// next returns a group to ask for; the empty JID for the list of all.
func (f *fetcher) next() (bridge.JID, bool) {
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

// queryTimeout bounds one query about a group.
const queryTimeout = 30 * time.Second

// queryGap lies between two queries about groups: more than one or two a second
// are limited.
const queryGap = 500 * time.Millisecond

// limitedPause is how long queries about groups pause after the network has
// limited them, doubling up to longestPause: more of them would block the
// account's other queries.
const (
	limitedPause = time.Minute
	longestPause = time.Hour
)

// wantList has the list of all groups read, before any single one.
func (f *fetcher) wantList() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = true
	f.wake()
}

func (f *fetcher) run(ctx context.Context) {
	var limited time.Duration
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.notify:
		}
		for jid, ok := f.next(); ok; jid, ok = f.next() {
			wait := queryGap
			if f.ask(ctx, jid) {
				limited = min(max(2*limited, limitedPause), longestPause)
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
func (f *fetcher) ask(ctx context.Context, jid bridge.JID) (limited bool) {
	err := f.fetch(ctx, jid)
	if err == nil {
		return false
	}
	f.gs.o.Log.Debug().Str("group", jid.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("groups not fetched")
	switch code := bridge.CodeOf(QueryError(err)); {
	case code == bridge.CodeRateLimited && jid == "":
		f.wantList()
		return true
	case jid == "": // the next login asks again
	case code == bridge.CodeRateLimited:
		f.wantAgain(jid)
		return true
	case code == bridge.CodeNotInGroup:
		if err := f.gs.o.Store.Save(ctx, bridge.GroupWithheld{JID: jid}); err != nil {
			f.gs.o.Log.Warn().Err(err).Msg("a group that the network says nothing of was not noted")
		}
	default:
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.known, jid) // the next message of the group, or the next login, asks again
	}
	return false
}

// fetch makes one query and saves the answer.
func (f *fetcher) fetch(ctx context.Context, jid bridge.JID) error {
	c, err := f.gs.open()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	if jid == "" {
		return c.readList(ctx)
	}
	info, err := c.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return err
	}
	return f.gs.o.Store.Save(ctx, convert.GroupFacts(info)...)
}

// What is asked of the network at a login is counted there: an account whose
// line is bad would soon be limited, and then sends that need a group's members
// fail. In between the network announces changes, also those during an outage.
const (
	// listEvery is how long the list of groups counts as read.
	listEvery = 24 * time.Hour
	// longOutage is after how long away it is read in any case.
	longOutage = 6 * time.Hour

	settingListRead = "groups_read" // by which device, and when
)

// listDue reports whether to read the list of groups after a login: after
// pairing, once a day, and after a long outage.
func (c *conn) listDue(ctx context.Context, away time.Duration) bool {
	if away >= longOutage {
		return true
	}
	value, err := c.gs.o.Store.Setting(ctx, settingListRead)
	if err != nil {
		c.gs.o.Log.Warn().Err(err).Msg("when the groups were read is not known")
		return false // what cannot be read cannot be written down, either
	}
	device, when, _ := strings.Cut(value, " ")
	at, err := time.Parse(time.RFC3339, when)
	if err != nil || device != c.Device.String() {
		return true
	}
	since := c.gs.o.Clock.Now().Sub(at)
	return since < 0 || since >= listEvery
}

// readList reads all joined groups with one query.
func (c *conn) readList(ctx context.Context) error {
	joined, err := c.GetJoinedGroups(ctx)
	if err != nil {
		return err
	}
	for _, info := range joined {
		facts := convert.GroupFacts(info)
		if len(facts) == 0 {
			continue
		}
		if err := c.gs.o.Store.Save(ctx, facts...); err != nil {
			return err
		}
		c.gs.fetcher.want(facts)
		c.NoteGroup(info)
	}
	read := c.Device.String() + " " + c.gs.o.Clock.Now().UTC().Format(time.RFC3339)
	if err := c.gs.o.Store.SetSetting(ctx, settingListRead, read); err != nil {
		return err
	}
	return c.gs.wantMissing(ctx)
}

// wantMissing has the network asked for the groups of which only the JID
// is known.
func (gs *Groups) wantMissing(ctx context.Context) error {
	missing, err := gs.o.Store.GroupsWithoutInfo(ctx)
	if err != nil {
		return err
	}
	f := gs.fetcher
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, jid := range missing {
		f.add(jid)
	}
	return nil
}

// Want has the network asked for the groups that facts name and that are not known.
func (gs *Groups) Want(facts []bridge.Fact) { gs.fetcher.want(facts) }

// Run asks for groups until ctx ends.
func (gs *Groups) Run(ctx context.Context) { gs.fetcher.run(ctx) }

// CatchUp has the list of groups read after a login where that is due, or else the
// groups of which only the JID is known. away is how long the account was not
// connected.
func (gs *Groups) CatchUp(ctx context.Context, away time.Duration) {
	c, err := gs.open()
	if err != nil {
		return // the next login catches up
	}
	if c.listDue(ctx, away) {
		gs.fetcher.wantList()
	} else if err := gs.wantMissing(ctx); err != nil {
		gs.o.Log.Warn().Err(err).Msg("groups without metadata not read")
	}
}
