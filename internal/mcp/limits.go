package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// identify returns a name for a token that does not disclose it.
func identify(secret string) string {
	hash := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(hash[:])
}

// sign binds a confirmation to what was shown.
func (s *Server) sign(token, what string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(token + "\n" + what))
	return hex.EncodeToString(mac.Sum(nil))
}

// maxSessions bounds the sessions of one token with those that it made.
const maxSessions = 16

// sessions holds the sessions that were begun, by the share that they take.
type sessions struct {
	mu sync.Mutex
	of map[string][]*sdk.ServerSession // the oldest first; guarded by mu
}

// enter notes a session, and returns the one that has to make room for it.
func (s *sessions) enter(token string, session *sdk.ServerSession) (old *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := append(s.of[token], session)
	if len(list) > maxSessions {
		old, list = list[0], list[1:]
	}
	s.of[token] = list
	return old
}

// leave forgets a session.
func (s *sessions) leave(token string, session *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(s.of[token], func(one *sdk.ServerSession) bool { return one == session })
	if len(list) == 0 {
		delete(s.of, token)
		return
	}
	s.of[token] = list
}

// bounded ends the oldest session of a token that begins one too many.
func (s *Server) bounded(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		session, ours := req.GetSession().(*sdk.ServerSession)
		c := callerOf(req.GetExtra())
		if method != "initialize" || err != nil || !ours || c == nil {
			return result, err
		}
		if old := s.sessions.enter(c.share, session); old != nil {
			go func() { _ = old.Close() }() // it waits for what is under way
		}
		go func() {
			_ = session.Wait() // however it ended
			s.sessions.leave(c.share, session)
		}()
		return result, nil
	}
}
