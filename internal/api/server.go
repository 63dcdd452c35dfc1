// Package api is the documented HTTP surface of bridged: routes, bearer, send
// gate, decoding, answers and errors, and the OpenAPI document that describes
// them.
//
// [New] returns the handler of all routes. A handler tells its request's story
// from top to bottom: it decodes, looks up, acts and answers, and returns an
// error instead of writing one. Permanent refusals come before transient ones: 401, unknown route, send gate, invalid
// request, idempotency key, not stored, socket not open.
//
// The package reads the [store.Store] directly and reaches the account only
// through [Account]. It knows nothing of whatsmeow, SQL or protobuf.
package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/media"
	"bridged/internal/store"
	"bridged/internal/webhook"
)

// Account is the paired account as the handlers need it. Its failures are
// [bridge.Error] values wherever a caller can act on them.
type Account interface {
	// Status returns the present auth status.
	Status() bridge.Status
	// WakePairing goes on with a pairing that rests because nobody asked.
	WakePairing()
	// Pair asks for a fresh pairing code for phone, or for the configured
	// number when phone is empty. It fails with CodeAlreadyPaired,
	// CodeOtherAccount or CodeNotConnected.
	Pair(ctx context.Context, phone string) (bridge.PairingCode, error)
	// SubmitPasskey hands in the PublicKeyCredential that the network asked for.
	SubmitPasskey(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error)
	// ConfirmPasskey confirms that a person compared the two codes.
	ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error)
	// Reconnect dials again. It fails with CodeNoSession without a session.
	Reconnect(ctx context.Context) error
	// Logout wipes the session in any case, and reports whether the network
	// unlinked the device too. It may be called again.
	Logout(ctx context.Context) (unlinked bool, err error)
	// Ready returns nil when the account is open, else an error of CodeNotConnected.
	Ready() error
	// Send stores the message and its key, then sends it.
	Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error)
	// Resend sends a stored own message once more under the same id.
	Resend(ctx context.Context, m bridge.Message) (bridge.Sent, error)
	// MarkRead tells those who wrote in a chat, and the account's other devices, that
	// it was read up to the message with an id; an empty one is up to the last.
	MarkRead(ctx context.Context, chat bridge.Chat, upTo string) error
	// Type shows the account as typing or recording in a chat, or no longer, and
	// returns until when; the zero time for no longer.
	Type(ctx context.Context, chat bridge.JID, state bridge.TypingState) (bridge.Time, error)
	// RejectCall has a call ring no more, and notes it. It fails with
	// CodeNotConnected, CodeSendRefused or CodeSendTimeout.
	RejectCall(ctx context.Context, call bridge.Call) error
	// Traffic returns how many messages went through the account.
	Traffic() bridge.Traffic
	// CheckNumbers returns whether the network knows some numbers, in E.164 digits
	// and in their order. It fails with CodeLookUpsLimited or CodeNotConnected.
	CheckNumbers(ctx context.Context, phones []string) ([]bridge.NumberCheck, error)
	// LiveGroup asks the network for a group's metadata.
	LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error)
	// AskHistory asks the phone for count messages from before the oldest one of a
	// chat, and returns the request's id. It fails with CodeNotConnected.
	AskHistory(ctx context.Context, oldest bridge.Message, count int) (string, error)
	// PairedHistory returns how much history the pairing has asked for; "" where that
	// is not known.
	PairedHistory(ctx context.Context) (bridge.HistoryImport, error)
	GroupAdmin
}

