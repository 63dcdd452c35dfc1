// Package read answers the queries of the API: messages, chats, people, groups, calls, events, and
// searches.
//
// Each answer is from one [Snapshot]. A query may be limited to some chats; then its answers show only
// the people of these chats with their names. The package changes nothing.
package read

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/people"
)

// Reader answers queries. All methods may be called at the same time.
type Reader struct {
	o      Options
	Tuning Tuning

	eventReads atomic.Pointer[eventReads]
}

// Options connects a [Reader] with the rest of the store.
type Options struct {
	View   func(ctx context.Context, f func(*sqlite.Conn)) error // runs f on one snapshot
	People *people.Directory
	Index  *search.Index
	Now    func() int64 // in milliseconds
	Log    zerolog.Logger
}

// Tuning has limits that tests change, to reach them with small stores.
type Tuning struct {
	Page  int // bytes of JSON of the elements of a page
	Small int // messages of a chat that is searched without the index, because they may be in as many packs of the index
	Look  int // messages that a page with a filter looks at, or a little more
}

// New returns a reader.
func New(o Options) *Reader {
	s := &Reader{o: o, Tuning: Tuning{Small: 768, Page: bridge.PageBytes, Look: 1 << 14}}
	s.DropPages()
	return s
}

// DropPages drops the shared pages of events. The writer calls it after each transaction.
func (s *Reader) DropPages() { s.eventReads.Store(new(eventReads)) }

// Snapshot is one consistent view of the store.
type Snapshot struct {
	*sqlite.Conn
	s *Reader

	limit *limit // of the caller; nil if none
}

// People returns the directory of people, which may be ahead of the snapshot.
func (r *Snapshot) People() *people.Directory { return r.s.o.People }

// Over returns the snapshot that a connection reads, which may be the writer's transaction.
func (s *Reader) Over(c *sqlite.Conn) *Snapshot { return &Snapshot{Conn: c, s: s} }

// Read runs f on one snapshot.
func (s *Reader) Read(ctx context.Context, f func(*Snapshot)) error {
	return s.o.View(ctx, func(c *sqlite.Conn) { f(s.Over(c)) })
}

// As returns the result of f on one snapshot. Errors begin with the text of action.
func As[T any](ctx context.Context, s *Reader, action string, f func(*Snapshot) T) (T, error) {
	var value T
	if err := s.Read(ctx, func(r *Snapshot) { value = f(r) }); err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", action, err)
	}
	return value, nil
}

// OwnerOf returns the account of the store, and reports whether it is known.
func (s *Reader) OwnerOf(ctx context.Context) (owner bridge.Owner, known bool, err error) {
	err = s.Read(ctx, func(r *Snapshot) { owner, known = people.ReadOwner(r.Conn) })
	return owner, known, err
}

// Canonical returns the JID that the API shows: the phone JID of a person if it is known. The JIDs of
// groups and unknown people are returned unchanged.
func (s *Reader) Canonical(jid bridge.JID) bridge.JID { return s.o.People.Canonical(jid) }

// LIDOf returns the LID of the person with any JID, "" if it is unknown.
func (s *Reader) LIDOf(jid bridge.JID) bridge.JID { return s.o.People.LIDOf(jid) }

// UsernameOf returns the username of the person with any JID, nil if it is unknown.
func (s *Reader) UsernameOf(jid bridge.JID) *string { return s.o.People.UsernameOf(jid) }
