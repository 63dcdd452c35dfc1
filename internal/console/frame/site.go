package frame

import (
	"context"
	"crypto/sha256"
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
	// API returns a handler that answers calls as the token whose secret has a hash (SHA-256).
	API func(hash [sha256.Size]byte) http.Handler
	// TokenOf returns that token. It is known while it is valid.
	TokenOf     func(ctx context.Context, hash [sha256.Size]byte) (token bridge.Token, known bool, err error)
	Sessions    SessionStore
	Token       string        // BRIDGE_TOKEN, for login links
	EnableSend  bool          // whether forms that send are shown
	Transcribes bool          // whether a service transcribes voice notes
	AsksPhone   bool          // whether the phone is asked for older messages
	MaxFile     int64         // bytes of a sent file
	PhoneNumber string        // the only account that may pair, in E.164 digits; empty for any
	PublicURLs  []*url.URL    // the console's addresses at a reverse proxy
	BasePath    string        // prefix of the console's paths in browsers; empty if none
	Accounts    []Account     // for the switch of accounts, with this one; nil for no switch
	OAuth       *oauth.Server // grants programs access; nil if it is switched off
	Settings    []Setting     // for the settings page, without secrets
	// Thumbnail returns a small picture of a message; nil if there are none. The caller must be allowed to read it.
	Thumbnail func(ctx context.Context, chat bridge.JID, id string, side files.ThumbnailSide) (*files.Picture, error)
	Streams   context.Context // ends streams of events
	Log       zerolog.Logger
	Now       func() time.Time // nil is the real clock
}

// Setting is one variable of the configuration as it is in force.
type Setting struct {
	Name, Value string
	IsDefault   bool
}

// Site serves the pages. It is safe for concurrent use.
type Site struct {
	options  Options
	sessions *sessions
	bodies   *intake.Bodies       // separate from the API's bodies, which the calls of a form need
	logins   front.NetworkLimiter // counts wrong tokens
	layout   *Layout
	now      func() time.Time
}

// New returns a site.
func New(o Options, l *Layout) *Site {
	if o.Now == nil {
		o.Now = time.Now
	}
	site := &Site{
		options: o, now: o.Now, layout: l, bodies: intake.NewBodies(), logins: front.NetworkLimiter{Most: maxTries, Every: tryWindow},
		sessions: &sessions{
			now: o.Now, store: o.Sessions, token: o.Token, log: o.Log, byID: make(map[hash]*session), links: make(map[hash]time.Time),
			api: func(token hash) *client.Client { return client.InProcess(o.API(token), "") },
		},
	}
	site.sessions.load(context.Background(), o.TokenOf)
	return site
}

// Handler returns a handler that guards, logs and recovers the requests of next. The paths
// of requests are without the base path.
func (site *Site) Handler(next http.Handler) http.Handler {
	guarded := front.Observe(front.Through(bridge.EntranceConsole, site.guard(next)), site.options.Log, logAccess, answerBroken)
	if site.options.BasePath == "" {
		return guarded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guarded.ServeHTTP(based{w, site.options.BasePath}, r)
	})
}

// TreeOf returns the token tree of the session of a request.
func (site *Site) TreeOf(r *http.Request) (tree int64, known bool) {
	s := site.sessionOf(r)
	if s == nil {
		return 0, false
	}
	return s.token.Tree, true
}

// LoginLink returns a path that logs in once, without the token, within an hour.
func (site *Site) LoginLink() string { return LoginPath + "?once=" + site.sessions.newLink() }

const LoginPath = "/login"
