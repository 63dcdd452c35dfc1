package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/sqlite"
	"bridged/migrations"
)

// The tests make small blocks and packs, so that small stores have many.
const (
	testBlockBits = 5
	testBlock     = 1 << testBlockBits
	testPackSize  = 7
)

// tables is a database with the tables of the store. Its one connection also reads.
type tables struct {
	mu     sync.Mutex
	conn   *sqlite.Conn
	failAt int // fails the transaction with this number, counted down
}

func (s *tables) View(ctx context.Context, f func(*sqlite.Conn)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.View(ctx, func() { f(s.conn) })
}

func (s *tables) Update(_ context.Context, f func(*sqlite.Conn)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failAt--
	return s.conn.Update(func() {
		f(s.conn)
		if s.failAt == 0 {
			s.conn.Fail(errors.New("the drill"))
		}
	})
}

// newIndex returns a prepared index of so many messages of one chat, and a store that
// says "number 7." in message 7.
func newIndex(t *testing.T, messages int) (*Index, *tables) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridged.db")
	ok(t, os.WriteFile(path, nil, 0o600))
	conn, err := sqlite.Open(path, []string{"synchronous(OFF)"})
	ok(t, err)
	t.Cleanup(func() { ok(t, conn.Close()) })
	schema, err := migrations.FS.ReadFile("0001_schema.sql")
	ok(t, err)
	ok(t, conn.Script(string(schema)))
	s := &tables{conn: conn}
	x := New(s, Options{BlockBits: testBlockBits, PackSize: testPackSize})
	ok(t, x.Prepare(t.Context()))
	ok(t, s.Update(t.Context(), func(c *sqlite.Conn) {
		c.Run("INSERT INTO chats (id, jid, is_group, name, folded_name, participants) VALUES (1, 'a', 0, 'a', 'a', 2)")
		for i := range messages {
			c.Run("INSERT INTO messages (seq, chat, id, sender, from_me, timestamp, type, push_name, content) VALUES (?1, 1, ?1, 1, 0, ?1, '', '', ?2)",
				i+1, fmt.Sprintf("number %d.", i+1))
		}
	}))
	x.Committed(int64(messages), true)
	return x, s
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// say changes what a message says.
func say(t *testing.T, x *Index, s *tables, seq int64, text string) {
	t.Helper()
	ok(t, s.Update(t.Context(), func(c *sqlite.Conn) {
		x.MarkStale(c, seq)
		c.Run("UPDATE messages SET content = ? WHERE seq = ?", text, seq)
	}))
}

// find counts the messages that contain a text.
func find(t *testing.T, x *Index, s *tables, text string) (n int) {
	t.Helper()
	ok(t, s.View(t.Context(), func(c *sqlite.Conn) { n = len(x.Find(c, Query{Needle: text, Desc: true, Limit: 500})) }))
	return n
}

func countOf(t *testing.T, s *tables, query string) (n int) {
	t.Helper()
	ok(t, s.View(t.Context(), func(c *sqlite.Conn) { c.Find(query, nil, &n) }))
	return n
}

// settle indexes all that can be indexed.
func settle(t *testing.T, x *Index) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = x.IndexSome(t.Context())
		ok(t, err)
	}
}

// TestIndex_HasFewSegmentsWhenThereIsNoMoreToIndex: each search looks into all of them.
func TestIndex_HasFewSegmentsWhenThereIsNoMoreToIndex(t *testing.T) {
	x, s := newIndex(t, 64*testBlock)
	for indexed := true; indexed; {
		var err error
		indexed, err = x.indexNext(t.Context())
		ok(t, err)
	}
	const segments = "SELECT count(DISTINCT segid) FROM grams_idx"
	before := countOf(t, s, segments)
	settle(t, x)
	if after := countOf(t, s, segments); after > 4 || before < 2*after {
		t.Errorf("%d segments, %d once there was nothing to index", before, after)
	}
	if n := find(t, x, s, "number 1700."); n != 1 {
		t.Errorf("a message is found %d times", n)
	}
	ok(t, x.Rebuild(t.Context(), nil)) // with a new table, which knows nothing of this
	settle(t, x)
	if after := countOf(t, s, segments); after > 4 {
		t.Errorf("%d segments of an index that was rebuilt", after)
	}
}

