package mcp

import (
	"math"
	"slices"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// sendRate counts the sends of one family of tokens: at most so many leave in any minute.
type sendRate struct {
	perMinute int
	now       func() time.Time

	mu    sync.Mutex
	under int         // sends in progress
	left  []time.Time // when the ones of the last minute left, the oldest first
	keys  []string    // of the latest sends that left, which may be repeated at no cost
}

// maxKeys bounds the sends whose repetition is known.
const maxKeys = 1000

// full returns the error of one send too many. The caller holds mu.
func (r *sendRate) full() error {
	now := r.now()
	for len(r.left) > 0 && now.Sub(r.left[0]) >= time.Minute {
		r.left = r.left[1:]
	}
	if r.under+len(r.left) < r.perMinute {
		return nil
	}
	wait := time.Minute // for one that is in progress
	if len(r.left) > 0 {
		wait = r.left[0].Add(time.Minute).Sub(now)
	}
	err := bridge.Fail(bridge.CodeRateLimited, "agents may send %d messages in a minute with this token: try again in %.0f seconds", r.perMinute, math.Ceil(wait.Seconds()))
	err.RetryAfter = wait
	return err
}

// refuse returns the error of one send too many, nil if the one with this key may leave now.
func (r *sendRate) refuse(key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.keys, key) {
		return nil
	}
	return r.full()
}

// take begins a send. done ends it, with whether a message may have left: one that was
// refused, or that an earlier call had sent, is not counted.
func (r *sendRate) take(key string) (done func(left bool), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.keys, key) {
		return func(bool) {}, nil
	}
	if err := r.full(); err != nil {
		return nil, err
	}
	r.under++
	return func(left bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.under--; left {
			r.left = append(r.left, r.now())
			r.keys = append(r.keys[max(0, len(r.keys)+1-maxKeys):], key)
		}
	}, nil
}

// rateOf returns the count of a family's sends.
func (s *Server) rateOf(family int64) *sendRate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rates[family] == nil {
		s.rates[family] = &sendRate{perMinute: s.options.SendsPerMinute, now: time.Now}
	}
	return s.rates[family]
}
