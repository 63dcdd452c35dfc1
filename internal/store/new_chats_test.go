package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// paced is a store whose clock the test moves.
type paced struct {
	*Store
	t      *testing.T
	path   string
	passed time.Duration
	sent   int
}

func newPaced(t *testing.T) *paced {
	t.Helper()
	p := &paced{t: t, path: filepath.Join(t.TempDir(), "bridged.db")}
	p.open()
	save(t, p.Store, owner())
	return p
}

func (p *paced) open() {
	p.t.Helper()
	run := func() time.Duration { return p.passed }
	p.Store = openWith(p.t, Options{Path: p.path, Clock: bridge.ClockOf(time.Time{}, func() time.Time { return at(0).Add(p.passed) }, run)})
}

// begins tries to send a message to a person and returns how long the account has to
// wait; 0 is not at all. The look beforehand and the counting must agree.
func (p *paced) begins(limit bridge.NewChats, chat bridge.JID) time.Duration {
	p.t.Helper()
	p.sent++
	before := p.MayBegin(p.t.Context(), limit, chat)
	id := fmt.Sprint("OUT", p.sent)
	err := p.Save(p.t.Context(), bridge.NewChat{Chat: chat, Limit: limit}, iSay(chat, id, p.sent, "hello"))
	if sentence(before) != sentence(err) {
		p.t.Errorf("beforehand %v, then %v", before, err)
	}
	if err == nil {
		return 0
	}
	wantCode(p.t, err, bridge.CodeNewChatsLimited)
	if _, err := p.Message(p.t.Context(), chat, id); bridge.CodeOf(err) != bridge.CodeNotFound {
		p.t.Errorf("a refused message is stored: %v", err)
	}
	var refusal *bridge.Error
	if !errors.As(err, &refusal) || refusal.RetryAfter <= 0 {
		p.t.Fatalf("refused without a time: %v", err)
	}
	return refusal.RetryAfter
}

// sentence returns what a caller is told.
func sentence(err error) string {
	var named *bridge.Error
	if errors.As(err, &named) {
		return named.Msg
	}
	return fmt.Sprint(err)
}

func stranger(n int) bridge.JID { return bridge.PhoneJID(fmt.Sprint(15550300000 + n)) }

