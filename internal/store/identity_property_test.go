package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/longtest"
)

// crowd makes up facts about a few people who appear under either identity.
type crowd struct {
	r    *rand.Rand
	said []bridge.Message
	n    int
}

const crowdSize = 4

func crowdPN(i int) bridge.JID  { return bridge.PhoneJID(fmt.Sprintf("49170000%04d", i)) }
func crowdLID(i int) bridge.JID { return bridge.JID(fmt.Sprintf("1000000000%04d@lid", i)) }

// either is one of the two names of somebody.
func (c *crowd) either() bridge.JID {
	i := c.r.IntN(crowdSize)
	if c.r.IntN(2) == 0 {
		return crowdPN(i)
	}
	return crowdLID(i)
}

func (c *crowd) fact() bridge.Fact {
	c.n++
	switch roll := c.r.IntN(27); {
	case roll < 9 || len(c.said) == 0:
		return c.message()
	case roll < 10: // the network tells again what it has told
		return c.said[c.r.IntN(len(c.said))]
	case roll < 13:
		m := c.pick()
		return bridge.ReactionChange{Chat: m.Chat, Target: m.ID, Sender: c.either(), Emoji: []string{"👍", "🎉", ""}[c.r.IntN(3)], Timestamp: at(c.n)}
	case roll < 15:
		m := c.pick()
		return bridge.Edit{
			Chat: m.Chat, Target: m.ID, Editor: m.SenderJID, Timestamp: at(c.n),
			New: bridge.Message{MessageType: "conversation", Content: fmt.Sprintf("edit %d", c.n)},
		}
	case roll < 16:
		m := c.pick()
		return bridge.Deletion{Chat: m.Chat, Target: m.ID, By: m.SenderJID, Timestamp: at(c.n)}
	case roll < 18:
		m := c.pick()
		return bridge.PollVote{Chat: m.Chat, Target: m.ID, Voter: c.either(), Hashes: [][]byte{sha([]string{"yes", "no"}[c.r.IntN(2)])}, Timestamp: at(c.n)}
	case roll < 20:
		m := c.pick()
		return bridge.EventResponse{Chat: m.Chat, Target: m.ID, Sender: c.either(), Answer: bridge.EventAnswer(c.r.IntN(4)), Guests: c.r.IntN(3), Timestamp: at(c.n)}
	case roll < 21:
		m := c.pick()
		return bridge.PollOptionAdded{Chat: m.Chat, Target: m.ID, By: c.either(), Name: fmt.Sprintf("option %d", c.r.IntN(5)), Timestamp: at(c.n)}
	case roll < 23:
		m := c.pick()
		return bridge.Pin{Chat: m.Chat, Target: m.ID, By: c.either(), Until: inHours(24 * c.r.IntN(3)), Timestamp: at(c.n)}
	case roll < 24:
		m := c.pick()
		return bridge.Keep{Chat: m.Chat, Target: m.ID, By: m.SenderJID, Kept: c.r.IntN(2) == 0, Timestamp: at(c.n)}
	case roll < 25:
		m := c.pick()
		return bridge.Star{Chat: m.Chat, Target: m.ID, By: me, Starred: c.r.IntN(2) == 0, Timestamp: at(c.n)}
	case roll < 26:
		return bridge.GroupChange{JID: club, Joined: []bridge.Participant{{JID: c.either()}}, Promoted: []bridge.JID{c.either()}, Timestamp: at(c.n)}
	}
	m := c.pick()
	return bridge.Receipt{Chat: m.Chat, IDs: []string{m.ID}, From: c.either(), Status: bridge.DeliveryRead}
}

func (c *crowd) pick() bridge.Message { return c.said[c.r.IntN(len(c.said))] }

func (c *crowd) message() bridge.Message {
	m := bridge.Message{ID: fmt.Sprintf("M%d", c.n), Timestamp: at(c.r.IntN(2 * c.n)), MessageType: "conversation", Content: fmt.Sprintf("text %d", c.n), Raw: []byte("raw")}
	m.Chat = c.either()
	m.SenderJID = m.Chat
	if c.r.IntN(2) == 0 {
		m.Chat, m.SenderJID = club, c.either()
	}
	switch c.r.IntN(7) {
	case 3:
		m.Event = &bridge.CalendarEvent{Name: "Party"}
	case 4:
		m.Album = &bridge.Album{Images: 3}
	case 5:
		if len(c.said) > 0 {
			m.AlbumID = ptr(c.pick().ID)
		}
	case 0:
		m.FromMe, m.SenderJID = true, me
	case 1:
		m.Poll = &bridge.PollTally{Name: "?", Options: []bridge.PollOption{{Name: "yes"}, {Name: "no"}}, Extensible: true}
	case 2:
		m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: ptr("Q"), QuotedSenderJID: c.either(), MentionedJID: []bridge.JID{c.either()}}
	}
	c.said = append(c.said, m)
	return m
}

