package mcp

import (
	"math"
	"slices"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// sendRate limits how many messages of one token tree leave in any minute.
type sendRate struct {
	perMinute int
	now       func() time.Time

	mu      sync.Mutex
	sending int         // sends in progress
	left    []time.Time // when the messages of the last minute left, the oldest first
	keys    []string    // of the latest messages that left; repeating them is not counted
}

// maxKeys limits the keys whose repetition is recognised.
const maxKeys = 1000

// full returns an error if one more send would be too many. The caller holds mu.
func (r *sendRate) full() error {
	now := r.now()
	for len(r.left) > 0 && now.Sub(r.left[0]) >= time.Minute {
		r.left = r.left[1:]
	}
	if r.sending+len(r.left) < r.perMinute {
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

// refuse returns an error if the send with this key may not leave now.
func (r *sendRate) refuse(key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.keys, key) {
		return nil
	}
	return r.full()
}

// start counts a send, or returns an error if it would be one too many. The caller calls done with
// whether a message may have left. A message that was refused, or sent by an earlier call, is not
// counted.
func (r *sendRate) start(key string) (done func(left bool), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.keys, key) {
		return func(bool) {}, nil
	}
	if err := r.full(); err != nil {
		return nil, err
	}
	r.sending++
	return func(left bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.sending--; left {
			r.left = append(r.left, r.now())
			r.keys = append(r.keys[max(0, len(r.keys)+1-maxKeys):], key)
		}
	}, nil
}

// rateOf returns the rate of a token tree.
func (s *Server) rateOf(tree int64) *sendRate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rates[tree] == nil {
		s.rates[tree] = &sendRate{perMinute: s.options.SendsPerMinute, now: time.Now}
	}
	return s.rates[tree]
}
