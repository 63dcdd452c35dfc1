// Package api is the documented HTTP surface of bridged: routes, bearer, send
// gate, decoding, answers and errors, and the OpenAPI document that describes
// them.
//
// [New] makes the handler of everything that the server answers. A handler
// holds what a request means, in order, in plain sight: it decodes, looks up,
// acts and answers, and returns an error instead of writing one. Permanent
// refusals come before transient ones: 401, unknown route, send gate, invalid
// request, idempotency key, not stored, socket not open.
//
// The package reads the [store.Store] as it is and reaches the account only
// through [Account]; it knows nothing of whatsmeow, SQL or protobuf.
package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media"
	"bridged/internal/store"
	"bridged/internal/webhook"
)

// Account is what the handlers need from the paired account. Its failures are
// [bridge.Error] values wherever a caller can act on them.
type Account interface {
	// Status is the present auth status.
	Status() bridge.Status
	// Pair asks for a fresh pairing code for phone, or for the configured
	// number when phone is empty. It fails with CodeAlreadyPaired,
	// CodeOtherAccount or CodeNotConnected.
	Pair(ctx context.Context, phone string) (bridge.PairingCode, error)
	// SubmitPasskey hands in the PublicKeyCredential that the network asked for.
	SubmitPasskey(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error)
	// ConfirmPasskey says that a person compared the two codes.
	ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error)
	// Reconnect dials again. It fails with CodeNoSession without a session.
	Reconnect(ctx context.Context) error
	// Logout wipes the session in any case and says whether the network
	// unlinked the device too. It works twice.
	Logout(ctx context.Context) (unlinked bool, err error)
	// Ready is nil when the account is open, else an error of CodeNotConnected.
	Ready() error
	// Send stores the message and its key, then sends it.
	Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error)
	// Resend sends a stored own message once more under the same id.
	Resend(ctx context.Context, m bridge.Message) (bridge.Sent, error)
	// Traffic returns how many messages went through the account.
	Traffic() bridge.Traffic
	// LiveGroup asks the network for a group's metadata.
	LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error)
}

// Options is what the surface is made of.
type Options struct {
	Store   *store.Store
	Account Account
	// Webhooks manages where events are posted to.
	Webhooks *webhook.Dispatcher
	// Files answers the files of messages, Preparer fetches those to be sent.
	Files    *media.Cache
	Preparer *media.Preparer
	// FetchTimeout bounds a fetch, and separately the wait for its turn.
	FetchTimeout time.Duration

	// Token is the bearer that every request but the open ones must carry.
	Token string
	// EnableSend opens the sending routes.
	EnableSend bool
	// PhoneNumber is the configured account in E.164 digits; empty when the
	// caller of the pairing route names it.
	PhoneNumber string
	// WithoutPages takes away what is served without a token for people to
	// read (openapi.yaml, openapi.json).
	WithoutPages bool

	// Lifetime ends when the program gives up sends that are still under way,
	// which outlive their callers; nil never ends.
	Lifetime context.Context
	// Streams ends the streams of events and the waiting for more, which would
	// else hold up a shutdown; nil never ends.
	Streams context.Context

	// Build is shown in the metrics.
	Build Build

	// Connections are shown in /metrics; nil shows none.
	Connections *Connections

	Log zerolog.Logger
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// server holds what the handlers share. It does not change after New but for
// keys, tail and metrics, which guard themselves.
type server struct {
	store    *store.Store
	account  Account
	webhooks *webhook.Dispatcher
	files    *media.Cache
	preparer *media.Preparer

	tokenHash  [sha256.Size]byte
	enableSend bool
	phone      string
	pages      bool
	lifetime   context.Context
	streams    context.Context
	sendTime   time.Duration // how long a send may take in all

	bodies  decoder
	keys    keysInUse
	tail    *tail
	metrics *metrics

	log zerolog.Logger
	now func() time.Time
}

// New is the handler of every route. Serve it with [NewServer].
func New(o Options) http.Handler {
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
		store:      o.Store,
		account:    o.Account,
		webhooks:   o.Webhooks,
		files:      o.Files,
		preparer:   o.Preparer,
		tokenHash:  sha256.Sum256([]byte(o.Token)),
		enableSend: o.EnableSend,
		phone:      o.PhoneNumber,
		pages:      !o.WithoutPages,
		lifetime:   o.Lifetime,
		streams:    o.Streams,

		sendTime: 2*o.FetchTimeout + deliveryTime,

		bodies:  newDecoder(),
		tail:    &tail{store: o.Store},
		metrics: newMetrics(o),
		log:     o.Log,
		now:     o.Now,
	}
	return s.routes()
}
