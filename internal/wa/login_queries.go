package wa

import (
	"context"
	"strings"
	"time"

	"bridged/internal/wa/convert"
)

// What is asked of the network at a login is counted there: an account whose
// line is bad would soon be limited, and then sends that need a group's members
// fail. In between the network tells of changes, also of those during an outage.
const (
	// groupsEvery is how long the list of groups counts as read.
	groupsEvery = 24 * time.Hour
	// longOutage is after how long away it is read in any case.
	longOutage = 6 * time.Hour

	settingGroupsRead = "groups_read" // by which device, and when
)

// groupsDue reports whether to read the list of groups after a login: after
// pairing, once a day, and after a long outage.
func (l *link) groupsDue(ctx context.Context, away time.Duration) bool {
	if away >= longOutage {
		return true
	}
	value, err := l.m.store.Setting(ctx, settingGroupsRead)
	if err != nil {
		l.m.log.Warn().Err(err).Msg("when the groups were read is not known")
		return false // what cannot be read cannot be written down, either
	}
	device, when, _ := strings.Cut(value, " ")
	at, err := time.Parse(time.RFC3339, when)
	if err != nil || device != l.cli.Device.String() {
		return true
	}
	since := l.m.opts.Clock.Now().Sub(at)
	return since < 0 || since >= groupsEvery
}

// groupsRead notes that the list of groups was read.
func (l *link) groupsRead(ctx context.Context) error {
	return l.m.store.SetSetting(ctx, settingGroupsRead, l.cli.Device.String()+" "+l.m.opts.Clock.Now().UTC().Format(time.RFC3339))
}

// readGroups reads all joined groups with one query.
func (l *link) readGroups(ctx context.Context) error {
	joined, err := l.cli.GetJoinedGroups(ctx)
	if err != nil {
		return err
	}
	for _, info := range joined {
		facts := convert.GroupFacts(info)
		if len(facts) == 0 {
			continue
		}
		if err := l.m.store.Save(ctx, facts...); err != nil {
			return err
		}
		l.m.groups.want(facts)
		l.members.Store(convert.JID(info.JID), kindOf(info))
		l.modes.Store(convert.JID(info.JID), info.AddressingMode)
	}
	if err := l.groupsRead(ctx); err != nil {
		return err
	}
	return l.m.wantMissingGroups(ctx)
}

// wantMissingGroups has the network asked for the groups of which only the JID
// is known.
func (m *Manager) wantMissingGroups(ctx context.Context) error {
	missing, err := m.store.GroupsWithoutInfo(ctx)
	if err != nil {
		return err
	}
	m.groups.wantAll(missing...)
	return nil
}