// dump is all that can be read of a store.
func dump(t *testing.T, s *Store) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, c := range chats(t, s, bridge.ChatQuery{Limit: 500}) {
		all[string(c.JID)] = c
		all[string(c.JID)+" messages"] = historyOf(t, s, c.JID)
	}
	g := group(t, s, club)
	g.UpdatedAt = nil
	all["group"] = g
	all["search"] = matchesOf(t, s, bridge.SearchQuery{Q: "t", Limit: 500})
	for i := range crowdSize {
		all["search "+string(crowdPN(i))] = messages(t, s, bridge.MessageQuery{Chat: club, Sender: crowdPN(i), Limit: 1000})
	}
	return all
}

// TestIdentity_LearnedLateChangesNothing saves the same facts in two stores, of
// which one learns of the identities only in their midst.
func TestIdentity_LearnedLateChangesNothing(t *testing.T) {
	t.Parallel()
	for seed := range longtest.Else[uint64](2, 4) {
		c := &crowd{r: rand.New(rand.NewPCG(seed, 9))}
		early, late := newStore(t), newStore(t)
		begin := []bridge.Fact{owner(), bridge.Group{JID: club, Name: "Club"}}
		save(t, early, begin...)
		save(t, late, begin...)
		for i := range crowdSize {
			save(t, early, bridge.Identity{PN: crowdPN(i), LID: crowdLID(i)})
		}
		learned := c.r.Perm(crowdSize)
		for range 120 {
			f := c.fact()
			save(t, early, f)
			save(t, late, f)
			if len(learned) > 0 && c.r.IntN(40) == 0 {
				save(t, late, bridge.Identity{PN: crowdPN(learned[0]), LID: crowdLID(learned[0])})
				learned = learned[1:]
			}
		}
		for _, i := range learned {
			save(t, late, bridge.Identity{PN: crowdPN(i), LID: crowdLID(i)})
		}
		checkCounts(t, early)
		checkCounts(t, late)
		if diff := cmp.Diff(pretty(t, dump(t, early)), pretty(t, dump(t, late))); diff != "" {
			t.Fatalf("seed %d (-early +late):\n%s", seed, diff)
		}
	}
}

func pretty(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestIdentity_SurvivesMappingsThatContradictEachOther learns arbitrary pairs.
func TestIdentity_SurvivesMappingsThatContradictEachOther(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		c := &crowd{r: rand.New(rand.NewPCG(seed, 10))}
		path := t.TempDir() + "/bridged.db"
		s := openStore(t, path)
		save(t, s, owner(), bridge.Group{JID: club, Name: "Club"})
		for range 100 {
			save(t, s, c.fact())
			if c.r.IntN(5) == 0 {
				save(t, s, bridge.Identity{PN: crowdPN(c.r.IntN(crowdSize)), LID: crowdLID(c.r.IntN(crowdSize))})
			}
		}
		checkCounts(t, s)
		for i := range crowdSize {
			for _, jid := range []bridge.JID{crowdPN(i), crowdLID(i)} {
				if got := s.Canonical(s.Canonical(jid)); got != s.Canonical(jid) {
					t.Errorf("seed %d: %s means %s, which means %s", seed, jid, s.Canonical(jid), got)
				}
			}
			if got := s.Canonical(crowdPN(i)); got != crowdPN(i) {
				t.Errorf("seed %d: %s means %s", seed, crowdPN(i), got)
			}
		}
		stored := make(map[string]bool)
		for _, chat := range chats(t, s, bridge.ChatQuery{Limit: 500}) {
			for _, m := range historyOf(t, s, chat.JID) {
				stored[m.ID] = true
			}
		}
		if len(stored) != len(c.said) {
			t.Errorf("seed %d: %d messages of %d", seed, len(stored), len(c.said))
		}
		before := pretty(t, dump(t, s))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, pretty(t, dump(t, openStore(t, path)))); diff != "" {
			t.Errorf("seed %d: after reopening (-before +after)\n%s", seed, diff)
		}
	}
}
