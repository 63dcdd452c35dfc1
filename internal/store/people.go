package store

import (
	"cmp"
	"context"
	"sync"

	"bridged/internal/bridge"
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
		owner, known := readOwner(r.Conn)
		if known {
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

// peopleChange is what one transaction learns of people, on top of what is
// published. An entry without an id removes the published one.
type peopleChange struct {
	base *people
	identities
}

func (p *people) change() *peopleChange { return &peopleChange{p, newIdentities(p.ownerID())} }

func (c *peopleChange) find(jid bridge.JID) (person, bool) {
	if id, ok := c.byJID[jid]; ok {
		return c.get(id)
	}
	p, ok := c.base.find(jid)
	if !ok {
		return p, false
	}
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

func (c *peopleChange) set(p person) { c.byID[p.id] = p }

func (c *peopleChange) point(jid bridge.JID, id int64) { c.byJID[jid] = id }

func (c *peopleChange) merge(from, into int64) {
	c.merged[from] = into
	c.byID[from] = person{}
	if c.owner == from {
		c.owner = into
	}
}

// swap publishes a change, which then holds what was published before: swapping it once
// more takes it back.
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
