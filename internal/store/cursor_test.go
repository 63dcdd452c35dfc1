package store

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/sqlite"
	"bridged/internal/store/read"
)

// parseCursor reads a cursor as lists do.
func parseCursor(list, cursor string, position ...any) error {
	c := new(sqlite.Conn)
	c.After(list, cursor, position...)
	return c.Err()
}

// A cursor is one that a list answered, or is refused.
func FuzzCursor(f *testing.F) {
	f.Add(sqlite.Cursor(read.ListMessages, 1, 2))
	f.Add(sqlite.Cursor(read.ListChats, 3, "1@g.us"))
	f.Add(sqlite.Cursor(read.ListMessages, nil, nil))
	f.Add("bS4uLg")
	f.Fuzz(func(t *testing.T, cursor string) {
		if cursor == "" { // the first page
			return
		}
		fuzzbudget.Usual.Check(t, len(cursor), func() {
			var p, again read.Position
			err := parseCursor(read.ListMessages, cursor, &p.Timestamp, &p.Seq)
			if twice := parseCursor(read.ListMessages, *read.MessageCursor(p), &again.Timestamp, &again.Seq); err == nil && (twice != nil || again != p) {
				t.Errorf("%q is %+v, and that %+v, %v", cursor, p, again, twice)
			}
			var recency, sameRecency int64
			var jid, sameJID string
			chatErr := parseCursor(read.ListChats, cursor, &recency, &jid)
			twice := parseCursor(read.ListChats, sqlite.Cursor(read.ListChats, recency, jid), &sameRecency, &sameJID)
			if chatErr == nil && (twice != nil || sameRecency != recency || sameJID != jid) {
				t.Errorf("%q is %d %q, and that %d %q, %v", cursor, recency, jid, sameRecency, sameJID, twice)
			}
			for _, err := range []error{err, chatErr} {
				if err != nil && bridge.CodeOf(err) != bridge.CodeInvalid {
					t.Errorf("%q: %v", cursor, err)
				}
			}
		})
	})
}

// Whatever is searched for, the index answers as a look at each message does.
func FuzzSearch(f *testing.F) {
	s := newStore(f)
	for i, text := range []string{"Straße 100% sicher", "a_b [c] \"d\" *e*", "ΣΊΣΥΦΟΣ", "\u200dzero\u200b", "12345"} {
		save(f, s, says(alice, alice, "M"+text[:1], i, text))
	}
	for _, q := range []string{"100%", "_", "strasse", "\"", "σίσυφος", "\xff", "a*", " ", "NEAR(", "\x00"} {
		f.Add(q)
	}
	perSearch := fuzzbudget.Budget{Base: 4 << 20, PerByte: 1 << 10, Time: fuzzbudget.Usual.Time}
	f.Fuzz(func(t *testing.T, q string) {
		perSearch.Check(t, len(q), func() {
			if _, err := s.Search(t.Context(), bridge.SearchQuery{Q: q, Limit: 10}); err != nil && bridge.CodeOf(err) != bridge.CodeInvalid {
				t.Errorf("%q: %v", q, err)
			}
		})
	})
}
