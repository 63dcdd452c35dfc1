package frame

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"sync"

	"bridged/internal/bridge"
)

// SessionStore stores the sessions of the console without their secrets.
type SessionStore interface {
	// ConsoleSessions returns the sessions, and what BindConsoleSessions stored last.
	ConsoleSessions(ctx context.Context) (all []bridge.ConsoleSession, token string, err error)
	// BindConsoleSessions removes the sessions of BRIDGE_TOKEN, and stores a hash of the token that later ones are
	// opened with.
	BindConsoleSessions(ctx context.Context, token string) error
	// AddConsoleSession removes sessions and stores a new one. It returns its id, which is positive.
	AddConsoleSession(ctx context.Context, one bridge.ConsoleSession, remove []int64) (id int64, err error)
	// ChangeConsoleSession stores the last use and the zone of a session.
	ChangeConsoleSession(ctx context.Context, one bridge.ConsoleSession) error
	RemoveConsoleSessions(ctx context.Context, ids []int64) error
}

// load opens the stored sessions whose tokens are still valid, and removes the others. If they cannot be read,
// everyone has to log in again.
func (s *sessions) load(ctx context.Context, tokenOf func(context.Context, hash) (token bridge.Token, known bool, err error)) {
	all, bound, err := s.store.ConsoleSessions(ctx)
	if err != nil {
		s.log.Error().Str("error", bridge.Redact(err.Error())).Msg("cannot read the sessions of the console; everyone has to log in again")
		return
	}
	var removed []int64
	isSame := sync.OnceValue(func() bool { return isDerived(s.token, bound) })
	for _, row := range all {
		id, as := hash{}, hashOf(s.token)
		copy(id[:], row.Hash)
		if row.Token != 0 {
			copy(as[:], row.TokenHash)
		} else {
			s.isBound = isSame()
		}
		token, known, err := tokenOf(ctx, as)
		used := row.UsedAt.Time
		if now := s.now(); used.After(now) {
			used = now // the clock was wrong
		}
		switch {
		case err != nil:
			s.log.Error().Str("error", bridge.Redact(err.Error())).Msg("cannot reopen a session of the console")
			continue
		case !known || !isWithin(s.now(), used, sessionLife) || row.Token == 0 && !s.isBound:
			removed = append(removed, row.ID)
			continue
		}
		one := s.newSession(id, as, token, row.Browser, row.Zone)
		one.number, one.created, one.used, one.noted = row.ID, row.CreatedAt.Time, used, used
		s.byID[id] = one
	}
	if len(removed) == 0 {
		return
	}
	if err := s.store.RemoveConsoleSessions(ctx, removed); err != nil {
		s.log.Error().Str("error", bridge.Redact(err.Error())).Msg("cannot remove ended sessions of the console from the store")
	}
}

// add stores a session, removes others, and returns its number. The caller holds opening.
func (s *sessions) add(ctx context.Context, one *session, remove []int64) (number int64, err error) {
	if one.token.ID == 0 && !s.isBound {
		if err := s.store.BindConsoleSessions(ctx, derive(s.token, []byte(rand.Text()))); err != nil {
			return 0, err
		}
		s.isBound = true
	}
	return s.store.AddConsoleSession(ctx, s.rowOf(one), remove)
}

// note stores the last use and the zone of a session.
func (s *sessions) note(ctx context.Context, one *session) {
	if one.number < 0 {
		return
	}
	if err := s.store.ChangeConsoleSession(context.WithoutCancel(ctx), s.rowOf(one)); err != nil {
		s.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot store the use of a session of the console")
	}
}

// rowOf returns the row of a session.
func (s *sessions) rowOf(one *session) bridge.ConsoleSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bridge.ConsoleSession{
		ID: one.number, Hash: one.hash[:], Token: one.token.ID, Browser: one.browser, Zone: one.zone.Load().String(),
		CreatedAt: bridge.At(one.created), UsedAt: bridge.At(one.used),
	}
}

// rounds makes it slow to guess BRIDGE_TOKEN from the store: some milliseconds for each attempt.
const rounds = 10_000

// derive returns a hash of BRIDGE_TOKEN with its salt.
func derive(token string, salt []byte) string {
	key, err := pbkdf2.Key(sha256.New, token, salt, rounds, sha256.Size)
	if err != nil { // the lengths are wrong
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(salt) + "." + base64.RawURLEncoding.EncodeToString(key)
}

// isDerived reports whether a hash is of this BRIDGE_TOKEN.
func isDerived(token, derived string) bool {
	encoded, _, found := strings.Cut(derived, ".")
	salt, err := base64.RawURLEncoding.DecodeString(encoded)
	return found && err == nil && subtle.ConstantTimeCompare([]byte(derive(token, salt)), []byte(derived)) == 1
}
