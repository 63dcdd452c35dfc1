package frame

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/console/view"
)

// OpenSession is a session in the list of the settings.
type OpenSession struct {
	Number        int64
	Browser       string
	Token         string // the name of its token; empty for the visitor's
	IsOwn         bool   // whether it is the visitor's session
	Created, Used bridge.Time
}

// settingsPath is the page that lists the sessions.
const settingsPath = view.Root + "/settings"

// Sessions returns the sessions that the visitor may end, their own first, then those that were used last.
func (req *Request) Sessions() (list []OpenSession) {
	sessions := req.site.endableBy(req.Context(), req.session)
	req.site.sessions.mu.Lock()
	defer req.site.sessions.mu.Unlock()
	for _, one := range sessions {
		shown := OpenSession{Number: one.number, Browser: one.browser, IsOwn: one == req.session, Created: bridge.At(one.created), Used: bridge.At(one.used)}
		if one.token.ID != req.Token.ID {
			shown.Token = one.token.Name
		}
		list = append(list, shown)
	}
	slices.SortFunc(list, func(a, b OpenSession) int {
		switch {
		case a.IsOwn:
			return -1
		case b.IsOwn:
			return 1
		}
		return cmp.Or(b.Used.Compare(a.Used.Time), cmp.Compare(a.Number, b.Number))
	})
	return list
}

// endableBy returns the sessions that a session may end: the ones of its token, or all if its token is BRIDGE_TOKEN.
func (site *Site) endableBy(ctx context.Context, by *session) (reached []*session) {
	site.sessions.mu.Lock()
	for _, one := range site.sessions.byID {
		if (by.token.ID == 0 || one.token.ID == by.token.ID) && (one.isOver || one.isFresh(site.now())) {
			reached = append(reached, one)
		}
	}
	site.sessions.mu.Unlock()
	return slices.DeleteFunc(reached, func(one *session) bool { return site.hasEnded(ctx, one) })
}

// errNotRemoved is for sessions that would be there again after a restart.
var errNotRemoved = Titled(http.StatusServiceUnavailable, "That couldn’t be stored",
	"It no longer works, but would be logged in again after a restart. Free space on the bridge’s disk, then log it out once more.")

// EndSession ends another session.
func (site *Site) EndSession(req *Request) error {
	for _, one := range site.endableBy(req.Context(), req.session) {
		if one != req.session && one.number == req.Number {
			return site.endOthers(req, one)
		}
	}
	return Titled(http.StatusNotFound, "It’s logged out already", "Reload the page to see who is logged in.")
}

// EndOtherSessions ends all sessions that the visitor may end, except for their own.
func (site *Site) EndOtherSessions(req *Request) error {
	return site.endOthers(req, slices.DeleteFunc(site.endableBy(req.Context(), req.session), func(one *session) bool { return one == req.session })...)
}

func (site *Site) endOthers(req *Request, which ...*session) error {
	if err := site.sessions.close(req.Context(), which...); err != nil {
		return errNotRemoved
	}
	text := "Logged out everywhere else."
	if req.Number != 0 {
		text = which[0].browser + " was logged out."
	}
	return req.Done(nil, text, settingsPath+"#sessions")
}
