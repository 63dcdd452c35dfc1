package sending

import (
	"context"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// lookUp returns the network's answer about a number, or its answer of the last 24 hours, because
// accounts are banned for many look-ups. Concurrent callers share one query.
func (c *Client) lookUp(ctx context.Context, number string) (bridge.NumberCheck, error) {
	answered := c.s.asking.DoChan(number, func() (any, error) {
		ctx, cancel := context.WithTimeout(c.ctx, c.s.Waits.Budget)
		defer cancel()
		known, err := c.s.o.Store.NumberChecks(ctx, []string{number})
		if check, found := known[number]; found || err != nil {
			return check, err
		}
		checks, err := c.checkNumbers(ctx, []string{number}, false)
		if err != nil {
			return nil, err
		}
		return checks[0], nil
	})
	select {
	case answer := <-answered:
		check, _ := answer.Val.(bridge.NumberCheck)
		return check, answer.Err
	case <-ctx.Done():
		return bridge.NumberCheck{}, ctx.Err()
	}
}

// numbersAtOnce limits the numbers of one query.
const numbersAtOnce = 50

// LookUpAll looks up unknown numbers, many with one query and within the limit.
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
		if lid.IsEmpty() {
			unknown = append(unknown, person.User())
		}
	}
	for some := range slices.Chunk(unknown, numbersAtOnce) {
		if _, err := c.s.CheckNumbers(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// CheckNumbers returns whether numbers are on the network, in their order. Numbers are E.164
// digits. Answers of the last 24 hours are reused, and new look-ups are limited.
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

// unknownOf returns the numbers without an answer, each once.
func unknownOf(phones []string, known map[string]bridge.NumberCheck) (unknown []string) {
	for _, phone := range phones {
		if _, ok := known[phone]; !ok && !slices.Contains(unknown, phone) {
			unknown = append(unknown, phone)
		}
	}
	return unknown
}

// checkUnknown looks up unknown numbers. Requests run one at a time, so that no number is looked
// up twice.
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
	// The answers are stored even if the caller is gone.
	asking, cancel := context.WithTimeout(bridge.WithTree(c.ctx, bridge.TreeOf(ctx)), s.Waits.Budget)
	defer cancel()
	checks, err := c.checkNumbers(asking, unknown, true)
	if err != nil {
		return nil, s.RefusalOf(err, "")
	}
	for _, check := range checks {
		check.JID = s.o.Store.Canonical(check.JID)
		known[check.Phone] = check
	}
	return known, nil
}

// checkNumbers looks up numbers as dialled and stores the answers. It looks up other spellings
// only of numbers that were not found, because with future numbering plans these may belong to
// other people.
func (c *Client) checkNumbers(ctx context.Context, numbers []string, isLimited bool) ([]bridge.NumberCheck, error) {
	found, err := c.queryNumbers(ctx, numbers)
	if err != nil {
		return nil, err
	}
	aliases := aliasesOf(slices.DeleteFunc(slices.Clone(numbers), func(number string) bool { return found[number].IsIn }))
	if len(aliases) > 0 {
		if isLimited {
			if err := c.s.o.Store.ReserveLookUps(ctx, len(aliases), len(aliases)); err != nil {
				return nil, err
			}
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
	return c.saveChecks(ctx, numbers, found)
}

// aliasesOf returns the other spellings of numbers.
func aliasesOf(numbers []string) (aliases []string) {
	for _, number := range numbers {
		aliases = append(aliases, bridge.PhoneAliases(number)...)
	}
	return aliases
}

// saveChecks stores the network's answers about numbers, and the people.
func (c *Client) saveChecks(ctx context.Context, numbers []string, found map[string]types.IsOnWhatsAppResponse) ([]bridge.NumberCheck, error) {
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
	return checks, c.s.o.Store.Save(ctx, facts...)
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

// jidOfNumber returns the JID of a number's chat. In some countries its number differs from the
// dialled one.
func jidOfNumber(answer types.IsOnWhatsAppResponse) types.JID {
	if answer.PhoneNumber.Server == types.DefaultUserServer {
		return answer.PhoneNumber.ToNonAD()
	}
	return answer.JID.ToNonAD()
}

// queryNumbers asks the network about numbers and returns the answers by number.
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
