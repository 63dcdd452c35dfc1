package wa

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// CheckNumbers returns whether the network knows some numbers, in E.164 digits and in
// their order. What it said in the last day is not asked for again; new look-ups are
// limited, and one that is refused asks nothing.
func (m *Manager) CheckNumbers(ctx context.Context, phones []string) ([]bridge.NumberCheck, error) {
	known, err := m.store.NumberChecks(ctx, phones)
	if err != nil {
		return nil, err
	}
	if len(unknownOf(phones, known)) > 0 {
		if known, err = m.checkUnknown(ctx, phones); err != nil {
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

// checkUnknown asks the network about the numbers that nothing is known of. One request
// at a time does, so that none is asked about twice.
func (m *Manager) checkUnknown(ctx context.Context, phones []string) (map[string]bridge.NumberCheck, error) {
	select {
	case m.checking <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-m.checking }()
	known, err := m.store.NumberChecks(ctx, phones)
	if err != nil {
		return nil, err
	}
	unknown := unknownOf(phones, known)
	if len(unknown) == 0 {
		return known, nil
	}
	l, err := m.open()
	if err != nil {
		return nil, err
	}
	if err := m.store.ReserveLookUps(ctx, len(unknown), len(unknown)+len(aliasesOf(unknown))); err != nil {
		return nil, err
	}
	// Whoever asked may be gone: the answers are kept all the same.
	asking, cancel := context.WithTimeout(l.ctx, m.waits.budget)
	defer cancel()
	checks, err := l.checkNumbers(asking, unknown)
	if err != nil {
		return nil, m.refusalOf(err, "")
	}
	for _, check := range checks {
		check.JID = m.store.Canonical(check.JID)
		known[check.Phone] = check
	}
	return known, nil
}

// checkNumbers asks about numbers as they are written, and about their other spellings
// where nobody has them; it keeps what the network says.
func (l *link) checkNumbers(ctx context.Context, numbers []string) ([]bridge.NumberCheck, error) {
	found, err := l.queryNumbers(ctx, numbers)
	if err != nil {
		return nil, err
	}
	aliases := aliasesOf(slices.DeleteFunc(slices.Clone(numbers), func(number string) bool { return found[number].IsIn }))
	if len(aliases) > 0 {
		if err := l.m.store.ReserveLookUps(ctx, len(aliases), len(aliases)); err != nil {
			return nil, err
		}
		others, err := l.queryNumbers(ctx, aliases)
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
	return l.keepChecks(ctx, numbers, found)
}

// aliasesOf returns the other spellings of numbers.
func aliasesOf(numbers []string) (aliases []string) {
	for _, number := range numbers {
		aliases = append(aliases, bridge.PhoneAliases(number)...)
	}
	return aliases
}

// keepChecks saves what the network says about numbers and of whom it knows by them.
func (l *link) keepChecks(ctx context.Context, numbers []string, found map[string]types.IsOnWhatsAppResponse) ([]bridge.NumberCheck, error) {
	checks := make([]bridge.NumberCheck, len(numbers))
	facts := l.answered.take()
	for i, number := range numbers {
		checks[i] = bridge.NumberCheck{Phone: number}
		if answer, ok := found[number]; ok && answer.IsIn {
			jid := jidOfNumber(answer)
			checks[i].JID, checks[i].IsBusiness = convert.JID(jid), answer.VerifiedName != nil
			facts = append(facts, factsOfNumber(answer)...)
		}
		facts = append(facts, checks[i])
	}
	if err := l.m.store.Save(ctx, facts...); err != nil {
		return nil, err
	}
	for i, number := range numbers {
		jid := types.EmptyJID
		if checks[i].JID != "" {
			jid = convert.WireJID(checks[i].JID)
		}
		l.m.numbers.put(number, jid, time.Now())
	}
	return checks, nil
}

// factsOfNumber returns what the network tells of whoever has a number.
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

// jidOfNumber returns the JID by which the network knows whoever has a number, and to
// which the chat belongs: in some countries its number differs from the one that people
// dial.
func jidOfNumber(answer types.IsOnWhatsAppResponse) types.JID {
	if answer.PhoneNumber.Server == types.DefaultUserServer {
		return answer.PhoneNumber.ToNonAD()
	}
	return answer.JID.ToNonAD()
}

// queryNumbers asks the network about numbers, and returns its answers by number.
func (l *link) queryNumbers(ctx context.Context, numbers []string) (map[string]types.IsOnWhatsAppResponse, error) {
	asked := make([]string, len(numbers))
	for i, number := range numbers {
		asked[i] = "+" + number
	}
	answers, err := l.cli.IsOnWhatsApp(ctx, asked)
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
