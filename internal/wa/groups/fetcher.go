package groups

import (
	"context"
	"strings"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// fetches are the queries for the account's groups that [Groups.Run] is to make. It makes
// one at a time, off the path of the acknowledgement.
type fetches struct {
	notify chan struct{}

	mu     sync.Mutex
	list   bool                // of all groups; guarded by mu
	wanted map[bridge.JID]bool // guarded by mu
	known  map[bridge.JID]bool // or asked for in vain; guarded by mu
	dirt   dirt                // guarded by mu
}

// again adds a group that was asked for in vain.
func (f *fetches) again(jid bridge.JID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, jid)
	f.add(jid)
}

// Want has the network asked for the groups that facts name and that are not known.
func (gs *Groups) Want(facts []bridge.Fact) {
	f := &gs.fetches
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

// add adds a group, unless it is known. The caller holds mu.
func (f *fetches) add(jid bridge.JID) {
	if !jid.IsGroup() || f.known[jid] {
		return
	}
	f.wanted[jid] = true
	f.wake()
}

func (f *fetches) wake() {
	select {
	case f.notify <- struct{}{}:
	default:
	}
}

// next returns a group to ask for; the empty JID for the list of all.
func (f *fetches) next() (bridge.JID, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list {
		f.list, f.dirt.asked = false, f.dirt.reported
		return "", true
	}
	for jid := range f.wanted {
		delete(f.wanted, jid)
		f.known[jid] = true
		return jid, true
	}
	return "", false
}

const (
	queryTimeout = 30 * time.Second       // of one query about a group
	queryGap     = 500 * time.Millisecond // between two: more than one or two a second are limited

	// limitedPause is how long queries pause after the network has limited them, doubling
	// up to longestPause: more of them would block the account's other queries.
	limitedPause = time.Minute
	longestPause = time.Hour
)

// addList adds the list of all groups, which comes before any single one.
func (f *fetches) addList() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = true
	f.wake()
}

// Run asks for groups until ctx ends.
func (gs *Groups) Run(ctx context.Context) {
	f := &gs.fetches
	var limited time.Duration
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.notify:
		}
		for jid, ok := f.next(); ok; jid, ok = f.next() {
			wait := queryGap
			if gs.ask(ctx, jid) {
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
		gs.clean(ctx)
	}
}

// ask makes one query: about a group, or for the list of all where jid is empty. It
// reports whether the network limits such queries; then the query is made again.
func (gs *Groups) ask(ctx context.Context, jid bridge.JID) (limited bool) {
	err := gs.fetch(ctx, jid)
	if err == nil {
		return false
	}
	gs.o.Log.Debug().Str("group", jid.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("groups not fetched")
	switch code := bridge.CodeOf(QueryError(err)); {
	case code == bridge.CodeRateLimited && jid == "":
		gs.fetches.addList()
		return true
	case jid == "": // the next login asks again
	case code == bridge.CodeRateLimited:
		gs.fetches.again(jid)
		return true
	case code == bridge.CodeNotInGroup:
		if err := gs.o.Store.Save(ctx, bridge.GroupWithheld{JID: jid}); err != nil {
			gs.o.Log.Warn().Err(err).Msg("that the network does not describe a group was not stored")
		}
	default:
		gs.fetches.mu.Lock()
		defer gs.fetches.mu.Unlock()
		delete(gs.fetches.known, jid) // the next message of the group, or the next login, asks again
	}
	return false
}

// fetch makes one query and saves the answer.
func (gs *Groups) fetch(ctx context.Context, jid bridge.JID) error {
	c, err := gs.open()
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
	return gs.o.Store.Save(ctx, convert.GroupFacts(info)...)
}

// The network limits accounts that read the list at each login of a bad line, and then
// sends that need a group's members fail. In between it announces changes, also those
// during an outage.
const (
	listEvery  = 24 * time.Hour // is how long the list of groups counts as read
	longOutage = 6 * time.Hour  // after which it is read in any case

	settingListRead = "groups_read" // by which device, and when
)

// listDue reports whether to read the list of groups after a login: after pairing, once
// a day, and after a long outage.
func (c *conn) listDue(ctx context.Context, away time.Duration) bool {
	if away >= longOutage {
		return true
	}
	value, err := c.gs.o.Store.Setting(ctx, settingListRead)
	if err != nil {
		c.gs.o.Log.Warn().Err(err).Msg("when the groups were last read cannot be read")
		return false // nor could it be stored
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
		c.gs.Want(facts)
		c.NoteGroup(info)
	}
	read := c.Device.String() + " " + c.gs.o.Clock.Now().UTC().Format(time.RFC3339)
	if err := c.gs.o.Store.SetSetting(ctx, settingListRead, read); err != nil {
		return err
	}
	c.gs.fetches.listRead()
	return c.gs.wantMissing(ctx)
}

// wantMissing has the network asked for the groups of which only the JID is known.
func (gs *Groups) wantMissing(ctx context.Context) error {
	missing, err := gs.o.Store.GroupsWithoutInfo(ctx)
	if err != nil {
		return err
	}
	gs.fetches.mu.Lock()
	defer gs.fetches.mu.Unlock()
	for _, jid := range missing {
		gs.fetches.add(jid)
	}
	return nil
}

// CatchUp has the list of groups read after a login if that is due, or else the groups of
// which only the JID is known. away is how long the account was not connected.
func (gs *Groups) CatchUp(ctx context.Context, away time.Duration) {
	c, err := gs.open()
	if err != nil {
		return // the next login catches up
	}
	if gs.fetches.isDirty() || c.listDue(ctx, away) {
		gs.fetches.addList()
	} else if err := gs.wantMissing(ctx); err != nil {
		gs.o.Log.Warn().Err(err).Msg("groups without metadata not read")
	}
}
