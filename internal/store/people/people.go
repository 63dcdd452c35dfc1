// Package people stores the people of an account: which numbers and LIDs belong to one person, and
// their names.
//
// [Directory] is a copy of them in memory, and [Tx] changes them in a transaction. The package does not
// know the other tables that contain people: [Dependents] update them.
package people

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// AuthorName returns the name of the author of messages without one.
func (p Person) AuthorName() string {
	return cmp.Or(p.PushName, p.BusinessName, p.Name, p.Username)
}

// Tx changes people in a transaction.
type Tx struct {
	*sqlite.Conn
	People *Directory
	Dependents
}

// Dependents update the other tables that contain people. All methods run in the transaction of the
// change.
type Dependents interface {
	// PersonChanged is called after a person got other names or another JID.
	PersonChanged(p Person)
	// SenderRenamed is called before a person gets another JID.
	SenderRenamed(from, into bridge.JID)
	// merging is called before one person becomes part of another, merged after it.
	Merging(from, into int64)
	Merged(into Person)
}

// EnsurePerson returns the person with a JID, and adds one that is not stored.
func (t *Tx) EnsurePerson(jid bridge.JID) Person {
	if p, ok := t.People.Find(jid); ok {
		return p
	}
	if jid.IsLID() {
		return t.addPerson("", jid)
	}
	return t.addPerson(jid, "")
}

func (t *Tx) addPerson(pn, lid bridge.JID) Person {
	id := t.Insert("INSERT INTO people (pn, lid) VALUES (nullif(?, ''), nullif(?, ''))", string(pn), string(lid))
	p := Person{ID: id, PN: pn, LID: lid}
	t.People.set(p)
	if pn != "" {
		t.People.name(pn, id)
	}
	if lid != "" {
		t.assignLID(lid, id)
	}
	return p
}

// assignLID gives a LID to a person.
func (t *Tx) assignLID(lid bridge.JID, id int64) {
	t.People.name(lid, id)
	t.Run(`
		INSERT INTO identities (lid, person) VALUES (?, ?)
		ON CONFLICT (lid) DO UPDATE SET person = excluded.person`, string(lid), id)
}

func (t *Tx) saveNumbersOf(p Person) {
	t.People.set(p)
	t.Run("UPDATE people SET pn = nullif(?, ''), lid = nullif(?, '') WHERE id = ?", string(p.PN), string(p.LID), p.ID)
	t.PersonChanged(p)
}

// SaveIdentity stores that a phone number and a LID are one person.
//
// A person who was known by the LID alone becomes the one with the number: their chats
// become one. A LID that belonged to another number moves: a number names a person
// until a [bridge.IdentityChange], so no message of the old number is attributed to the new
// one. A number that gets a new LID retains its old ones.
func (t *Tx) SaveIdentity(f bridge.Identity) {
	if !f.PN.IsPerson() || f.PN.IsLID() || !f.LID.IsLID() {
		return
	}
	owner, hasPN := t.People.Find(f.PN)
	holder, hasLID := t.People.Find(f.LID)
	if hasPN && owner.PN != f.PN { // a former number of theirs
		if hasLID && owner.ID == holder.ID {
			return // from before the change
		}
		t.forgetNumber(f.PN)
		owner, hasPN = Person{}, false
	}
	switch {
	case hasPN && hasLID && owner.ID == holder.ID && owner.LID == f.LID:
		return
	case !hasPN && !hasLID:
		t.addPerson(f.PN, f.LID)
		return
	case !hasPN && holder.PN == "":
		t.nameByPhone(holder, f.PN)
		return
	case !hasPN:
		owner = t.addPerson(f.PN, "")
	}
	t.giveLID(owner, holder, f.LID)
}

// nameByPhone gives a person known by a LID alone their phone number.
func (t *Tx) nameByPhone(p Person, pn bridge.JID) {
	t.SenderRenamed(p.LID, pn)
	p.PN = pn
	t.People.name(pn, p.ID)
	t.saveNumbersOf(p)
}

// giveLID makes lid the LID of p. Its holder, if there is one, loses it. A holder without a number
// becomes p.
func (t *Tx) giveLID(p, holder Person, lid bridge.JID) {
	switch {
	case holder.ID == 0 || holder.ID == p.ID:
	case holder.PN == "":
		t.mergePeople(holder, &p)
	case holder.LID == lid: // else it is one of its former LIDs
		holder.LID = ""
		t.saveNumbersOf(holder)
	}
	p.LID = lid
	t.assignLID(lid, p.ID)
	t.saveNumbersOf(p)
}

// SaveContact stores a person's names.
func (t *Tx) SaveContact(f bridge.Contact) {
	if !f.JID.IsPerson() {
		return
	}
	before := t.EnsurePerson(f.JID)
	p := before
	bridge.SetIf(&p.Name, f.Name)
	bridge.SetIf(&p.PushName, f.PushName)
	bridge.SetIf(&p.BusinessName, f.BusinessName)
	bridge.SetIf(&p.Username, f.Username)
	if p == before {
		return
	}
	if p.Username != before.Username {
		t.takeUsername(p)
	}
	t.SaveNames(p)
}

// takeUsername removes the username of p from the people who had it before.
func (t *Tx) takeUsername(p Person) {
	if p.Username == "" {
		return
	}
	former := sqlite.List[int64](t.Conn, "SELECT id FROM people WHERE username = ? AND username != '' AND id != ?", p.Username, p.ID)
	for _, id := range former {
		holder := t.People.Get(id)
		holder.Username = ""
		t.SaveNames(holder)
	}
}

// SavePushName stores the push name of a message's sender.
func (t *Tx) SavePushName(p Person, name string) {
	if name != "" && name != p.PushName {
		p.PushName = name
		t.SaveNames(p)
	}
}

func (t *Tx) SaveNames(p Person) {
	t.People.set(p)
	t.Run("UPDATE people SET name = ?, push_name = ?, business_name = ?, username = ?, sort_name = ?, folded_names = ? WHERE id = ?",
		p.Name, p.PushName, p.BusinessName, p.Username, p.sortName(), p.foldedNames(), p.ID)
	t.PersonChanged(p)
}
