package frame

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

const (
	sessionLife = 30 * 24 * time.Hour // for which a session lasts after its last use
	linkLife    = time.Hour
	noteEvery   = 5 * time.Minute // at most, the last use of a session is stored
	cookieEvery = 24 * time.Hour  // at most, the cookie of a session is renewed
	// maxSessions and maxLinks limit the memory and the rows; the session that has not been used for the longest time
	// is closed.
	maxSessions = 256
	maxOfTree   = 64 // of one token tree, so that it cannot end the sessions of others
	maxLinks    = 16
)

// session is the session of one browser.
type session struct {
	ctx     context.Context // ends with the session
	end     context.CancelFunc
	hash    hash         // of its secret
	token   bridge.Token // that it was opened with
	as      hash         // of the token's secret
	api     *client.Client
	browser string
	created time.Time

	zone   atomic.Pointer[time.Location] // of the visitor
	notice atomic.Pointer[Notice]        // for the next page
	result atomic.Pointer[result]        // for the next request of its page
	keys   usedKeys                      // of forms

	// The mutex of sessions guards these. csrf and number never change once they are set.
	number int64     // of its row, or negative if it could not be stored
	csrf   string    // in its forms, derived from its secret; empty until it is used after a restart
	used   time.Time // last
	noted  time.Time // the last use that was stored
	cookie time.Time // when the cookie was set
	isOver bool      // whether it was closed, and could not be removed from the store
}

// visitor identifies the token. The browser stores unsent texts under it, over sessions. Bridges at one
// address share that storage, so the base path tells them apart if they have the same token.
func (s *session) visitor(basePath string) string {
	hash := hashOf("visitor " + basePath + " " + string(s.as[:]))
	return base64.RawURLEncoding.EncodeToString(hash[:12])
}

// Notice is a sentence for the next page that is shown.
type Notice struct {
	Text    string
	Details string // the API's sentence
	Failed  bool
}

// setZone sets the visitor's time zone, if there is one with this name.
func (s *session) setZone(name string) {
	if name == "" || len(name) > 64 || name == "Local" {
		return
	}
	if zone, err := time.LoadLocation(name); err == nil {
		s.zone.Store(zone)
	}
}

// isFresh reports whether a session has been used recently enough. The caller holds the mutex of sessions.
func (s *session) isFresh(now time.Time) bool {
	return !s.isOver && now.Before(s.used.Add(sessionLife))
}

// hash identifies a secret. Secrets of sessions and links are not stored.
type hash = [sha256.Size]byte

func hashOf(secret string) hash { return sha256.Sum256([]byte(secret)) }

// sessions has the open sessions and the unused login links. The sessions are also in the store, and survive a
// restart.
type sessions struct {
	now   func() time.Time
	api   func(token hash) *client.Client
	store SessionStore
	token string // BRIDGE_TOKEN
	log   zerolog.Logger

	opening sync.Mutex // held while a session is opened; guards isBound
	isBound bool       // whether the store has a hash of BRIDGE_TOKEN

	mu    sync.Mutex // guards the fields after it
	byID  map[hash]*session
	links map[hash]time.Time // when they end
	last  int64              // the number of the last session that could not be stored
}

// newSession returns a session that is not open yet.
func (s *sessions) newSession(id, as hash, token bridge.Token, browser, zone string) *session {
	one := &session{hash: id, as: as, token: token, api: s.api(as), browser: browser}
	one.ctx, one.end = context.WithCancel(context.Background())
	one.zone.Store(time.UTC)
	one.setZone(zone)
	return one
}

// open opens a session of a browser for a token with a hash of its secret. The cookie has the secret of the
// session. A session that cannot be stored ends with the process.
func (s *sessions) open(ctx context.Context, as hash, token bridge.Token, browser, zone string) (secret string, opened *session) {
	secret = rand.Text()
	opened = s.newSession(hashOf(secret), as, token, browser, zone)
	s.opening.Lock()
	defer s.opening.Unlock()
	removed := s.makeRoom(token.Tree)
	now := s.now()
	opened.created, opened.used, opened.noted, opened.cookie = now, now, now, now
	opened.csrf = csrfOf(secret)
	var err error
	if opened.number, err = s.add(context.WithoutCancel(ctx), opened, removed); err != nil {
		s.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("a session of the console is not stored, and ends with the next restart")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.last--
		opened.number = s.last
	}
	s.byID[opened.hash] = opened
	return secret, opened
}

