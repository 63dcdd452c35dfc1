package wa

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"
	"golang.org/x/sync/singleflight"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

const (
	// numberLife is how long the network's answer about a number is kept. Asking about
	// many numbers is what accounts are banned for.
	numberLife = 24 * time.Hour
	maxNumbers = 10_000
)

// numbers keeps what the network has said about numbers, so that it is asked about each
// once a day. Those of people with a LID need it no more: the session keeps them.
type numbers struct {
	asking  singleflight.Group
	mu      sync.Mutex
	answers map[string]numberAnswer // guarded by mu
}

// numberAnswer is one answer of the network.
type numberAnswer struct {
	jid types.JID // empty where nobody on the network has the number
	at  time.Time
}

// get returns the answer about a number, if it is not too old.
func (n *numbers) get(number string, now time.Time) (jid types.JID, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answer, known := n.answers[number]
	if !known || now.Sub(answer.at) >= numberLife {
		return types.EmptyJID, false
	}
	return answer.jid, true
}

// put keeps an answer. It makes room by forgetting those that are too old, or else any.
func (n *numbers) put(number string, jid types.JID, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[string]numberAnswer{}
	}
	if _, known := n.answers[number]; !known && len(n.answers) >= maxNumbers {
		n.makeRoom(now)
	}
	n.answers[number] = numberAnswer{jid, now}
}

// makeRoom forgets answers. The caller holds mu.
func (n *numbers) makeRoom(now time.Time) {
	for number, answer := range n.answers {
		if now.Sub(answer.at) >= numberLife {
			delete(n.answers, number)
		}
	}
	for number := range n.answers {
		if len(n.answers) < maxNumbers {
			break
		}
		delete(n.answers, number)
	}
}

// lookUp returns the JID of whoever has a number, empty if nobody on the network has.
// However many wait for the answer, it is asked for once.
func (l *link) lookUp(ctx context.Context, number string) (types.JID, error) {
	if jid, known := l.m.numbers.get(number, time.Now()); known {
		return jid, nil
	}
	answered := l.m.numbers.asking.DoChan(number, func() (any, error) {
		ctx, cancel := context.WithTimeout(l.ctx, l.m.waits.budget)
		defer cancel()
		jid, err := l.findNumber(ctx, number)
		if err == nil {
			l.m.numbers.put(number, jid, time.Now())
		}
		return jid, err
	})
	select {
	case answer := <-answered:
		jid, _ := answer.Val.(types.JID)
		return jid, answer.Err
	case <-ctx.Done():
		return types.EmptyJID, ctx.Err()
	}
}

// findNumber asks the network for a number as it is dialled, and only if nobody has it
// for its other spellings: they might be another's in a numbering plan of tomorrow.
func (l *link) findNumber(ctx context.Context, number string) (types.JID, error) {
	jid, err := l.askNumbers(ctx, number)
	if aliases := bridge.PhoneAliases(number); err == nil && jid.IsEmpty() && len(aliases) > 0 {
		return l.askNumbers(ctx, aliases...)
	}
	return jid, err
}

// askNumbers returns the JID of the first who has one of the numbers.
func (l *link) askNumbers(ctx context.Context, numbers ...string) (types.JID, error) {
	found, err := l.queryNumbers(ctx, numbers)
	if err != nil {
		return types.EmptyJID, err
	}
	for _, number := range numbers {
		if answer, ok := found[number]; ok && answer.IsIn {
			return jidOfNumber(answer), nil
		}
	}
	return types.EmptyJID, nil
}

// numbersAtOnce is how many numbers one query asks for.
const numbersAtOnce = 50

// lookUpAll asks for the numbers that are not known yet, many with one query and
// within the limit of such look-ups.
func (l *link) lookUpAll(ctx context.Context, people []bridge.JID) error {
	var unknown []string
	for _, person := range people {
		person = l.m.store.Canonical(person)
		if person.Server() != bridge.ServerUser {
			continue
		}
		lid, err := l.cli.LIDOf(ctx, convert.WireJID(person))
		if err != nil {
			return err
		}
		if _, known := l.m.numbers.get(person.User(), time.Now()); lid.IsEmpty() && !known {
			unknown = append(unknown, person.User())
		}
	}
	for some := range slices.Chunk(unknown, numbersAtOnce) {
		checks, err := l.m.CheckNumbers(ctx, some)
		if err != nil {
			return err
		}
		for _, check := range checks {
			known := types.EmptyJID
			if check.JID != "" {
				known = convert.WireJID(check.JID)
			}
			l.m.numbers.put(check.Phone, known, time.Now())
		}
	}
	return nil
}
