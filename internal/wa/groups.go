package wa

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// groupOf is the library's group in our words.
func groupOf(info *types.GroupInfo) bridge.Group {
	g := bridge.Group{
		JID: toBridge(info.JID), Name: info.Name, Topic: info.Topic, OwnerJID: ownerOf(info),
		IsAnnounce: info.IsAnnounce, IsLocked: info.IsLocked, Participants: participantsOf(info.Participants),
	}
	if !info.GroupCreated.IsZero() {
		created := bridge.At(info.GroupCreated)
		g.CreatedAt = &created
	}
	if info.IsEphemeral {
		g.Expiration = info.DisappearingTimer
	}
	return g
}

func ownerOf(info *types.GroupInfo) bridge.JID {
	if pn := toBridge(info.OwnerPN); pn != "" {
		return pn
	}
	return toBridge(info.OwnerJID)
}

func participantsOf(list []types.GroupParticipant) []bridge.Participant {
	participants := make([]bridge.Participant, 0, len(list))
	for _, p := range list {
		participant := bridge.Participant{JID: toBridge(p.PhoneNumber), LID: toBridge(p.LID), DisplayName: p.DisplayName,
			IsAdmin: p.IsAdmin || p.IsSuperAdmin, IsSuperAdmin: p.IsSuperAdmin}
		switch own := toBridge(p.JID); {
		case own.IsLID() && participant.LID == "":
			participant.LID = own
		case own.Server() == bridge.ServerUser && participant.JID == "":
			participant.JID = own
		}
		if participant.JID == "" {
			participant.JID = participant.LID
		}
		participants = append(participants, participant)
	}
	return participants
}

// groupFacts is a whole group: who is who in it, then the group.
func groupFacts(info *types.GroupInfo) []bridge.Fact {
	g := groupOf(info)
	if g.JID == "" {
		return nil
	}
	var facts []bridge.Fact
	if identity, ok := identityOf(info.OwnerPN, info.OwnerJID); ok {
		facts = append(facts, identity)
	}
	for _, p := range g.Participants {
		if p.LID != "" && p.JID != p.LID {
			facts = append(facts, bridge.Identity{PN: p.JID, LID: p.LID})
		}
	}
	return append(facts, g)
}

// groupChangeFacts is a notification's change. The account's own leaving ends
// the knowledge that it may send there.
func (l *link) groupChangeFacts(e *events.GroupInfo) []bridge.Fact {
	jid := toBridge(e.JID)
	if jid == "" {
		return nil
	}
	change := bridge.GroupChange{JID: jid, Timestamp: bridge.At(e.Timestamp), Left: jids(e.Leave), Promoted: jids(e.Promote), Demoted: jids(e.Demote)}
	for _, joined := range jids(e.Join) {
		change.Joined = append(change.Joined, bridge.Participant{JID: joined})
	}
	if e.Name != nil {
		change.Name = &e.Name.Name
	}
	if e.Topic != nil {
		change.Topic = &e.Topic.Topic
	}
	if e.Locked != nil {
		change.IsLocked = &e.Locked.IsLocked
	}
	if e.Announce != nil {
		change.IsAnnounce = &e.Announce.IsAnnounce
	}
	if e.Ephemeral != nil {
		seconds := e.Ephemeral.DisappearingTimer
		change.Expiration = &seconds
	}
	l.members.Delete(jid)
	l.modes.Delete(jid)
	var facts []bridge.Fact
	if e.Sender != nil && e.SenderPN != nil {
		if identity, ok := identityOf(*e.Sender, *e.SenderPN); ok {
			facts = append(facts, identity)
		}
	}
	return append(facts, change)
}

func jids(list []types.JID) []bridge.JID {
	var out []bridge.JID
	for _, j := range list {
		if jid := toBridge(j); jid != "" {
			out = append(out, jid)
		}
	}
	return out
}

// LiveGroup asks the network for a group's metadata.
func (m *Manager) LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error) {
	l, err := m.open()
	if err != nil {
		return nil, err
	}
	info, err := l.cli.GetGroupInfo(ctx, toWA(jid))
	if err != nil {
		return nil, groupError(err)
	}
	g := groupOf(info)
	for i := range g.Participants {
		g.Participants[i].JID = m.store.Canonical(g.Participants[i].JID)
	}
	g.OwnerJID = m.store.Canonical(g.OwnerJID)
	return &g, nil
}

// groupError tells apart why a group's metadata is not to be had.
func groupError(err error) error {
	var iq *whatsmeow.IQError
	switch {
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound),
		errors.As(err, &iq) && (iq.Code == 403 || iq.Code == 404):
		return bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group").Because(err)
	case errors.As(err, &iq) && iq.Code == 429:
		return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "the network limits queries about groups for now", Err: err, RetryAfter: time.Minute}
	}
	return bridge.NotConnected("the network did not answer about the group: try again in a moment").Because(err)
}

// groupFetcher fills in groups that are known by their JID alone, one at a
// time and off the path of the acknowledgement.
type groupFetcher struct {
	m    *Manager
	wake chan struct{}

	mu     sync.Mutex
	wanted map[bridge.JID]bool // guarded by mu
	known  map[bridge.JID]bool // guarded by mu
}

