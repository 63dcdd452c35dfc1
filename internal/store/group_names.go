package store

import (
	"cmp"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/sqlite"
	"bridged/internal/store/people"
	"bridged/internal/store/read"
)

// renameChat gives a group's chat a name, and reports whether it is a new one.
func (t *writeTx) renameChat(chat int64, name string) bool {
	return t.changeChat(chat, "UPDATE chats SET name = ?1, folded_name = ?2 WHERE id = ?3 AND name != ?1", name, folding.FoldStripped(name), chat)
}

// nameGroup names a group's chat by its subject, or by its members if it has none. It reports
// whether the name is a new one. A group that the network has not described retains its name.
func (t groupTx) nameGroup(chat int64) bool {
	var jid bridge.JID
	var subject string
	var known bool
	t.Find("SELECT c.jid, g.subject, g.known FROM chats c JOIN groups g ON g.chat = c.id WHERE c.id = ?", []any{chat}, &jid, &subject, &known)
	if subject != "" {
		return t.renameChat(chat, subject)
	}
	return known && t.renameChat(chat, cmp.Or(t.nameByMembers(chat), jid.User()))
}

// nameByMembers returns the name of a group without a subject: names first, then numbers,
// both in alphabetical order. It is "You" if the account is the only member.
func (t groupTx) nameByMembers(chat int64) string {
	type shownMember struct{ key, name string }
	var named, numbered []shownMember
	unnamed, own := 0, t.People.OwnerID()
	isMember := false
	for row := range t.Rows("SELECT person, display_name FROM members WHERE chat = ?", chat) {
		var id int64
		var shown string
		row.Scan(&id, &shown)
		p := t.People.Get(id)
		name := strings.TrimSpace(cmp.Or(p.DisplayName(), shown))
		switch {
		case p.ID == own:
			isMember = true
		case name != "":
			named = append(named, shownMember{folding.FoldStripped(name), name})
		case p.PN != "":
			numbered = append(numbered, shownMember{p.PN.User(), "+" + p.PN.User()})
		default:
			unnamed++
		}
	}
	var names []string
	for _, list := range [][]shownMember{named, numbered} {
		slices.SortFunc(list, func(a, b shownMember) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.name, b.name)) })
		for _, m := range list {
			names = append(names, m.name)
		}
	}
	if len(names)+unnamed == 0 && isMember {
		return "You"
	}
	return bridge.NameByMembers(names, unnamed)
}

// updateChats updates the chat with p, and the names of p's groups without a subject, after p
// has new names or another JID.
func (t *writeTx) updateChats(p people.Person) {
	t.updatePrivateChat(p)
	for _, chat := range sqlite.List[int64](t.Conn, "SELECT m.chat FROM members m CROSS JOIN groups g ON g.chat = m.chat WHERE m.person = ? AND g.subject = '' AND g.known", p.ID) {
		if (groupTx{t}).nameGroup(chat) {
			t.appendEntry(read.EntryKey{Event: bridge.EventGroupUpdated, Chat: chat})
		}
	}
}
