package mcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
)

// limits bounds the sends of each share.
type limits struct {
	perMinute int

	mu sync.Mutex
	of map[string]*rate.Limiter // by share; guarded by mu
}

// take counts a send, and refuses one too many.
func (l *limits) take(share string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = make(map[string]*rate.Limiter)
	}
	limiter := l.of[share]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.perMinute)), l.perMinute)
		l.of[share] = limiter
	}
	if !limiter.Allow() {
		return bridge.Fail(bridge.CodeRateLimited, "%d sends a minute is the limit of this door; wait a little", l.perMinute)
	}
	return nil
}

// identify returns a name for a token that does not tell it.
func identify(secret string) string {
	hash := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(hash[:])
}

// newKey returns a key that lasts as long as the process.
func newKey() []byte {
	key := make([]byte, sha256.Size)
	rand.Read(key)
	return key
}

// sign binds a confirmation to what was shown.
func (s *Server) sign(token, what string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(token + "\n" + what))
	return hex.EncodeToString(mac.Sum(nil))
}
