package store

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"sync"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
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

// people is a copy in memory of the tables people and identities: reading needs no join, and
// JIDs in stored JSON are always today's. The writer changes it in its transactions, so that
// it may be ahead of a reader's snapshot; one that fails is undone by reading the tables.
type people struct {
	mu     sync.RWMutex // guards all below
	byJID  map[bridge.JID]int64
	byID   map[int64]person
	merged map[int64]int64 // people to those that they are now: old snapshots may name them
	owner  int64           // the account's own person; 0 until it is known
	dirty  bool            // changed since the last commit
}

func (s *Store) loadPeople(ctx context.Context) error {
	byJID, byID, owner := make(map[bridge.JID]int64), make(map[int64]person), bridge.Owner{}
	err := s.writer.View(ctx, func() {
		for row := range s.writer.Rows("SELECT id, ifnull(pn, ''), ifnull(lid, ''), name, push_name, business_name, username FROM people") {
			var p person
			row.Scan(&p.id, &p.pn, &p.lid, &p.name, &p.push, &p.business, &p.username)
			byID[p.id] = p
			if p.pn != "" {
				byJID[p.pn] = p.id
			}
		}
		for row := range s.writer.Rows("SELECT lid, person FROM identities") {
			var lid bridge.JID
			var id int64
			row.Scan(&lid, &id)
			byJID[lid] = id
		}
		owner, _ = readOwner(s.writer)
	})
	if err != nil {
		return explainRead(ctx, err)
	}
	p := s.people
	p.change(func() {
		p.byJID, p.byID, p.owner = byJID, byID, byJID[cmp.Or(owner.PN, owner.LID)]
		maps.DeleteFunc(p.merged, func(from, _ int64) bool { return byID[from].id != 0 })
	})
	p.dirty = false
	return nil
}

// reloadPeople undoes the changes of a transaction that failed.
func (s *Store) reloadPeople() error {
	if !s.people.dirty {
		return nil
	}
	return s.loadPeople(context.Background())
}

func (p *people) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty = true
	f()
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

// get returns the person with an id, or the one that it was merged into; the zero person
// where there is none.
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
func (s *Store) Canonical(jid bridge.JID) bridge.JID { return s.people.canonical(jid) }

// LIDOf returns the LID of a person given in either form, empty when unknown.
func (s *Store) LIDOf(jid bridge.JID) bridge.JID {
	return finder(s.people.find).lid(jid)
}

// UsernameOf returns the username of a person given in either form, nil when unknown.
func (s *Store) UsernameOf(jid bridge.JID) *string {
	p, _ := s.people.find(jid)
	return p.usernameOrNil()
}

func (p *people) canonical(jid bridge.JID) bridge.JID { return finder(p.find).canonical(jid) }

func (p *people) set(q person) {
	if q.id != 0 { // else the transaction has failed
		p.change(func() {
			p.byID[q.id] = q
			delete(p.merged, q.id) // an id of a transaction that failed is given again
		})
	}
}

func (p *people) name(jid bridge.JID, id int64) {
	if id != 0 {
		p.change(func() { p.byJID[jid] = id })
	}
}

func (p *people) merge(from, into int64) {
	p.change(func() {
		p.merged[from] = into
		delete(p.byID, from)
		if p.owner == from {
			p.owner = into
		}
	})
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
	t.people.set(p)
	if pn != "" {
		t.people.name(pn, id)
	}
	if lid != "" {
		t.assignLID(lid, id)
	}
	return p
}

// assignLID gives a LID to a person.
func (t *writeTx) assignLID(lid bridge.JID, id int64) {
	t.people.name(lid, id)
	t.Run(`
		INSERT INTO identities (lid, person) VALUES (?, ?)
		ON CONFLICT (lid) DO UPDATE SET person = excluded.person`, string(lid), id)
}

func (t *writeTx) saveNumbersOf(p person) {
	t.people.set(p)
	t.Run("UPDATE people SET pn = nullif(?, ''), lid = nullif(?, '') WHERE id = ?", string(p.pn), string(p.lid), p.id)
	t.updateChats(p)
}

// saveIdentity learns that a phone number and a LID are one person.
//
// A person who was known by the LID alone becomes the one with the number: their chats
// become one. A LID that belonged to another number moves: a number names a person
// until a [bridge.IdentityChange], so no message of the old number is attributed to the new
// one. A number that gets a new LID keeps its old ones.
func (t *writeTx) saveIdentity(f bridge.Identity) {
	if !f.PN.IsPerson() || f.PN.IsLID() || !f.LID.IsLID() {
		return
	}
	owner, hasPN := t.people.find(f.PN)
	holder, hasLID := t.people.find(f.LID)
	if hasPN && owner.pn != f.PN { // a former number of theirs
		if hasLID && owner.id == holder.id {
			return // from before the change
		}
		t.forgetNumber(f.PN)
		owner, hasPN = person{}, false
	}
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
	t.people.name(pn, p.id)
	t.saveNumbersOf(p)
}

// giveLID makes lid the LID of p. Its holder, if there is one, loses it, or becomes p where
// only the LID was known of them.
func (t *writeTx) giveLID(p, holder person, lid bridge.JID) {
	switch {
	case holder.id == 0 || holder.id == p.id:
	case holder.pn == "":
		t.mergePeople(holder, &p)
	case holder.lid == lid: // else it is one of its former LIDs
		holder.lid = ""
		t.saveNumbersOf(holder)
	}
	p.lid = lid
	t.assignLID(lid, p.id)
	t.saveNumbersOf(p)
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
	former := sqlite.List[int64](t.Conn, "SELECT id FROM people WHERE username = ? AND username != '' AND id != ?", p.username, p.id)
	for _, id := range former {
		holder := t.people.get(id)
		holder.username = ""
		t.saveNames(holder)
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
	name := strings.TrimSpace(foldName(p.displayName()))
	for i := range name {
		if utf8.RuneCountInString(name[:i]) == maxSortName {
			return name[:i]
		}
	}
	return name
}

// foldedNames returns all names of a person for searches, the username with an @.
func (p person) foldedNames() string {
	names := []string{foldName(p.name), foldName(p.push), foldName(p.business)}
	if p.username != "" {
		names = append(names, "@"+foldName(p.username))
	}
	return strings.TrimSpace(strings.Join(names, "\n"))
}

// foldedChat returns the name, the LID where that is not the JID, and the username of the
// chat with a person, for searches.
func (p person) foldedChat() string {
	folded := foldName(chatName(p))
	if p.pn != "" && p.lid != "" {
		folded += "\n" + string(p.lid)
	}
	if p.username != "" {
		folded += "\n@" + foldName(p.username)
	}
	return folded
}

func (t *writeTx) saveNames(p person) {
	t.people.set(p)
	t.Run("UPDATE people SET name = ?, push_name = ?, business_name = ?, username = ?, sort_name = ?, folded_names = ? WHERE id = ?",
		p.name, p.push, p.business, p.username, p.sortName(), p.foldedNames(), p.id)
	t.updateChats(p)
}