// TestFind_TellsAccentsApartOrNot in texts of few letters, most of which have them: the index
// knows which packs have a gram only without them, and passes over these.
func TestFind_TellsAccentsApartOrNot(t *testing.T) {
	const messages = 40 * testBlock
	x, s := newIndex(t, messages)
	r := rand.New(rand.NewPCG(1, 1))
	random := func(letters string, most int) string {
		var text []rune
		for range 1 + r.IntN(most) {
			text = append(text, []rune(letters)[r.IntN(len([]rune(letters)))])
		}
		return string(text)
	}
	ok(t, s.Update(t.Context(), func(c *sqlite.Conn) {
		for seq := range messages {
			letters := "áñéíabcdefg.\u304b\u304c"
			if seq%200 == 0 {
				letters = "aneibcd"
			}
			content := random(letters, 30)
			folded, bare := Columns(content, "")
			c.Run("UPDATE messages SET content = ?, folded = ?, bare = ? WHERE seq = ?", content, folded, bare, seq+1)
		}
	}))
	settle(t, x)
	ok(t, x.sample(t.Context()))
	passed, found := 0, 0
	ok(t, s.View(t.Context(), func(c *sqlite.Conn) {
		for range 1000 {
			for _, stripped := range []bool{false, true} {
				q := Query{Needle: random("aneiáñ", 6), Stripped: stripped, Desc: true, Limit: 20}
				if stripped {
					q.Needle = folding.StripAccents(q.Needle)
				}
				if strings.Contains(gramQuery(q.Needle, stripped, nil, x.rarity.Load(), 1000), " NOT ") {
					passed++
				}
				got := x.Find(c, q)
				if want := q.Scan(c); !slices.Equal(got, want) {
					t.Fatalf("%q without accents %t: %v, want %v", q.Needle, stripped, got, want)
				}
				found += len(got)
			}
		}
	}))
	if passed < 25 || found < 250 {
		t.Errorf("%d searches pass over packs, %d messages are found", passed, found)
	}
}

// TestIndex_CountsTheLastMessagesOnceItRests: an index that still merges is not complete.
func TestIndex_CountsTheLastMessagesOnceItRests(t *testing.T) {
	x, _ := newIndex(t, 8*testBlock+3)
	settle(t, x)
	if done, total, err := x.Indexed(t.Context()); err != nil || done >= total {
		t.Errorf("%d of %d are indexed, with more to do: %v", done, total, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { x.Run(ctx) })
	for done, total := 0, 1; done < total; {
		var err error
		done, total, err = x.Indexed(t.Context())
		ok(t, err)
	}
	stop()
	running.Wait()
}

// TestIndex_OfMessagesThatChangeMeanwhile: between reading a block and writing its
// packs, messages are changed and removed.
func TestIndex_OfMessagesThatChangeMeanwhile(t *testing.T) {
	x, s := newIndex(t, testBlock)
	id, found, err := x.claim(t.Context())
	ok(t, err)
	var b block
	ok(t, s.View(t.Context(), func(c *sqlite.Conn) { b = x.planBlock(c, id) }))
	if !found || len(b.packs) < 4 {
		t.Fatalf("claimed %v, plan: %+v", found, b)
	}
	var made []builtPack
	ok(t, s.View(t.Context(), func(c *sqlite.Conn) { made = readPacks(c, b.packs) }))
	ok(t, x.writePacks(t.Context(), &b, b.packs[:2], made[:2], false))
	say(t, x, s, 3, "after its pack was written")
	say(t, x, s, 20, "before its pack is written")
	say(t, x, s, 21, "")
	ok(t, x.writePacks(t.Context(), &b, b.packs[2:], made[2:], true))
	for _, when := range []string{"at once", "later"} {
		for text, want := range map[string]int{"number 3.": 0, "number 20.": 0, "number 21.": 0, "its pack": 2, "number 22.": 1, "number": testBlock - 3} {
			if got := find(t, x, s, text); got != want {
				t.Errorf("%s, %q is found %d times, want %d", when, text, got, want)
			}
		}
		settle(t, x)
	}
	if n := countOf(t, s, "SELECT count(*) FROM packs WHERE texts IS NULL OR texts LIKE '%number 3.%'"); n != 0 {
		t.Errorf("%d packs are stale, or have what was changed", n)
	}
}

// TestIndex_ThatWasInterruptedBeginsTheBlockAgain, in the same process and in the
// next one.
func TestIndex_ThatWasInterruptedBeginsTheBlockAgain(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			x, s := newIndex(t, 2*testBlock)
			s.failAt = 4 // after the claim, the first packs and their merging
			if _, err := x.indexNext(t.Context()); err == nil {
				t.Fatal("indexed in spite of the drill")
			}
			if countOf(t, s, "SELECT count(*) FROM packs") == 0 {
				t.Fatal("the test interrupts nothing")
			}
			if restart {
				x = New(s, Options{BlockBits: testBlockBits, PackSize: testPackSize})
				ok(t, x.Prepare(t.Context()))
				if n := countOf(t, s, "SELECT count(*) FROM packs"); n != 0 {
					t.Errorf("%d packs are left at the start", n)
				}
			}
			say(t, x, s, 1, "")
			for range 2 {
				if got := find(t, x, s, "number"); got != 2*testBlock-1 {
					t.Errorf("%d found, want %d", got, 2*testBlock-1)
				}
				settle(t, x)
			}
			if n := countOf(t, s, "SELECT count(*) FROM packs WHERE texts LIKE '%number 1.%'"); n != 0 {
				t.Errorf("%d packs have what was changed", n)
			}
		})
	}
}

