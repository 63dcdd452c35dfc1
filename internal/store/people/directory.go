package people

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"sync"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/storefile"
)

// Directory is a copy in memory of the tables people and identities, so that reading needs no join,
// and JIDs in stored JSON are always shown as today's. The writer changes it in its transactions, so it
// may be ahead of a reader's snapshot. After a transaction that fails, it is read from the tables again.
type Directory struct {
	mu     sync.RWMutex // guards the fields from here on
	byJID  map[bridge.JID]int64
	byID   map[int64]Person
	merged map[int64]int64 // people by the ids that became theirs, which old snapshots may contain
	owner  int64           // the account's own person; 0 if it is unknown
	dirty  bool            // changed since the last commit
}

func New() *Directory { return &Directory{merged: make(map[int64]int64)} }

// Load reads the tables.
func (p *Directory) Load(ctx context.Context, c *sqlite.Conn) error {
	byJID, byID, owner := make(map[bridge.JID]int64), make(map[int64]Person), bridge.Owner{}
	err := c.View(ctx, func() {
		for row := range c.Rows("SELECT id, ifnull(pn, ''), ifnull(lid, ''), name, push_name, business_name, username FROM people") {
			var p Person
			row.Scan(&p.ID, &p.PN, &p.LID, &p.Name, &p.PushName, &p.BusinessName, &p.Username)
			byID[p.ID] = p
			if p.PN != "" {
				byJID[p.PN] = p.ID
			}
		}
		for row := range c.Rows("SELECT lid, person FROM identities") {
			var lid bridge.JID
			var id int64
			row.Scan(&lid, &id)
			byJID[lid] = id
		}
		owner, _ = ReadOwner(c)
	})
	if err != nil {
		return storefile.ExplainRead(ctx, err)
	}
	p.change(func() {
		p.byJID, p.byID, p.owner = byJID, byID, byJID[cmp.Or(owner.PN, owner.LID)]
		maps.DeleteFunc(p.merged, func(from, _ int64) bool { return byID[from].ID != 0 })
	})
	p.dirty = false
	return nil
}

// Undo undoes the changes of a transaction that failed.
func (p *Directory) Undo(c *sqlite.Conn) error {
	if !p.dirty {
		return nil
	}
	return p.Load(context.Background(), c)
}

// Committed retains the changes of a transaction. Only the writer calls it.
func (p *Directory) Committed() { p.dirty = false }

func (p *Directory) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty = true
	f()
}

// Find returns the person of a JID in either form.
func (p *Directory) Find(jid bridge.JID) (Person, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	q, ok := p.byID[p.byJID[jid]]
	return q, ok
}

// OwnerID returns the id of the account's own person, 0 until it is known.
func (p *Directory) OwnerID() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.owner
}

// Get returns the person with an id, or the person it was merged into. It returns the zero person if
// there is no such id.
func (p *Directory) Get(id int64) Person {
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

// Canonical returns the JID that the API shows: the phone JID of a person if it is known. The JIDs of
// groups and unknown people are returned unchanged.
func (p *Directory) Canonical(jid bridge.JID) bridge.JID { return Finder(p.Find).Canonical(jid) }

// LIDOf returns the LID of the person with any JID, "" if it is unknown.
func (p *Directory) LIDOf(jid bridge.JID) bridge.JID { return Finder(p.Find).LID(jid) }

// UsernameOf returns the username of the person with any JID, nil if it is unknown.
func (p *Directory) UsernameOf(jid bridge.JID) *string {
	is, _ := p.Find(jid)
	return is.UsernameOrNil()
}

// FormsOf returns all known JIDs of the person with a JID.
func (p *Directory) FormsOf(jid bridge.JID) []bridge.JID {
	if p, known := p.Find(jid); known {
		return p.Forms()
	}
	return []bridge.JID{jid}
}

// All returns all people.
func (p *Directory) All() iter.Seq[Person] {
	return func(yield func(Person) bool) {
		p.mu.RLock()
		defer p.mu.RUnlock()
		for _, is := range p.byID {
			if !yield(is) {
				return
			}
		}
	}
}

func (p *Directory) set(q Person) {
	if q.ID != 0 { // else the transaction has failed
		p.change(func() {
			p.byID[q.ID] = q
			delete(p.merged, q.ID) // an id of a transaction that failed is given again
		})
	}
}

func (p *Directory) name(jid bridge.JID, id int64) {
	if id != 0 {
		p.change(func() { p.byJID[jid] = id })
	}
}

func (p *Directory) merge(from, into int64) {
	p.change(func() {
		p.merged[from] = into
		delete(p.byID, from)
		if p.owner == from {
			p.owner = into
		}
	})
}

// Forget removes a person from look-ups. Readers of older snapshots still find them by their id.
func (p *Directory) Forget(id int64) {
	p.change(func() {
		for _, jid := range []bridge.JID{p.byID[id].PN, p.byID[id].LID} {
			if p.byJID[jid] == id {
				delete(p.byJID, jid)
			}
		}
	})
}
