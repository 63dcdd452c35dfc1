package sending

import (
	"context"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

const (
	profileLife = 24 * time.Hour // accounts are banned for many queries about people
	maxProfiles = 1000
)

// profiles remembers the network's answers about profiles for a day.
type profiles struct {
	mu    sync.Mutex
	known map[bridge.JID]bridge.Profile // by canonical JID
}

// find returns a profile that is not too old.
func (p *profiles) find(person bridge.JID, now time.Time) (profile bridge.Profile, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	profile, found = p.known[person]
	return profile, found && now.Sub(profile.AskedAt.Time) < profileLife
}

// put remembers a profile, and forgets the oldest one if there are too many.
func (p *profiles) put(profile bridge.Profile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = make(map[bridge.JID]bridge.Profile)
	}
	p.known[profile.JID] = profile
	if len(p.known) <= maxProfiles {
		return
	}
	oldest := profile
	for _, other := range p.known {
		if other.AskedAt.Before(oldest.AskedAt.Time) {
			oldest = other
		}
	}
	delete(p.known, oldest.JID)
}

// ForgetProfile forgets what the network has answered about a person.
func (s *Sender) ForgetProfile(person bridge.JID) {
	s.profiles.mu.Lock()
	defer s.profiles.mu.Unlock()
	delete(s.profiles.known, s.o.Store.Canonical(person))
}

// Profile returns what a person shows about themselves, without their LID. It asks the network at most once a day,
// and counts as the look-up of a number. Concurrent callers share one query.
func (s *Sender) Profile(ctx context.Context, person bridge.JID) (bridge.Profile, error) {
	person = s.o.Store.Canonical(person)
	if profile, found := s.profiles.find(person, s.o.Clock.Now()); found {
		return profile, nil
	}
	c, err := s.o.Connection()
	if err != nil {
		return bridge.Profile{}, err
	}
	tree := bridge.TreeOf(ctx)
	answered := s.asking.DoChan("profile of "+string(person), func() (any, error) {
		ctx, cancel := context.WithTimeout(bridge.WithTree(c.ctx, tree), s.Waits.Budget)
		defer cancel()
		return c.profile(ctx, person)
	})
	select {
	case answer := <-answered:
		profile, _ := answer.Val.(bridge.Profile)
		return profile, answer.Err
	case <-ctx.Done():
		return bridge.Profile{}, ctx.Err()
	}
}

// profile asks the network for a profile, and stores the name of a business.
func (c *Client) profile(ctx context.Context, person bridge.JID) (bridge.Profile, error) {
	if err := c.s.o.Store.ReserveLookUps(ctx, 1, 1); err != nil {
		return bridge.Profile{}, err
	}
	profile, err := c.Profile(ctx, convert.WireJID(person))
	if err != nil {
		return bridge.Profile{}, c.s.RefusalOf(err, person)
	}
	profile.JID, profile.AskedAt = person, bridge.At(c.s.o.Clock.Now())
	if profile.Business != nil && profile.Business.Name != "" {
		if err := c.s.save(bridge.Contact{JID: person, BusinessName: &profile.Business.Name}); err != nil {
			return bridge.Profile{}, err
		}
	}
	c.s.profiles.put(profile)
	return profile, nil
}