func TestNewChats_ADay(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	limit := bridge.NewChats{PerDay: 3}
	for i := range 3 {
		if wait := p.begins(limit, stranger(i)); wait != 0 {
			t.Fatalf("chat %d has to wait %v", i, wait)
		}
		p.passed += time.Hour
	}
	if wait := p.begins(limit, stranger(3)); wait != 21*time.Hour {
		t.Errorf("the fourth has to wait %v", wait)
	}
	for range 2 { // what has begun goes on
		if wait := p.begins(limit, stranger(1)); wait != 0 {
			t.Errorf("a second message has to wait %v", wait)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p.open()
	if wait := p.begins(limit, stranger(3)); wait != 21*time.Hour {
		t.Errorf("after a restart it has to wait %v", wait)
	}
	p.passed += 21 * time.Hour
	if wait := p.begins(limit, stranger(3)); wait != 0 {
		t.Errorf("a day after the first it has to wait %v", wait)
	}
	if wait := p.begins(limit, stranger(4)); wait != time.Hour {
		t.Errorf("the next has to wait %v", wait)
	}
	if wait := p.begins(bridge.NewChats{}, stranger(5)); wait != 0 {
		t.Errorf("without a limit: %v", wait)
	}
}

func TestNewChats_Gap(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	limit := bridge.NewChats{PerDay: 10, MinGap: 5 * time.Minute}
	if wait := p.begins(limit, stranger(1)); wait != 0 {
		t.Errorf("the first has to wait %v", wait)
	}
	p.passed += time.Minute
	if wait := p.begins(limit, stranger(2)); wait != 4*time.Minute {
		t.Errorf("the second has to wait %v", wait)
	}
	p.passed += 4 * time.Minute
	if wait := p.begins(limit, stranger(2)); wait != 0 {
		t.Errorf("after the gap it has to wait %v", wait)
	}
}

// TestNewChats_AreThoseWithNothingInThem: whoever wrote first is answered at any time,
// under either name, and for good.
func TestNewChats_AreThoseWithNothingInThem(t *testing.T) {
	t.Parallel()
	limit := bridge.NewChats{PerDay: 1}
	group := bridge.JID("120363000000000001@g.us")
	for name, prepare := range map[string]func(p *paced) bridge.JID{
		"wrote": func(p *paced) bridge.JID {
			save(t, p.Store, says(stranger(1), stranger(1), "IN", 1, "hi"))
			return stranger(1)
		},
		"wrote under the LID": func(p *paced) bridge.JID {
			save(t, p.Store, says(bobLID, bobLID, "IN", 1, "hi"), bridge.Identity{PN: stranger(1), LID: bobLID})
			return stranger(1)
		},
		"was written to before": func(p *paced) bridge.JID {
			save(t, p.Store, iSay(stranger(1), "OLD", 1, "hi"))
			return stranger(1)
		},
		"wrote long ago": func(p *paced) bridge.JID {
			save(t, p.Store, says(stranger(1), stranger(1), "IN", 1, "hi"))
			if n, err := p.Retain(t.Context(), at(100).Time); n == 0 || err != nil {
				t.Fatalf("retained: %d, %v", n, err)
			}
			return stranger(1)
		},
		"merged after it was emptied": func(p *paced) bridge.JID {
			save(t, p.Store, says(bobLID, bobLID, "IN", 1, "hi"))
			if _, err := p.Retain(t.Context(), at(100).Time); err != nil {
				t.Fatal(err)
			}
			save(t, p.Store, bridge.ChatTimer{Chat: stranger(1), Seconds: 60}, bridge.Identity{PN: stranger(1), LID: bobLID})
			return stranger(1)
		},
		"group":   func(*paced) bridge.JID { return group },
		"oneself": func(*paced) bridge.JID { return me },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPaced(t)
			chat := prepare(p)
			if wait := p.begins(limit, stranger(7)); wait != 0 {
				t.Fatalf("the one that is allowed has to wait %v", wait)
			}
			if !chat.IsGroup() {
				if wait := p.begins(limit, chat); wait != 0 {
					t.Errorf("has to wait %v", wait)
				}
			} else if err := p.Save(t.Context(), bridge.NewChat{Chat: chat, Limit: limit}); err != nil {
				t.Error(err)
			}
			if wait := p.begins(limit, stranger(8)); wait == 0 {
				t.Error("a stranger need not wait")
			}
		})
	}
}

// TestNewChats_FailedTriesCountOnce: the network has seen a try, and a repetition is no
// other stranger.
func TestNewChats_FailedTriesCountOnce(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	limit := bridge.NewChats{PerDay: 2}
	for range 3 {
		if wait := p.begins(limit, stranger(1)); wait != 0 {
			t.Fatalf("a repetition has to wait %v", wait)
		}
		save(t, p.Store, bridge.SendResult{Chat: stranger(1), ID: fmt.Sprint("OUT", p.sent), Status: bridge.DeliveryFailed})
	}
	if wait := p.begins(limit, stranger(2)); wait != 0 {
		t.Errorf("the second has to wait %v", wait)
	}
	if wait := p.begins(limit, stranger(3)); wait == 0 {
		t.Error("the failed try does not count")
	}
	p.passed += 25 * time.Hour
	if wait := p.begins(limit, stranger(3)); wait != 0 {
		t.Fatal(wait)
	}
	if wait := p.begins(limit, stranger(4)); wait != 0 {
		t.Fatal(wait)
	}
	if wait := p.begins(limit, stranger(1)); wait == 0 {
		t.Error("a chat in which every try failed is not new")
	}
}

// TestNewChats_OtherSpellings: a chat that is known under another spelling of the number
// is not new.
func TestNewChats_OtherSpellings(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	limit := bridge.NewChats{PerDay: 1}
	known := bridge.PhoneJID("553187654321")
	save(t, p.Store, says(known, known, "IN", 1, "oi"))
	if wait := p.begins(limit, stranger(1)); wait != 0 {
		t.Fatal(wait)
	}
	dialled := bridge.PhoneJID("5531987654321")
	wantCode(t, p.MayBegin(t.Context(), limit, dialled), bridge.CodeNewChatsLimited)
	if err := p.MayBegin(t.Context(), limit, dialled, known); err != nil {
		t.Errorf("under both names: %v", err)
	}
}
