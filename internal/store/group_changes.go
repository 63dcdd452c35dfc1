package store

import (
	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// groupSettings has the settings of a group that are compared before and after a change.
type groupSettings struct {
	subject, topic                     string
	isAnnounce, isLocked, joinApproval bool
	timer                              uint32
	addMode                            bridge.MemberAddMode
}

// settingsOf returns the settings of a group. known reports whether the network has described the group.
func settingsOf(c *sqlite.Conn, chat int64) (s groupSettings, known bool) {
	c.Find("SELECT g.subject, g.topic, g.is_announce, g.is_locked, g.join_approval, g.add_mode, c.timer, g.known FROM chats c JOIN groups g ON g.chat = c.id WHERE c.id = ?",
		[]any{chat}, &s.subject, &s.topic, &s.isAnnounce, &s.isLocked, &s.joinApproval, &s.addMode, &s.timer, &known)
	return s, known
}

// compare adds the differences after a change to changes. It returns nil if there are none.
func (s groupSettings) compare(after groupSettings, changes *bridge.GroupChanges) *bridge.GroupChanges {
	changes.Subject, changes.Topic = changeOf(s.subject, after.subject), changeOf(s.topic, after.topic)
	changes.IsAnnounce, changes.IsLocked = changeOf(s.isAnnounce, after.isAnnounce), changeOf(s.isLocked, after.isLocked)
	changes.JoinApproval, changes.Expiration = changeOf(s.joinApproval, after.joinApproval), changeOf(s.timer, after.timer)
	changes.MemberAddMode = changeOf(s.addMode, after.addMode)
	if changes.IsZero() {
		return nil
	}
	return changes
}

func changeOf[T comparable](before, after T) *bridge.Change[T] {
	if before == after {
		return nil
	}
	return &bridge.Change[T]{Old: before, New: after}
}

// isMember reports whether a person is a member of a group.
func isMember(c *sqlite.Conn, chat, person int64) (is bool) {
	c.Find("SELECT EXISTS (SELECT 1 FROM members WHERE chat = ? AND person = ?)", []any{chat, person}, &is)
	return is
}

// memberRoles returns whether each member of a group is an admin, by person.
func memberRoles(c *sqlite.Conn, chat int64) map[int64]bool {
	members := make(map[int64]bool)
	for row := range c.Rows("SELECT person, is_admin OR is_super_admin FROM members WHERE chat = ?", chat) {
		var person int64
		var isAdmin bool
		row.Scan(&person, &isAdmin)
		members[person] = isAdmin
	}
	return members
}
