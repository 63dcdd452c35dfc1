package sending

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"
	"golang.org/x/sync/singleflight"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

const (
	// numberLife is how long an answer is kept: accounts are banned for many look-ups.
	numberLife = 24 * time.Hour
	maxNumbers = 10_000
)

// numbers keeps the network's answers about numbers without a known LID for a day.
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

// put keeps an answer, in place of those that are too old, or else of any.
func (n *numbers) put(number string, jid types.JID, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[string]numberAnswer{}
	}
	if _, known := n.answers[number]; !known && len(n.answers) >= maxNumbers {
		maps.DeleteFunc(n.answers, func(_ string, a numberAnswer) bool { return now.Sub(a.at) >= numberLife })
		for other := range n.answers {
			if len(n.answers) < maxNumbers {
				break
			}
			delete(n.answers, other)
		}
	}
	n.answers[number] = numberAnswer{jid, now}
}

// lookUp returns the JID of a number, empty if it is not on the network. Callers share one
// query.
func (c *Client) lookUp(ctx context.Context, number string) (types.JID, error) {
	if jid, known := c.s.numbers.get(number, time.Now()); known {
		return jid, nil
	}
	answered := c.s.numbers.asking.DoChan(number, func() (any, error) {
		ctx, cancel := context.WithTimeout(c.ctx, c.s.Waits.Budget)
		defer cancel()
		jid, err := c.findNumber(ctx, number)
		if err == nil {
			c.s.numbers.put(number, jid, time.Now())
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

// findNumber asks for a number as dialled, and only then for its other spellings, which
// might be another person's in a numbering plan of tomorrow.
func (c *Client) findNumber(ctx context.Context, number string) (types.JID, error) {
	for _, spellings := range [][]string{{number}, bridge.PhoneAliases(number)} {
		if len(spellings) == 0 {
			break
		}
		found, err := c.queryNumbers(ctx, spellings)
		if err != nil {
			return types.EmptyJID, err
		}
		for _, spelling := range spellings {
			if answer := found[spelling]; answer.IsIn {
				return jidOfNumber(answer), nil
			}
		}
	}
	return types.EmptyJID, nil
}

// numbersAtOnce is how many numbers one query asks for.
const numbersAtOnce = 50

// LookUpAll asks for unknown numbers, many with one query and within the limit.
func (c *Client) LookUpAll(ctx context.Context, people []bridge.JID) error {
	var unknown []string
	for _, person := range people {
		person = c.s.o.Store.Canonical(person)
		if person.Server() != bridge.ServerUser {
			continue
		}
		lid, err := c.LIDOf(ctx, convert.WireJID(person))
		if err != nil {
			return err
		}
		if _, known := c.s.numbers.get(person.User(), time.Now()); lid.IsEmpty() && !known {
			unknown = append(unknown, person.User())
		}
	}
	for some := range slices.Chunk(unknown, numbersAtOnce) {
		checks, err := c.s.CheckNumbers(ctx, some)
		if err != nil {
			return err
		}
		for _, check := range checks {
			known := types.EmptyJID
			if check.JID != "" {
				known = convert.WireJID(check.JID)
			}
			c.s.numbers.put(check.Phone, known, time.Now())
		}
	}
	return nil
}

// CheckNumbers returns whether the network knows some numbers, in E.164 digits and in
// their order. Answers of the last day are not asked for again; new look-ups are limited.
func (s *Sender) CheckNumbers(ctx context.Context, phones []string) ([]bridge.NumberCheck, error) {
	known, err := s.o.Store.NumberChecks(ctx, phones)
	if err != nil {
		return nil, err
	}
	if len(unknownOf(phones, known)) > 0 {
		if known, err = s.checkUnknown(ctx, phones); err != nil {
			return nil, err
		}
	}
	checks := make([]bridge.NumberCheck, len(phones))
	for i, phone := range phones {
		checks[i] = known[phone]
	}
	return checks, nil
}

// unknownOf returns the numbers that nothing is known of, each once.
func unknownOf(phones []string, known map[string]bridge.NumberCheck) (unknown []string) {
	for _, phone := range phones {
		if _, ok := known[phone]; !ok && !slices.Contains(unknown, phone) {
			unknown = append(unknown, phone)
		}
	}
	return unknown
}

// checkUnknown asks about unknown numbers, one request at a time, so that none is asked
// about twice.
func (s *Sender) checkUnknown(ctx context.Context, phones []string) (map[string]bridge.NumberCheck, error) {
	if err := s.checking.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.checking.Release(1)
	known, err := s.o.Store.NumberChecks(ctx, phones)
	if err != nil {
		return nil, err
	}
	unknown := unknownOf(phones, known)
	if len(unknown) == 0 {
		return known, nil
	}
	c, err := s.o.Connection()
	if err != nil {
		return nil, err
	}
	if err := s.o.Store.ReserveLookUps(ctx, len(unknown), len(unknown)+len(aliasesOf(unknown))); err != nil {
		return nil, err
	}
	// The answers are kept although the caller may be gone.
	asking, cancel := context.WithTimeout(c.ctx, s.Waits.Budget)
	defer cancel()
	checks, err := c.checkNumbers(asking, unknown)
	if err != nil {
		return nil, s.RefusalOf(err, "")
	}
	for _, check := range checks {
		check.JID = s.o.Store.Canonical(check.JID)
		known[check.Phone] = check
	}
	return known, nil
}

// checkNumbers asks about numbers, then about other spellings of those that were not
// found, and keeps the answers.
func (c *Client) checkNumbers(ctx context.Context, numbers []string) ([]bridge.NumberCheck, error) {
	found, err := c.queryNumbers(ctx, numbers)
	if err != nil {
		return nil, err
	}
	aliases := aliasesOf(slices.DeleteFunc(slices.Clone(numbers), func(number string) bool { return found[number].IsIn }))
	if len(aliases) > 0 {
		if err := c.s.o.Store.ReserveLookUps(ctx, len(aliases), len(aliases)); err != nil {
			return nil, err
		}
		others, err := c.queryNumbers(ctx, aliases)
		if err != nil {
			return nil, err
		}
		for _, number := range numbers {
			for _, alias := range bridge.PhoneAliases(number) {
				if !found[number].IsIn && others[alias].IsIn {
					found[number] = others[alias]
				}
			}
		}
	}
	return c.keepChecks(ctx, numbers, found)
}

// aliasesOf returns the other spellings of numbers.
func aliasesOf(numbers []string) (aliases []string) {
	for _, number := range numbers {
		aliases = append(aliases, bridge.PhoneAliases(number)...)
	}
	return aliases
}

// keepChecks saves the network's answers about numbers and their people.
func (c *Client) keepChecks(ctx context.Context, numbers []string, found map[string]types.IsOnWhatsAppResponse) ([]bridge.NumberCheck, error) {
	checks := make([]bridge.NumberCheck, len(numbers))
	facts := c.link.TakeUsernames()
	for i, number := range numbers {
		checks[i] = bridge.NumberCheck{Phone: number}
		if answer, ok := found[number]; ok && answer.IsIn {
			jid := jidOfNumber(answer)
			checks[i].JID, checks[i].IsBusiness = convert.JID(jid), answer.VerifiedName != nil
			facts = append(facts, factsOfNumber(answer)...)
		}
		facts = append(facts, checks[i])
	}
	if err := c.s.o.Store.Save(ctx, facts...); err != nil {
		return nil, err
	}
	for i, number := range numbers {
		jid := types.EmptyJID
		if checks[i].JID != "" {
			jid = convert.WireJID(checks[i].JID)
		}
		c.s.numbers.put(number, jid, time.Now())
	}
	return checks, nil
}

func factsOfNumber(answer types.IsOnWhatsAppResponse) (facts []bridge.Fact) {
	if identity, ok := convert.Identity(answer.JID, answer.PhoneNumber); ok {
		facts = append(facts, identity)
	}
	if verified := answer.VerifiedName; verified != nil && verified.Details.GetVerifiedName() != "" {
		name := verified.Details.GetVerifiedName()
		facts = append(facts, bridge.Contact{JID: convert.JID(jidOfNumber(answer)), BusinessName: &name})
	}
	return facts
}

// jidOfNumber returns the JID of a number's chat; in some countries its number differs
// from the dialled one.
func jidOfNumber(answer types.IsOnWhatsAppResponse) types.JID {
	if answer.PhoneNumber.Server == types.DefaultUserServer {
		return answer.PhoneNumber.ToNonAD()
	}
	return answer.JID.ToNonAD()
}

// queryNumbers asks the network about numbers, and returns its answers by number.
func (c *Client) queryNumbers(ctx context.Context, numbers []string) (map[string]types.IsOnWhatsAppResponse, error) {
	asked := make([]string, len(numbers))
	for i, number := range numbers {
		asked[i] = "+" + number
	}
	answers, err := c.IsOnWhatsApp(ctx, asked)
	if err != nil {
		return nil, fmt.Errorf("look numbers up: %w", err)
	}
	found := make(map[string]types.IsOnWhatsAppResponse, len(answers))
	for _, answer := range answers {
		if number, err := bridge.ParsePhone(answer.Query); err == nil {
			found[number] = answer
		}
	}
	return found, nil
}