// TestIndex_FindsChangedTextsNoMore also in the table of grams.
func TestIndex_FindsChangedTextsNoMore(t *testing.T) {
	x, s := newIndex(t, 2*testBlock)
	settle(t, x)
	say(t, x, s, 15, "")
	settle(t, x)
	var packs int
	ok(t, s.View(t.Context(), func(c *sqlite.Conn) {
		c.Find("SELECT count(*) FROM grams WHERE grams MATCH ?", []any{gramQuery("15.", false, nil, nil, 0)}, &packs)
	}))
	if packs != 0 {
		t.Errorf("%d packs contain the text", packs)
	}
}

// TestIndex_MergesItsSegments while it grows: every search looks into all of them.
func TestIndex_MergesItsSegments(t *testing.T) {
	x, s := newIndex(t, 10*testBlock)
	settle(t, x)
	if n := countOf(t, s, "SELECT count(DISTINCT segid) FROM grams_idx"); n > 6 {
		t.Errorf("the index is in %d segments", n)
	}
}

// TestSample_CountsWhatIsCommon in the packs.
func TestSample_CountsWhatIsCommon(t *testing.T) {
	x, _ := newIndex(t, 8*testBlock)
	settle(t, x)
	ok(t, x.sample(t.Context()))
	rare := x.rarity.Load()
	if common, other := rare.frequency([]byte("numb"), false), rare.frequency([]byte("qqqq"), false); common < 0.99 || other > 0.05 {
		t.Errorf("shares: %v and %v", common, other)
	}
}

// TestSample_TakesLittleMemory: hundreds of packs are counted at every start.
func TestSample_TakesLittleMemory(t *testing.T) {
	texts := bytes.Repeat([]byte("some words of a message "), 500)
	rare, s := new(rarity), new(sampling)
	if allocations := testing.AllocsPerRun(10, func() { rare.add(texts, nil, s) }); allocations > 0 {
		t.Errorf("%v allocations a pack", allocations)
	}
}

// plan returns SQLite's plan for a query, one step a line.
func plan(t *testing.T, s *tables, query string, args []any) string {
	t.Helper()
	var steps []string
	ok(t, s.View(t.Context(), func(c *sqlite.Conn) {
		for row := range c.Rows("EXPLAIN QUERY PLAN "+query, args...) {
			var id, parent, unused int
			var detail string
			row.Scan(&id, &parent, &unused, &detail)
			steps = append(steps, detail)
		}
	}))
	return strings.Join(steps, "\n")
}

func TestPlans_OfSearchesLookMessagesUp(t *testing.T) {
	x, s := newIndex(t, 1)
	moment := int64(1)
	for bits := range 1 << 6 {
		q := &Query{Needle: "text", Limit: 10, Desc: bits&1 == 1}
		for i, set := range []func(){
			func() { q.Since = &moment }, func() { q.Until = &moment }, func() { q.After = &Position{1, 1} },
			func() { q.Chat = 1 }, func() { q.Sender = 1 },
		} {
			if bits>>(i+1)&1 == 1 {
				set()
			}
		}
		if q.Chat == 0 {
			q.Sender, q.Kind = 0, bridge.ChatsGroup
		}
		query, args := x.lookUpQuery(q, 0, 100)
		p := plan(t, s, query, args)
		// The full-text table is the only one that is walked.
		steps := strings.Split(p, "\n")
		if !strings.HasPrefix(steps[0], "SCAN g VIRTUAL TABLE") || strings.Contains(p, "TEMP B-TREE") || strings.Count(p, "SCAN ") != 1 {
			t.Errorf("%06b is planned as\n%s", bits, p)
		}
		for many, index := range map[bool]string{false: "INTEGER PRIMARY KEY (rowid>?)", true: "INDEX messages_by_"} {
			query, args := q.scanQuery(s.conn, 1<<20, many && q.Chat != 0)
			if q.Chat == 0 {
				index = "INTEGER PRIMARY KEY (rowid>?)"
			}
			if p := plan(t, s, query, args); !strings.Contains(p, "SEARCH m USING "+index) || strings.Contains(p, "TEMP B-TREE") {
				t.Errorf("the tail of %06b is planned as\n%s", bits, p)
			}
		}
	}
}

func TestPlans_OfLookUpsAreCheap(t *testing.T) {
	_, s := newIndex(t, 1)
	for query, args := range map[string][]any{
		firstSinceQuery:   {1},
		lastUntilQuery:    {1},
		indexedQuery:      nil,
		staleQuery:        {1 << 40, noLimit},
		packsOfBlockQuery: {1, 2},
		newerQuery:        {1, 1},
		olderQuery:        {1, 1},
		packToSample:      {1, math.MaxInt32},
	} {
		if p := plan(t, s, query, args); strings.Contains(p, "TEMP B-TREE") || strings.Contains(p, "SCAN blocks\n") || strings.HasPrefix(p, "SCAN packs") {
			t.Errorf("%s\nis planned as\n%s", query, p)
		}
	}
}
