package store

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// person is the person of a phone number, a LID, or both.
type person struct {
	id       int64
	pn, lid  bridge.JID
	name     string // from the account's address book
	push     string // chosen by the person
	business string // verified by the network
	username string // by which the network finds them
}

// jid returns the canonical JID: the phone JID where it is known.
func (p person) jid() bridge.JID { return cmp.Or(p.pn, p.lid) }

// displayName returns the best name known, empty when there is none.
func (p person) displayName() string {
	return cmp.Or(p.name, p.push, p.business, p.username)
}

func (p person) usernameOrNil() *string {
	if p.username == "" {
		return nil
	}
	return new(p.username) // a copy: p does not leave the stack
}

// pushName returns the name of the author of messages without one.
func (p person) pushName() string {
	return cmp.Or(p.push, p.business, p.name, p.username)
}

// identities are people by their JIDs and by their ids.
type identities struct {
	byJID  map[bridge.JID]int64
	byID   map[int64]person
	merged map[int64]int64 // people to those that they are now: old snapshots may name them
	owner  int64           // the account's own person; 0 until it is known
}

func newIdentities(owner int64) identities {
	return identities{byJID: make(map[bridge.JID]int64), byID: make(map[int64]person), merged: make(map[int64]int64), owner: owner}
}

// people is a copy in memory of the tables people and identities: reading needs no join, and
// JIDs in stored JSON are always today's.
type people struct {
	mu sync.RWMutex // guards all below
	identities
}

func (s *Store) loadPeople(ctx context.Context) error {
	return s.read(ctx, func(r *readTx) {
		p := s.people
		p.mu.Lock()
		defer p.mu.Unlock()
		for row := range r.Rows("SELECT id, ifnull(pn, ''), ifnull(lid, ''), name, push_name, business_name, username FROM people") {
			var q person
			row.Scan(&q.id, &q.pn, &q.lid, &q.name, &q.push, &q.business, &q.username)
			p.byID[q.id] = q
			if q.pn != "" {
				p.byJID[q.pn] = q.id
			}
		}
		for row := range r.Rows("SELECT lid, person FROM identities") {
			var lid bridge.JID
			var id int64
			row.Scan(&lid, &id)
			p.byJID[lid] = id
		}
		if owner, known := readOwner(r.Conn); known {
			p.owner = p.byJID[cmp.Or(owner.PN, owner.LID)]
		}
	})
}

// find returns the person of a JID in either form.
func (p *people) find(jid bridge.JID) (person, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	q, ok := p.byID[p.byJID[jid]]
	return q, ok
}

// ownerID returns the id of the account's own person, 0 until it is known.
func (p *people) ownerID() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.owner
}

// get returns the person with an id, or the one that it was merged into.
func (p *people) get(id int64) person {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for {
		into, merged := p.merged[id]
		if !merged {
			return p.byID[id]
		}
		id = into
	}
}

// Canonical returns the JID of answers: the phone JID of a person where it is known. Groups
// and unknown people stay as they are.
func (s *Store) Canonical(jid bridge.JID) bridge.JID {
	return finder(s.people.find).canonical(jid)
}

// LIDOf returns the LID of a person given in either form, empty when unknown.
func (s *Store) LIDOf(jid bridge.JID) bridge.JID {
	return finder(s.people.find).lid(jid)
}

// UsernameOf returns the username of a person given in either form, nil when unknown.
func (s *Store) UsernameOf(jid bridge.JID) *string {
	p, _ := s.people.find(jid)
	return p.usernameOrNil()
}

// peopleChange is a transaction's change of people, on top of the published ones. An entry without an id removes the published one.
type peopleChange struct {
	base *people
	identities
}

func (p *people) change() *peopleChange { return &peopleChange{p, newIdentities(p.ownerID())} }

func (c *peopleChange) find(jid bridge.JID) (person, bool) {
	if id, ok := c.byJID[jid]; ok {
		return c.get(id)
	}
	p, _ := c.base.find(jid)
	return c.get(p.id)
}

func (c *peopleChange) get(id int64) (person, bool) {
	p, changed := c.byID[id]
	if !changed {
		c.base.mu.RLock()
		defer c.base.mu.RUnlock()
		p = c.base.byID[id]
	}
	return p, p.id != 0
}

func (c *peopleChange) canonical(jid bridge.JID) bridge.JID { return finder(c.find).canonical(jid) }

func (c *peopleChange) merge(from, into int64) {
	c.merged[from] = into
	c.byID[from] = person{}
	if c.owner == from {
		c.owner = into
	}
}

// swap exchanges the entries of a change with the published ones. Swapping once more takes
// the change back.
func (p *people) swap(c *peopleChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	swapEntries(p.byJID, c.byJID)
	swapEntries(p.byID, c.byID)
	swapEntries(p.merged, c.merged)
	p.owner, c.owner = c.owner, p.owner
}

// swapEntries exchanges entries of two maps. The zero value stands for no entry.
func swapEntries[K, V comparable](all, some map[K]V) {
	var none V
	for key, value := range some {
		some[key] = all[key]
		if value == none {
			delete(all, key)
		} else {
			all[key] = value
		}
	}
}

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
	t.people.byID[p.id] = p
	if pn != "" {
		t.people.byJID[pn] = id
	}
	if lid != "" {
		t.assignLID(lid, id)
	}
	return p
}

// assignLID gives a LID to a person.
func (t *writeTx) assignLID(lid bridge.JID, id int64) {
	t.people.byJID[lid] = id
	t.Run(`
		INSERT INTO identities (lid, person) VALUES (?, ?)
		ON CONFLICT (lid) DO UPDATE SET person = excluded.person`, string(lid), id)
}

func (t *writeTx) saveNumbersOf(p person) {
	t.people.byID[p.id] = p
	t.Run("UPDATE people SET pn = nullif(?, ''), lid = nullif(?, '') WHERE id = ?", string(p.pn), string(p.lid), p.id)
	t.updatePrivateChat(p)
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
	t.people.byJID[pn] = p.id
	t.saveNumbersOf(p)
}

// giveLID makes lid the LID of p. Its holder, if there is one, loses it, or becomes p where
// only the LID was known of them.
func (t *writeTx) giveLID(p, holder person, lid bridge.JID) {
	if holder.id != 0 && holder.id != p.id {
		t.takeLID(&p, holder, lid)
	}
	p.lid = lid
	t.assignLID(lid, p.id)
	t.saveNumbersOf(p)
}

func (t *writeTx) takeLID(p *person, holder person, lid bridge.JID) {
	switch {
	case holder.pn == "":
		t.mergePeople(holder, p)
	case holder.lid == lid: // else it is one of its former LIDs
		holder.lid = ""
		t.saveNumbersOf(holder)
	}
}

// saveContact learns a person's names.
func (t *writeTx) saveContact(f bridge.Contact) {
	if !f.JID.IsPerson() {
		return
	}
	before := t.ensurePerson(f.JID)
	p := before
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
	if name != "" && name != p.push {
		p.push = name
		t.saveNames(p)
	}
}

// maxSortName bounds what contacts are sorted by, in characters: cursors contain it.
const maxSortName = 64

// sortName returns the key by which a person is sorted; empty where they have no name.
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
	t.people.byID[p.id] = p
	t.Run("UPDATE people SET name = ?, push_name = ?, business_name = ?, username = ?, sort_name = ?, folded_names = ? WHERE id = ?",
		p.name, p.push, p.business, p.username, p.sortName(), p.foldedNames(), p.id)
	t.updatePrivateChat(p)
}
