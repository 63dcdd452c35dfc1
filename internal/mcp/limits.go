package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"bridged/internal/bridge"
)

// takeSend counts a send of a share, and refuses one too many.
func (s *Server) takeSend(share string) error {
	perMinute := s.options.SendsPerMinute
	s.mu.Lock()
	defer s.mu.Unlock()
	limiter := s.limiters[share]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)
		s.limiters[share] = limiter
	}
	if !limiter.Allow() {
		return bridge.Fail(bridge.CodeRateLimited, "%d sends a minute is the limit of this door; wait a little", perMinute)
	}
	return nil
}

// sign binds a confirmation to the token and the send that was shown.
func (s *Server) sign(token, shown string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(token + "\n" + shown))
	return hex.EncodeToString(mac.Sum(nil))
}

// maxSessions bounds the sessions of one token with those that it made.
const maxSessions = 16

// enter notes a session, and returns the oldest one of its share if that is to make
// room for it.
func (s *Server) enter(share string, session *sdk.ServerSession) (old *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := append(s.sessions[share], session)
	if len(list) > maxSessions {
		old, list = list[0], list[1:]
	}
	s.sessions[share] = list
	return old
}

func (s *Server) leave(share string, session *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[share] = slices.DeleteFunc(s.sessions[share], func(one *sdk.ServerSession) bool { return one == session })
	if len(s.sessions[share]) == 0 {
		delete(s.sessions, share)
	}
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
		if old := s.enter(c.share, session); old != nil {
			go func() { _ = old.Close() }() // it waits for what is under way
		}
		go func() {
			_ = session.Wait() // however it ended
			s.leave(c.share, session)
		}()
		return result, nil
	}
}
