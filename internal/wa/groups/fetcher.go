package groups

import (
	"context"
	"strings"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// fetches are the queries for the account's groups that wait for [Groups.Run]. It sends one at a
// time; acknowledgements do not wait for it.
type fetches struct {
	notify chan struct{}

	mu     sync.Mutex
	list   bool                // the list of all groups is wanted; guarded by mu
	wanted map[bridge.JID]bool // guarded by mu
	known  map[bridge.JID]bool // also groups that the network did not describe; guarded by mu
	dirt   dirt                // guarded by mu
}

// again adds a group that an earlier query did not find.
func (f *fetches) again(jid bridge.JID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, jid)
	f.add(jid)
}

// Want queues the groups in facts that are not known.
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

// add adds a group unless it is known. The caller holds mu.
func (f *fetches) add(jid bridge.JID) {
	if !jid.IsGroup() || f.known[jid] {
		return
	}
	f.wanted[jid] = true
	f.wake()
}

func (f *fetches) wake() { bridge.Wake(f.notify) }

// next returns a group to ask for; the empty JID means the list of all groups.
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
	queryGap     = 500 * time.Millisecond // between two queries: the network limits more than one or two a second

	// limitedPause is the pause after the network has limited the queries. It doubles up to
	// longestPause. More queries would block other queries of the account.
	limitedPause = time.Minute
	longestPause = time.Hour
)

// addList adds the list of all groups. It is read before single groups.
func (f *fetches) addList() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = true
	f.wake()
}

// Run sends the queries until ctx ends.
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

// ask sends one query: about a group, or for the list of all groups if jid is empty. It reports
// whether the network limits such queries; the query is then repeated.
func (gs *Groups) ask(ctx context.Context, jid bridge.JID) (limited bool) {
	err := gs.fetch(ctx, jid)
	if err == nil {
		return false
	}
	gs.o.Log.Debug().Str("group", jid.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("cannot fetch groups")
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
			gs.o.Log.Warn().Err(err).Msg("cannot store that the network does not describe a group")
		}
	default:
		gs.fetches.mu.Lock()
		defer gs.fetches.mu.Unlock()
		delete(gs.fetches.known, jid) // the next message of the group, or the next login, asks again
	}
	return false
}

// fetch sends one query and saves the answer.
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

// If an account on a bad line read the list at each login, the network would limit its queries,
// and sends that need a group's members would fail. Between two reads the network announces all
// changes, including those during an outage.
const (
	listEvery  = 24 * time.Hour // how long the list of groups counts as read
	longOutage = 6 * time.Hour  // the list is read after an outage of this length

	settingListRead = "groups_read" // the device and the time
)

// listDue reports whether to read the list of groups after a login: after pairing, once a day,
// and after a long outage.
func (c *conn) listDue(ctx context.Context, away time.Duration) bool {
	if away >= longOutage {
		return true
	}
	value, err := c.gs.o.Store.Setting(ctx, settingListRead)
	if err != nil {
		c.gs.o.Log.Warn().Err(err).Msg("cannot read when the groups were last read")
		return false // it could not be stored either
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

// wantMissing queues the groups with a JID only.
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

// CatchUp queues the list of groups after a login if it is due, and otherwise the groups with a JID
// only. away is how long the account was not connected.
func (gs *Groups) CatchUp(ctx context.Context, away time.Duration) {
	c, err := gs.open()
	if err != nil {
		return // the next login catches up
	}
	if gs.fetches.isDirty() || c.listDue(ctx, away) {
		gs.fetches.addList()
	} else if err := gs.wantMissing(ctx); err != nil {
		gs.o.Log.Warn().Err(err).Msg("cannot read the groups without metadata")
	}
}
