package frame

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
	"bridged/internal/media/files"
	"bridged/internal/oauth"
)

// Options configures [New].
type Options struct {
	API         http.Handler  // answers the calls of pages
	Token       string        // the bearer for login links
	EnableSend  bool          // whether forms that send are shown
	Transcribes bool          // whether a service transcribes voice notes
	MaxFile     int64         // bytes of a sent file
	PhoneNumber string        // the only account that may pair, in E.164 digits; empty for any
	PublicURLs  []*url.URL    // the console's addresses at a reverse proxy
	BasePath    string        // prefix of the console's paths in browsers; empty for none
	Accounts    []Account     // for the switch of accounts, with this one; nil for no switch
	OAuth       *oauth.Server // grants programs access; nil if it is switched off
	Settings    []Setting     // for the settings page, without secrets
	// Thumbnail returns a small picture of a message; nil if there are none. The caller must be allowed to read it.
	Thumbnail func(ctx context.Context, chat bridge.JID, id string, side files.ThumbnailSide) (*files.Picture, error)
	// Tree returns the token tree of a token, whose quota it uses; see [bridge.Token].
	Tree    func(ctx context.Context, secret string) (tree int64, known bool)
	Streams context.Context // ends streams of events
	Log     zerolog.Logger
	Now     func() time.Time // nil is the real clock
}

// Setting is one variable of the configuration as it is in force.
type Setting struct {
	Name, Value string
	IsDefault   bool
}

// Site serves the pages. It is safe for concurrent use.
type Site struct {
	options  Options
	api      *client.Client
	sessions *sessions
	bodies   *intake.Bodies       // separate from the API's bodies, which the calls of a form need
	logins   front.NetworkLimiter // counts wrong tokens
	layout   *layout
	now      func() time.Time
}

// New returns a site. It fails if its templates cannot be found.
func New(o Options, t Templates) (*Site, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	views, err := newLayout(t, o.BasePath)
	if err != nil {
		return nil, err
	}
	return &Site{
		options: o, api: client.InProcess(o.API, o.Token), now: o.Now, layout: views, bodies: intake.NewBodies(),
		sessions: &sessions{now: o.Now, byID: make(map[hash]*session), links: make(map[hash]time.Time)},
		logins:   front.NetworkLimiter{Most: maxTries, Every: tryTime},
	}, nil
}

// Handler returns a handler that guards, logs and recovers the requests of next. The paths
// of requests are without the base path.
func (site *Site) Handler(next http.Handler) http.Handler {
	guarded := front.Observe(site.guard(next), site.options.Log, logAccess, broken)
	if site.options.BasePath == "" {
		return guarded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guarded.ServeHTTP(based{w, site.options.BasePath}, r)
	})
}

// TokenOf returns the token of the session of a request; empty for none.
func (site *Site) TokenOf(r *http.Request) string {
	s := site.sessionOf(r)
	if s == nil {
		return ""
	}
	return s.api.Token()
}

// LoginLink returns a path that logs in once, without the token, within an hour.
func (site *Site) LoginLink() string { return LoginPath + "?once=" + site.sessions.newLink() }

const LoginPath = "/login"
