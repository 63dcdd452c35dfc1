package wa

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

const (
	// bookReads is how often the address book is read if it changes meanwhile.
	bookReads = 5
	// removalSettles is how long after a removal the events of older changes may still come.
	removalSettles = 10 * time.Minute
)

// addressBook is what a link knows about changes of the account's address book.
type addressBook struct {
	saving    sync.Mutex   // held while names are saved
	waits     atomic.Bool  // a read after a removal has not begun
	removedAt atomic.Int64 // the time of the last removal, in nanoseconds
}

// entryRemoved reads the address book again after an entry was removed from it. It does not block.
func (l *link) entryRemoved(collection appstate.WAPatchName) {
	if collection != appstate.WAPatchCriticalUnblockLow || !l.m.handlers.enter() {
		return
	}
	defer l.m.handlers.leave()
	l.book.removedAt.Store(time.Now().UnixNano())
	l.readBook()
}

// readBook reads the address book in the background, once for all changes until the read begins.
// Call it between enter and leave of the manager's handlers.
func (l *link) readBook() {
	if !l.book.waits.CompareAndSwap(false, true) {
		return
	}
	l.m.workers.Go(func() {
		begin := sync.OnceFunc(func() { l.book.waits.Store(false) })
		defer begin()
		ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
		defer cancel()
		l.catchUpShared(ctx, func() {
			begin()
			l.catchUpPeople(ctx)
		})
	})
}

// saveNames saves a change of the address book that whatsmeow has applied. An older change than a
// removal may be emitted after it, so that the address book is read once more.
func (l *link) saveNames(facts []bridge.Fact) bool {
	if len(facts) == 0 {
		return l.saveAndFollowUp(facts)
	}
	l.book.saving.Lock()
	saved := l.saveAndFollowUp(facts)
	l.book.saving.Unlock()
	if time.Since(time.Unix(0, l.book.removedAt.Load())) < removalSettles {
		l.readBook()
	}
	return saved
}

// catchUpPeople saves the session's identities and the address book, including changes while the
// store failed. It removes the names that are no longer in the address book.
func (l *link) catchUpPeople(ctx context.Context) {
	identities, err := l.m.db.Identities(ctx)
	if err != nil {
		l.m.storeLags.Store(true)
		l.m.log.Warn().Err(err).Msg("cannot read identities")
	}
	l.saveAll(ctx, identities)
	for range bookReads {
		book, err := l.cli.AddressBook(ctx)
		if err != nil {
			l.m.storeLags.Store(true)
			l.m.log.WithLevel(levelOf(err)).Str("error", bridge.Redact(err.Error())).Msg("cannot read the address book")
		}
		if err != nil || !book.IsKnown() {
			l.saveSessionNames(ctx)
			return
		}
		if l.saveBook(ctx, book) {
			return
		}
	}
	l.m.storeLags.Store(true) // it changes all the time
}

// saveSessionNames saves the names that whatsmeow has stored, which include removed ones.
func (l *link) saveSessionNames(ctx context.Context) {
	l.book.saving.Lock()
	defer l.book.saving.Unlock()
	var facts []bridge.Fact
	contacts := l.sessionContacts(ctx)
	for _, server := range []string{types.HiddenUserServer, types.DefaultUserServer} { // the number's names win
		for jid, contact := range contacts {
			if jid.Server == server {
				facts = append(facts, convert.Contact(jid, contact))
			}
		}
	}
	l.saveAll(ctx, facts)
}

// saveBook saves the address book, and the other names of the session. It returns false if changes
// have been applied that are not in the book. Concurrent changes wait, so that the book does not
// overwrite them.
func (l *link) saveBook(ctx context.Context, book session.AddressBook) bool {
	l.book.saving.Lock()
	defer l.book.saving.Unlock()
	outdated, err := l.cli.IsOutdated(ctx, book)
	if err != nil {
		l.m.storeLags.Store(true)
		l.m.log.Warn().Err(err).Msg("cannot read the version of the address book")
		return true
	}
	if outdated {
		return false
	}
	named := make(map[bridge.JID]int, len(book.People)) // the last entry with a name
	for i, person := range book.People {
		if *person.Name == "" {
			book.People[i].Name = nil
			continue
		}
		jid := l.m.store.Canonical(person.JID)
		if before, twice := named[jid]; twice {
			book.People[before].Name = nil
		}
		named[jid] = i
	}
	facts := l.otherNames(ctx, named)
	for _, person := range book.People {
		facts = append(facts, person)
	}
	l.saveAll(ctx, append(facts, l.removedNames(ctx, named)...))
	return true
}

// otherNames returns the names of the session that are not from the address book. It removes names
// from the session that are no longer in the address book.
func (l *link) otherNames(ctx context.Context, named map[bridge.JID]int) (facts []bridge.Fact) {
	for jid, contact := range l.sessionContacts(ctx) {
		if jid.Server != types.HiddenUserServer && jid.Server != types.DefaultUserServer {
			continue
		}
		person := convert.Contact(jid, contact)
		if _, ok := named[l.m.store.Canonical(person.JID)]; person.Name != nil && !ok {
			if err := l.cli.ForgetName(ctx, jid); err != nil {
				l.m.storeLags.Store(true)
				l.m.log.Warn().Err(err).Msg("cannot remove a name from the session")
			}
		}
		person.Name = nil
		facts = append(facts, person)
	}
	return facts
}

// removedNames returns the removal of stored names that are no longer in the address book.
func (l *link) removedNames(ctx context.Context, named map[bridge.JID]int) (facts []bridge.Fact) {
	query := bridge.ContactQuery{Saved: new(true), Limit: 500}
	for {
		page, err := l.m.store.Contacts(ctx, query)
		if err != nil {
			l.m.storeLags.Store(true)
			l.m.log.Warn().Err(err).Msg("cannot read the stored names")
			return facts
		}
		for _, person := range page.Items {
			if _, ok := named[person.JID]; !ok {
				facts = append(facts, bridge.Contact{JID: person.JID, Name: new("")})
			}
		}
		if page.NextCursor == nil {
			return facts
		}
		query.Cursor = *page.NextCursor
	}
}

func (l *link) sessionContacts(ctx context.Context) map[types.JID]types.ContactInfo {
	contacts, err := l.cli.Contacts(ctx)
	if err != nil {
		l.m.storeLags.Store(true)
		l.m.log.Warn().Err(err).Msg("cannot read contacts")
	}
	return contacts
}
