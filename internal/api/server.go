// Package api is the HTTP API of bridged: routes, tokens, answers and errors, and the
// OpenAPI document that describes them.
//
// [New] returns the handler of all routes. A handler decodes, looks up, acts and answers,
// in this order, and returns an error instead of writing one. Permanent refusals come
// before transient ones: 401, unknown route, send gate, invalid request, idempotency key,
// not stored, not connected.
//
// The package reads the [store.Store] directly and reaches the account only through
// [Account]. It knows nothing of whatsmeow, SQL or protobuf.
package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/api/callers"
	"bridged/internal/api/export"
	"bridged/internal/api/front"
	"bridged/internal/api/metrics"
	"bridged/internal/api/openapi"
	"bridged/internal/api/stream"
	"bridged/internal/bridge"
	"bridged/internal/chatimport"
	"bridged/internal/hooks"
	"bridged/internal/media"
	"bridged/internal/media/files"
	"bridged/internal/schedule"
	"bridged/internal/store"
	"bridged/internal/webhook"
)

// Account is the paired account. Its failures are [bridge.Error] values if a caller can act on
// them; if a message may have been sent, the code is [bridge.CodeSendTimeout].
type Account interface {
	Status() bridge.Status
	// WakePairing resumes a pairing that paused because its status was not requested.
	WakePairing()
	// Pair requests a pairing code for phone, or for the configured number.
	Pair(ctx context.Context, phone string) (bridge.PairingCode, error)
	// SubmitPasskey submits the PublicKeyCredential that the network requested.
	SubmitPasskey(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error)
	// ConfirmPasskey confirms that a person has compared the two codes.
	ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error)
	Reconnect(ctx context.Context) error
	// Logout wipes the session, and reports whether the network has also unlinked the device. It
	// may be called again.
	Logout(ctx context.Context) (unlinked bool, err error)
	// Ready returns nil if the account is open, else an error of CodeNotConnected.
	Ready() error
	// Send stores a message and its key, and then sends it.
	Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error)
	// SendAlbum stores an album and its key, and then sends its messages in order.
	SendAlbum(ctx context.Context, album bridge.OutgoingAlbum) (bridge.SentAlbum, error)
	// ResendAlbum sends those messages of a stored album that the network has not accepted.
	ResendAlbum(ctx context.Context, messages []bridge.Message) (bridge.SentAlbum, error)
	// Resend sends a stored message of the account again under the same id.
	Resend(ctx context.Context, m bridge.Message) (bridge.Sent, error)
	// MarkRead marks a chat as read up to a message, or entirely if the id is empty, and sends
	// read receipts.
	MarkRead(ctx context.Context, chat bridge.Chat, upTo string) error
	// UpdateChat changes a chat's settings on all devices of the account.
	UpdateChat(ctx context.Context, chat bridge.Chat, patch bridge.ChatPatch) error
	// Star stars a message on all devices of the account, or removes the star.
	Star(ctx context.Context, m bridge.Message, starred bool) error
	// DeleteForMe deletes a message on all devices of the account, and nobody else's.
	DeleteForMe(ctx context.Context, m bridge.Message) error
	// ClearChat removes the messages of a chat on all devices of the account, or the whole chat.
	ClearChat(ctx context.Context, chat bridge.Chat, c bridge.ChatClearing) error
	// Block blocks a person, or unblocks them.
	Block(ctx context.Context, person bridge.JID, block bool) error
	// SaveName saves a person's name in the address book, or removes the person from it.
	SaveName(ctx context.Context, person bridge.JID, name bridge.ContactName) error
	// Type shows a presence in a chat, and returns when it ends; zero for paused.
	Type(ctx context.Context, chat bridge.JID, state bridge.TypingState) (bridge.Time, error)
	RejectCall(ctx context.Context, call bridge.Call) error
	Traffic() bridge.Traffic
	// CheckNumbers returns, in order, whether the network knows numbers in E.164 digits.
	CheckNumbers(ctx context.Context, phones []string) ([]bridge.NumberCheck, error)
	// LiveGroup requests a group's metadata from the network.
	LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error)
	// AskHistory requests count messages before the oldest message of a chat from the phone, and
	// returns the id of the request.
	AskHistory(ctx context.Context, oldest bridge.Message, count int) (string, error)
	// PairedHistory returns how much history the pairing requested; "" if it is unknown.
	PairedHistory(ctx context.Context) (bridge.HistoryImport, error)
	GroupAdmin
	AccountAdmin
}