// Options configures [New].
type Options struct {
	Store   *store.Store
	Account Account
	// Webhooks manages where events are posted to.
	Webhooks *webhook.Dispatcher
	// Files holds the files of messages, Preparer fetches those to be sent.
	Files    *media.Cache
	Preparer *media.Preparer
	// Pictures holds those of people and groups.
	Pictures *media.Pictures
	// FetchTimeout bounds a fetch, and separately the wait for its turn.
	FetchTimeout time.Duration

	// Token is the bearer that protected routes require.
	Token string
	// EnableSend opens the sending routes.
	EnableSend bool
	// HistoryImport opens the route that asks the phone for older messages, unless it
	// is off.
	HistoryImport bridge.HistoryImport
	// PhoneNumber is the configured account in E.164 digits; empty when the
	// caller of the pairing route names it.
	PhoneNumber string
	// PublicURL is where a reverse proxy shows the bridge; empty for none. The
	// addresses of hooks begin with it.
	PublicURL string
	// WithoutPages removes the pages that need no token: openapi.yaml and
	// openapi.json.
	WithoutPages bool

	// Lifetime ends sends that are still under way when the program stops: they
	// outlive their callers. nil never ends.
	Lifetime context.Context
	// Streams ends streams of events and waits for them, which would otherwise
	// hold up a shutdown; nil never ends.
	Streams context.Context

	// Build is shown in the metrics and in /api/stats.
	Build Build
	// Metrics are shown beside the API's own.
	Metrics []prometheus.Collector

	// Connections are shown in /metrics, and learn whose a request is; nil for none.
	Connections *front.Connections
	// Sessions returns the token of the session that a request's cookie names,
	// empty for none; nil where there are no sessions.
	Sessions func(*http.Request) string

	Log zerolog.Logger
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// server holds what the handlers share. It does not change after New but for
// keys and metrics, which guard themselves.
type server struct {
	Options
	bearers    *bearers
	templates  *renderer
	deliveries limiters // of each hook
	previews   limiters // of each family
	started    bridge.Time
	sendTime   time.Duration // how long a send may take in all

	// adds is held while a webhook or a hook is made, so that no more are made than
	// there may be.
	adds sync.Mutex

	bodies  front.Bodies
	keys    sync.Map // of bridge.SendKey, by Key: those of calls that are not answered yet
	metrics *metrics
}

// Handler serves all routes. Serve it with [NewServer].
type Handler struct {
	chi.Router
	bearers *bearers
}

// Family returns whose share the holder of a token takes; see [bridge.Token]. It
// reports false for no token.
func (h *Handler) Family(ctx context.Context, secret string) (family int64, known bool) {
	caller, err := h.bearers.find(ctx, secret)
	if err != nil || caller == nil {
		return 0, false
	}
	return caller.Family, true
}

// New returns the handler of all routes.
func New(o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lifetime == nil {
		o.Lifetime = context.Background()
	}
	if o.Streams == nil {
		o.Streams = context.Background()
	}
	s := &server{
		Options:    o,
		bearers:    newBearers(o.Token, o.Store, o.Now),
		templates:  newRenderer(),
		deliveries: limiters{perMinute: 60, burst: 60, refusal: "a hook takes 60 deliveries a minute; try again a little later"},
		// With the second that a template may take that is a third of a processor.
		previews: limiters{perMinute: 20, burst: 30, refusal: "templates can be tried 20 times a minute; try again a little later"},
		started:  bridge.At(o.Now()),
		sendTime: 2*o.FetchTimeout + deliveryTime,
		bodies:   front.NewBodies(),
		metrics:  newMetrics(o),
	}
	h := &Handler{s.routes(), s.bearers}
	if o.Connections != nil {
		o.Connections.Identify(s.callers(h, o.Sessions))
	}
	return h
}

// Bodies reads the bodies of requests for a door beside the router, within the
// limits that the router has for its own.
type Bodies struct {
	bodies  front.Bodies
	handler *Handler
}

// NewBodies returns a reader with a quota of its own: a door whose calls go on to
// the router must not wait for a place that it holds itself.
func (h *Handler) NewBodies() *Bodies { return &Bodies{front.NewBodies(), h} }

// Read reads a body of at most 1 MiB, for which the holder of the request's token
// takes the memory until done, which may be called more than once.
func (b *Bodies) Read(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	family, known := b.handler.Family(r.Context(), secretOf(r))
	if !known {
		return nil, nil, errNoBearer()
	}
	return b.bodies.ReadBody(w, r, family)
}