// csrfOf returns the token of the forms of a session. It is derived from the secret, so that forms that are open
// during a restart stay valid.
func csrfOf(secret string) string {
	hash := hashOf("csrf " + secret)
	return base64.RawURLEncoding.EncodeToString(hash[:18])
}

// makeRoom closes sessions that are over, and those that have not been used for the longest time where there are
// too many for one more of a token tree. It returns the numbers of their rows.
func (s *sessions) makeRoom(tree int64) (removed []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remove := func(one *session) {
		if one == nil {
			return
		}
		one.end()
		delete(s.byID, one.hash)
		if one.number > 0 {
			removed = append(removed, one.number)
		}
	}
	now := s.now()
	for _, one := range s.byID {
		if !one.isFresh(now) {
			remove(one)
		}
	}
	remove(s.oldest(maxOfTree, func(one *session) bool { return one.token.Tree == tree }))
	if len(s.byID) >= maxSessions {
		remove(s.oldest(1, func(one *session) bool { return one.token.Tree != intake.Operator }))
	}
	return removed
}

// oldest returns the session among some that has not been used for the longest time, if there are at least most of
// them. The caller holds mu.
func (s *sessions) oldest(most int, among func(*session) bool) (oldest *session) {
	count := 0
	for _, one := range s.byID {
		if among(one) {
			if count++; oldest == nil || one.used.Before(oldest.used) {
				oldest = one
			}
		}
	}
	if count < most {
		return nil
	}
	return oldest
}

// get returns the session with a secret; nil if none.
func (s *sessions) get(secret string) *session {
	id := hashOf(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[id]
	if one == nil || !one.isFresh(s.now()) {
		return nil
	}
	if one.csrf == "" {
		one.csrf = csrfOf(secret)
	}
	return one
}

// use extends a session, and reports whether its cookie is to be renewed with a page. The last use is stored from
// time to time only.
func (s *sessions) use(ctx context.Context, one *session, isPage bool) (renews bool) {
	now := s.now()
	s.mu.Lock()
	one.used = now
	isNoted := isWithin(now, one.noted, noteEvery)
	if !isNoted {
		one.noted = now
	}
	if renews = isPage && !isWithin(now, one.cookie, cookieEvery); renews {
		one.cookie = now
	}
	s.mu.Unlock()
	if !isNoted {
		s.note(ctx, one)
	}
	return renews
}

// isWithin reports whether a time was less than d ago, and not in the future: the clock may have been corrected.
func isWithin(now, earlier time.Time, d time.Duration) bool {
	passed := now.Sub(earlier)
	return passed >= 0 && passed < d
}

// close ends sessions and removes them from the store. If that fails, they stay in the list of sessions, so that
// it can be repeated.
func (s *sessions) close(ctx context.Context, which ...*session) error {
	var rows []int64
	s.mu.Lock()
	for _, one := range which {
		one.end()
		one.isOver = true
		if one.number > 0 {
			rows = append(rows, one.number)
		}
	}
	s.mu.Unlock()
	if len(rows) > 0 {
		if err := s.store.RemoveConsoleSessions(context.WithoutCancel(ctx), rows); err != nil {
			s.log.Error().Str("error", bridge.Redact(err.Error())).Msg("cannot remove ended sessions of the console from the store; they are valid again after a restart")
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range which {
		delete(s.byID, one.hash)
	}
	return nil
}

// newLink returns a secret that [sessions.useLink] accepts once.
func (s *sessions) newLink() string {
	link := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for key, ends := range s.links {
		if !now.Before(ends) || len(s.links) >= maxLinks {
			delete(s.links, key)
		}
	}
	s.links[hashOf(link)] = now.Add(linkLife)
	return link
}

// useLink reports whether a link is valid, and removes it.
func (s *sessions) useLink(link string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends, known := s.links[hashOf(link)]
	delete(s.links, hashOf(link))
	return known && s.now().Before(ends)
}