// Options configures [New].
type Options struct {
	Store    *store.Store
	Account  Account
	Webhooks *webhook.Dispatcher
	Files    *files.Cache
	Preparer *media.Preparer // fetches files to be sent
	// Preview returns the preview of the first link in a text, or nil. Preview itself is nil if
	// link previews are off.
	Preview      func(ctx context.Context, text string) *bridge.Preview
	LinkPreviews bool // also in texts that do not request one
	Pictures     *files.Pictures
	Schedule     *schedule.Schedule
	Importer     *chatimport.Importer
	Exports      *media.Preparer // receives exported chats
	// Live has the events that only streams get; nil if none.
	Live *stream.Live
	// FetchTimeout bounds the fetching of a file, and separately the wait for a slot.
	FetchTimeout time.Duration

	Token         string // BRIDGE_TOKEN
	EnableSend    bool
	HistoryImport bridge.HistoryImport
	// PhoneNumber names the only account that may pair, in E.164 digits; empty for any.
	PhoneNumber string
	// Transcription says which voice notes are transcribed; nil without a service.
	Transcription *bridge.Transcription
	Backups       bridge.BackupState // nil without backups of every night
	// PublicURL begins the addresses of hooks; empty without a reverse proxy.
	PublicURL string
	// BasePath begins the paths of all routes; empty for the root.
	BasePath string
	// CORSOrigins lists the origins whose pages may call the API from a browser, "*" for any; nil if none.
	CORSOrigins  []string
	Document     []byte // nil for [Document]
	WithoutPages bool   // without openapi.yaml and openapi.json, which need no token

	// Lifetime ends sends in progress, which outlive their callers; nil never ends.
	Lifetime context.Context
	// Streams ends streams of events, which would delay a shutdown; nil never ends.
	Streams context.Context

	Build   metrics.Build
	Metrics []prometheus.Collector // more metrics to serve

	// Connections are shown in /metrics, and identify their callers by the tokens; may be nil.
	Connections *front.Connections
	// TreeOf returns the token tree of a request without a bearer token, such as one of a session; may be nil.
	TreeOf func(*http.Request) (tree int64, known bool)

	Log zerolog.Logger
	Now func() time.Time // nil is the real clock
}

// server holds the state that the handlers share. They reach it through their [input].
type server struct {
	Options
	tokens      *callers.Tokens
	hooks       callers.Things[bridge.Hook]
	webhooks    callers.Things[bridge.Webhook]
	templates   *hooks.Renderer
	deliveries  callers.Limiters // by hook
	previews    callers.Limiters // by token tree
	started     bridge.Time
	sendTimeout time.Duration // bounds a send with all its steps

	bodies  front.Bodies
	lists   front.Answers
	exports export.Slots
	log     stream.Log
	keys    sync.Map // bridge.SendKey by Key, of calls in progress
	metrics *metrics.Metrics

	document *openapi.Document
}

// Handler serves all routes. Serve it with [NewServer].
type Handler struct {
	chi.Router
	tokens *callers.Tokens
	server *server
}

// Tree returns the tree of the token with a secret; see [bridge.Token].
func (h *Handler) Tree(ctx context.Context, secret string) (tree int64, known bool) {
	token, known := h.Token(ctx, secret)
	return token.Tree, known
}

// Token returns the token with a secret; see [bridge.Token].
func (h *Handler) Token(ctx context.Context, secret string) (token bridge.Token, known bool) {
	caller, err := h.tokens.Find(ctx, secret)
	if err != nil || caller == nil {
		return bridge.Token{}, false
	}
	return caller.Token, true
}

// Tokens returns the tokens that the API accepts.
func (h *Handler) Tokens() *callers.Tokens { return h.tokens }

// UntilRevoked returns a context that ends when the token with an id is revoked, and whether the
// token is valid. The expiry of the token does not end the context.
func (h *Handler) UntilRevoked(ctx context.Context, id int64) (until context.Context, valid bool) {
	token, err := h.tokens.ByID(ctx, id)
	if err != nil || token == nil {
		return nil, false
	}
	return token.UntilRevoked(), true
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
	if o.Live == nil {
		o.Live = stream.NewLive(o.Now)
	}
	if o.Document == nil {
		o.Document = Document
	}
	collectors := o.Metrics
	if o.Connections != nil {
		collectors = append(slices.Clone(collectors), o.Connections)
	}
	collected := metrics.New(metrics.Options{Build: o.Build, Store: o.Store, Account: o.Account, Files: o.Files, Others: collectors, Log: o.Log})
	lists := front.NewAnswers(front.ListsBytes)
	tokens := callers.NewTokens(o.Token, o.Store, o.Now)
	s := &server{
		Options: o,
		tokens:  tokens,
		hooks: callers.Things[bridge.Hook]{
			Quota: hookQuota, Tokens: tokens, Token: func(h bridge.Hook) int64 { return h.Token },
			List: func(ctx context.Context) ([]bridge.Hook, error) { return o.Store.Hooks(ctx) }, // tests walk the routes without a Store
		},
		webhooks: callers.Things[bridge.Webhook]{
			Quota: webhookQuota, Tokens: tokens, Token: func(w bridge.Webhook) int64 { return w.Token },
			List: func(ctx context.Context) ([]bridge.Webhook, error) { return o.Store.Webhooks(ctx) },
		},
		templates:  hooks.NewRenderer(),
		deliveries: callers.Limiters{PerMinute: 60, Burst: 60, Refusal: "a hook takes 60 deliveries a minute; try again a little later"},
		// With the second that a template may take that is a third of a processor.
		previews:    callers.Limiters{PerMinute: 20, Burst: 30, Refusal: "templates can be tried 20 times a minute; try again a little later"},
		started:     bridge.At(o.Now()),
		sendTimeout: 2*o.FetchTimeout + media.ConvertTimeout + deliveryTimeout,
		bodies:      front.NewBodies(),
		lists:       lists,
		exports:     export.NewSlots(),
		log:         stream.Log{Store: o.Store, Lists: lists, Live: o.Live, Open: collected.Streams, Stopping: o.Streams},
		metrics:     collected,

		document: openapi.New(o.Document, o.Build.Version, o.BasePath, o.WithoutPages),
	}
	if o.Connections != nil {
		o.Connections.Identify(func(r *http.Request) (tree int64, known bool) { return tokens.Identify(r, o.TreeOf) })
	}
	return &Handler{s.routes(), tokens, s}
}
