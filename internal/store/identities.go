package store

import (
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// ensurePerson returns the person with a JID, and adds one that is not stored.
func (t *writeTx) ensurePerson(jid bridge.JID) person {
	if p, ok := t.people.find(jid); ok {
		return p
	}
	if jid.IsLID() {
		return t.addPerson("", jid)
	}
	return t.addPerson(jid, "")
}

func (t *writeTx) addPerson(pn, lid bridge.JID) person {
	id := t.Insert("INSERT INTO people (pn, lid) VALUES (nullif(?, ''), nullif(?, ''))", string(pn), string(lid))
	p := person{id: id, pn: pn, lid: lid}
	t.people.set(p)
	if pn != "" {
		t.people.point(pn, id)
	}
	if lid != "" {
		t.assignLID(lid, id)
	}
	return p
}

// assignLID gives a LID to a person.
func (t *writeTx) assignLID(lid bridge.JID, id int64) {
	t.people.point(lid, id)
	t.Run(`
		INSERT INTO identities (lid, person) VALUES (?, ?)
		ON CONFLICT (lid) DO UPDATE SET person = excluded.person`, string(lid), id)
}

func (t *writeTx) saveNumbersOf(p person) {
	t.people.set(p)
	t.Run("UPDATE people SET pn = nullif(?, ''), lid = nullif(?, '') WHERE id = ?",
		string(p.pn), string(p.lid), p.id)
}

// saveIdentity learns that a phone number and a LID are one person.
//
// A person who was known by the LID alone becomes the one with the number: their chats
// become one. A LID that belonged to another number moves: a number names a person for
// good, so no message of the old number is ever attributed to the new one. A number that
// gets a new LID keeps its old ones.
func (t *writeTx) saveIdentity(f bridge.Identity) {
	if !f.PN.IsPerson() || f.PN.IsLID() || !f.LID.IsLID() {
		return
	}
	owner, hasPN := t.people.find(f.PN)
	holder, hasLID := t.people.find(f.LID)
	switch {
	case hasPN && hasLID && owner.id == holder.id && owner.lid == f.LID:
		return
	case !hasPN && !hasLID:
		t.addPerson(f.PN, f.LID)
		return
	case !hasPN && holder.pn == "":
		t.nameByPhone(holder, f.PN)
		return
	case !hasPN:
		owner = t.addPerson(f.PN, "")
	}
	t.giveLID(owner, holder, f.LID)
}

// nameByPhone gives a person known by a LID alone their phone number.
func (t *writeTx) nameByPhone(p person, pn bridge.JID) {
	t.movePending("sender", string(p.lid), string(pn))
	p.pn = pn
	t.people.point(pn, p.id)
	t.saveNumbersOf(p)
	t.updatePrivateChat(p)
}

// giveLID makes lid the LID of p. Its holder, if there is one, loses it, or becomes p where
// only the LID was known of them.
func (t *writeTx) giveLID(p, holder person, lid bridge.JID) {
	if holder.id != 0 && holder.id != p.id {
		t.takeLID(&p, holder, lid)
	}
	p.lid = lid
	t.saveNumbersOf(p)
	t.assignLID(lid, p.id)
	t.updatePrivateChat(p)
}

func (t *writeTx) takeLID(p *person, holder person, lid bridge.JID) {
	if holder.pn == "" {
		t.mergePeople(holder, p)
		return
	}
	if holder.lid != lid {
		return // one of its former LIDs
	}
	holder.lid = ""
	t.saveNumbersOf(holder)
	t.updatePrivateChat(holder)
}

// saveContact learns a person's names.
func (t *writeTx) saveContact(f bridge.Contact) {
	if !f.JID.IsPerson() {
		return
	}
	p := t.ensurePerson(f.JID)
	before := p
	set(&p.name, f.Name)
	set(&p.push, f.PushName)
	set(&p.business, f.BusinessName)
	set(&p.username, f.Username)
	if p == before {
		return
	}
	if p.username != before.username {
		t.takeUsername(p)
	}
	t.saveNames(p)
}

// takeUsername takes the username of p from those who had it before.
func (t *writeTx) takeUsername(p person) {
	if p.username == "" {
		return
	}
	former := db.List[int64](t.Conn, "SELECT id FROM people WHERE username = ? AND username != '' AND id != ?", p.username, p.id)
	for _, id := range former {
		if holder, known := t.people.get(id); known {
			holder.username = ""
			t.saveNames(holder)
		}
	}
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// savePushName learns a name that came with a message.
func (t *writeTx) savePushName(p person, name string) {
	if name == "" || name == p.push {
		return
	}
	p.push = name
	t.saveNames(p)
}

// maxSortName bounds what contacts are sorted by, in characters: cursors contain it.
const maxSortName = 64

// sortName returns what a person is sorted by; empty where they have no name.
func (p person) sortName() string {
	name := strings.TrimSpace(fold(p.displayName()))
	for i := range name {
		if utf8.RuneCountInString(name[:i]) == maxSortName {
			return name[:i]
		}
	}
	return name
}

// foldedNames returns all names of a person for searches, the username with an @.
func (p person) foldedNames() string {
	names := []string{fold(p.name), fold(p.push), fold(p.business)}
	if p.username != "" {
		names = append(names, "@"+fold(p.username))
	}
	return strings.TrimSpace(strings.Join(names, "\n"))
}

// foldedChat returns the name, the LID where that is not the JID, and the username of the
// chat with a person, for searches.
func (p person) foldedChat() string {
	folded := fold(chatName(p))
	if p.pn != "" && p.lid != "" {
		folded += "\n" + string(p.lid)
	}
	if p.username != "" {
		folded += "\n@" + fold(p.username)
	}
	return folded
}

func (t *writeTx) saveNames(p person) {
	t.people.set(p)
	t.Run("UPDATE people SET name = ?, push_name = ?, business_name = ?, username = ?, sort_name = ?, folded_names = ? WHERE id = ?",
		p.name, p.push, p.business, p.username, p.sortName(), p.foldedNames(), p.id)
	t.updatePrivateChat(p)
}