func newGroupFetcher(m *Manager) *groupFetcher {
	return &groupFetcher{m: m, wake: make(chan struct{}, 1), wanted: map[bridge.JID]bool{}, known: map[bridge.JID]bool{}}
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

func (f *groupFetcher) add(jid bridge.JID) {
	if !jid.IsGroup() || f.known[jid] {
		return
	}
	f.wanted[jid] = true
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// next is a group to ask for.
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

// groupPause is how long queries about groups rest after the network has
// limited them, doubling up to longestGroupPause: more of them would block the
// account's other queries.
const (
	groupPause        = time.Minute
	longestGroupPause = time.Hour
)

// again keeps a group wanted.
func (f *groupFetcher) again(jid bridge.JID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(jid)
}

func (f *groupFetcher) run(ctx context.Context) {
	var limited time.Duration
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		for jid, ok := f.next(); ok; jid, ok = f.next() {
			err := f.fetch(ctx, jid)
			if err == nil {
				limited = 0
				continue
			}
			f.m.log.Debug().Str("group", redact(string(jid))).Str("error", redact(err.Error())).Msg("group not fetched")
			f.forget(jid) // the next message of the group, or the next login, asks again
			if bridge.CodeOf(groupError(err)) != bridge.CodeRateLimited {
				continue
			}
			f.again(jid)
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

// catchUpTimeout bounds what is done after a login.
const catchUpTimeout = 2 * time.Minute

// catchUp makes the store agree, after a login, with what the session knows
// and the network says: whose account it is, names, identities, groups.
func (m *Manager) catchUp(l *link) {
	ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
	defer cancel()
	l.stayUnavailable()
	pn, lid := m.own()
	if pn == "" {
		return
	}
	facts := append([]bridge.Fact{bridge.Owner{PN: pn, LID: lid}}, m.ownNames()...)
	if err := m.store.Save(ctx, facts...); err != nil {
		m.log.Error().Err(err).Msg("owner not stored")
	}
	m.catchUpPeople(ctx, l)
	m.catchUpGroups(ctx, l)
}

// catchUpPeople passes on identities and address book as the session has
// them: what was learned while the store failed is not lost.
func (m *Manager) catchUpPeople(ctx context.Context, l *link) {
	rows, err := m.db.QueryContext(ctx, `SELECT lid, pn FROM whatsmeow_lid_map`)
	if err != nil {
		m.log.Warn().Err(err).Msg("identities not read")
		return
	}
	var facts []bridge.Fact
	for rows.Next() {
		var lid, pn string
		if err := rows.Scan(&lid, &pn); err != nil {
			break
		}
		facts = append(facts, bridge.Identity{PN: bridge.PhoneJID(pn), LID: bridge.JID(lid + "@" + bridge.ServerLID)})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		m.log.Warn().Err(err).Msg("identities not read")
	}
	contacts, err := l.cli.Store.Contacts.GetAllContacts(ctx)
	if err != nil {
		m.log.Warn().Err(err).Msg("contacts not read")
	}
	for _, server := range []string{types.HiddenUserServer, types.DefaultUserServer} { // the number's names win
		for jid, contact := range contacts {
			if jid.Server == server {
				facts = append(facts, contactOf(jid, contact))
			}
		}
	}
	const batch = 500
	for ; len(facts) > 0; facts = facts[min(batch, len(facts)):] {
		if err := m.store.Save(ctx, facts[:min(batch, len(facts))]...); err != nil {
			m.log.Warn().Err(err).Msg("people not stored")
			return
		}
	}
}

func contactOf(jid types.JID, info types.ContactInfo) bridge.Contact {
	contact := bridge.Contact{JID: toBridge(jid)}
	if name := info.FullName; name != "" {
		contact.Name = &name
	}
	if name := info.PushName; name != "" {
		contact.PushName = &name
	}
	if name := info.BusinessName; name != "" {
		contact.BusinessName = &name
	}
	return contact
}

// catchUpGroups reads all joined groups with one query.
func (m *Manager) catchUpGroups(ctx context.Context, l *link) {
	joined, err := l.cli.GetJoinedGroups(ctx)
	if err != nil {
		m.log.Warn().Str("error", redact(err.Error())).Msg("groups not read")
		return
	}
	for _, info := range joined {
		facts := groupFacts(info)
		if len(facts) == 0 {
			continue
		}
		if err := m.store.Save(ctx, facts...); err != nil {
			m.log.Warn().Err(err).Msg("group not stored")
			return
		}
		m.groups.want(facts)
		l.members.Store(toBridge(info.JID), true)
		l.modes.Store(toBridge(info.JID), info.AddressingMode)
	}
	missing, err := m.store.GroupsWithoutInfo(ctx)
	if err != nil {
		m.log.Warn().Err(err).Msg("groups without metadata not read")
		return
	}
	m.groups.mu.Lock()
	defer m.groups.mu.Unlock()
	for _, jid := range missing {
		m.groups.add(jid)
	}
}

// addressedByLID says whether a group's members know each other by LID. The
// library keeps what it learned of a group; asking it costs a query only the
// first time.
func (l *link) addressedByLID(ctx context.Context, jid bridge.JID) bool {
	if mode, known := l.modes.Load(jid); known {
		return mode == types.AddressingModeLID
	}
	info, err := l.cli.GetGroupInfo(ctx, toWA(jid))
	if err != nil {
		return false
	}
	l.modes.Store(jid, info.AddressingMode)
	return info.AddressingMode == types.AddressingModeLID
}
