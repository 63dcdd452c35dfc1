// Package compat holds what the doors share that let clients of other bridges in: each
// door answers another bridge's routes, as a client of the API with its caller's token. So
// whatever the API checks, refuses, limits and sends once holds behind a door, too.
package compat

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

// Options configures a door.
type Options struct {
	Client *client.Client // calls the bridge; its token is replaced by each caller's
	// Token returns the token with a secret.
	Token func(ctx context.Context, secret string) (token bridge.Token, known bool)
	// UntilRevoked returns a context that ends when the token with an id is revoked, and
	// false if it has ended already.
	UntilRevoked func(ctx context.Context, id int64) (until context.Context, valid bool)
	// Receive stores a file that comes in a body, which exists until it is closed. The file
	// counts for the family; announced is its size, or a little more, negative for unknown.
	Receive func(ctx context.Context, from io.Reader, announced, family int64, cut func()) (File, error)
	// Instance is the name by which a peer's clients know the account, where they name it.
	Instance string
	// DataDir is the directory of what the bridge keeps.
	DataDir string
	// PublicURLs are the addresses of the bridge, if the operator has named any.
	PublicURLs []*url.URL
	// Memory bounds what the calls of all compatibility APIs hold; nil is a bound of its own.
	Memory *Memory
	// URLToken permits keys in addresses, where a peer has them there.
	URLToken bool
	Log      zerolog.Logger
}

// Peer is the bridge whose clients a door serves.
type Peer interface {
	// Key returns the token that a request carries; empty for none.
	Key(r *http.Request) string
	// Refusal returns the peer's answer for an error. The call is nil without a known caller.
	Refusal(r *http.Request, c *Call, err *bridge.Error) (status int, body any)
}

// Door answers requests of a peer's clients.
type Door struct {
	options Options
	peer    Peer
}

// NewDoor returns the door for a peer's clients.
func NewDoor(o Options, peer Peer) *Door {
	if o.Memory == nil {
		o.Memory = NewMemory()
	}
	return &Door{o, peer}
}

// Memory bounds the memory of calls. It is not that of the API, which the calls use in turn: one
// that waits for the API would hold what the API waits for.
type Memory struct {
	bodies front.Bodies
	lists  front.Answers
	pauses *intake.Quota
}

// NewMemory returns the bounds of all compatibility APIs of a process.
func NewMemory() *Memory {
	return &Memory{front.NewBodies(), front.NewAnswers(front.ListsBytes), intake.NewQuota(intake.Divide(pausesBytes), pauseLook, 1)}
}

// Call is a request of a known caller.
type Call struct {
	*http.Request
	API    *client.Client // with the caller's token
	Token  bridge.Token   // the caller's
	Upload *Upload        // the file that the body brought; nil for none
	// Recipient is whom a send names, for the answer where the network does not know them.
	Recipient bridge.JID
	// Fields has the upstream API's names of the fields that a refusal may name.
	Fields Fields

	door     *Door
	body     []byte
	bodyRead func() // releases the reservation of the body
}

// Key returns the caller's Idempotency-Key; empty for none.
func (c *Call) Key() string { return c.Header.Get("Idempotency-Key") }

// Decode reads the body, a JSON object whose other members are ignored, within the bounds
// of the API's own bodies.
func (c *Call) Decode(v any) error {
	if len(c.body) == 0 {
		return bridge.Invalid("the body is empty; it must be a JSON object")
	}
	return front.DecodeForeign(c.body, v)
}

// DecodeOptional does what [Call.Decode] does, and nothing where there is no body.
func (c *Call) DecodeOptional(v any) error {
	if len(c.body) == 0 {
		return nil
	}
	return c.Decode(v)
}

// Answer is what a route answers.
type Answer struct {
	Status int
	Body   any
	Replay bool // an earlier call with the same Idempotency-Key had done it
	// Stream writes the JSON of a body that memory should not hold; Body is nil then.
	Stream func(io.Writer) error
	// List is written item by item; Body is nil then.
	List *List
	// Relay is an answer of the API that is passed on, unless it is nil: a file.
	Relay *http.Response
}

// OK returns an answer with the status 200.
func OK(body any) (Answer, error) { return Answer{Status: http.StatusOK, Body: body}, nil }

// Handle returns the handler of a route for callers whose token has a scope, unless that is
// empty: the least that any call of the route needs. If file is not empty, the body may bring a
// file: as a part of a form, or in base64 as the text of this member of the JSON object. The path of
// the member has dots between names.
func (d *Door) Handle(scope bridge.Scope, route func(*Call) (Answer, error), file string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call, done, err := d.admit(w, r, scope, file)
		if err != nil {
			d.fail(w, r, nil, err)
			return
		}
		defer done()
		answer, err := route(call)
		if err == nil && answer.List != nil {
			err = d.list(w, call, answer)
		}
		if err != nil {
			d.fail(w, r, call, err)
			return
		}
		if answer.Replay {
			w.Header().Set("Idempotency-Replayed", "true")
		}
		switch {
		case answer.List != nil:
		case answer.Relay != nil:
			relay(w, r, answer.Relay)
		case answer.Stream != nil:
			stream(w, r, answer)
		default:
			write(w, answer.Status, answer.Body)
		}
	}
}

// Open returns the handler of a route that needs no key.
func (d *Door) Open(body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, body) }
}

// Refuse returns the handler of routes that the door does not have.
func (d *Door) Refuse(err func(*http.Request) error) http.HandlerFunc {
	return d.Handle("", func(c *Call) (Answer, error) { return Answer{}, err(c.Request) }, "")
}

// admit returns the call of a known caller, with its body read. The token is checked before
// the body takes memory.
func (d *Door) admit(w http.ResponseWriter, r *http.Request, scope bridge.Scope, file string) (*Call, func(), error) {
	secret := d.peer.Key(r)
	var token bridge.Token
	known := false
	if secret != "" {
		token, known = d.options.Token(r.Context(), secret)
	}
	switch {
	case !known:
		return nil, nil, bridge.Fail(bridge.CodeUnauthorized, "the key is missing or wrong: it is a token of the bridge")
	case scope != "" && !token.Allows(scope):
		return nil, nil, bridge.Fail(bridge.CodeForbidden, "this token lacks the scope %s", scope)
	}
	call := &Call{Request: r, API: d.options.Client.WithToken(secret), Token: token, door: d}
	var done func()
	var err error
	if file != "" {
		done, err = d.receive(w, call, file)
	} else {
		call.body, call.bodyRead, err = d.options.Memory.bodies.ReadBody(w, r, token.Family)
		done = call.bodyRead
	}
	return call, done, err
}

// statuses has the status of each error that is not 400.
var statuses = map[bridge.Code]int{
	bridge.CodeUnauthorized: http.StatusUnauthorized, bridge.CodeForbidden: http.StatusForbidden, bridge.CodeSendDisabled: http.StatusForbidden,
	bridge.CodeNotFound: http.StatusNotFound, bridge.CodePayloadTooLarge: http.StatusRequestEntityTooLarge, bridge.CodeRateLimited: http.StatusTooManyRequests,
	bridge.CodeLookUpsLimited: http.StatusTooManyRequests, bridge.CodeNewChatsLimited: http.StatusTooManyRequests, bridge.CodeNewChatsCapped: http.StatusTooManyRequests, bridge.CodeReachoutRestricted: http.StatusTooManyRequests,
	bridge.CodeMediaUnavailable: http.StatusServiceUnavailable, bridge.CodeStorageUnavailable: http.StatusServiceUnavailable,
	bridge.CodeInternal: http.StatusInternalServerError, bridge.CodeSendTimeout: http.StatusGatewayTimeout, bridge.CodeRequestInProgress: http.StatusConflict,
	bridge.CodeIdempotencyMismatch: http.StatusUnprocessableEntity, bridge.CodeTooManyConnections: http.StatusServiceUnavailable,
}

// Status returns the HTTP status that the upstream APIs use for an error.
func Status(code bridge.Code) int {
	if status, known := statuses[code]; known {
		return status
	}
	return http.StatusBadRequest
}

// fail answers an error in the peer's form. The cause of an internal one goes to the log.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, c *Call, err error) {
	front.RefuseBody(w, r)
	known, ok := errors.AsType[*bridge.Error](err)
	if !ok && r.Context().Err() != nil { // the caller has gone, or the bridge stops
		known, ok = bridge.NotConnected("the bridge is stopping; ask again when it is back"), true
	}
	if !ok || known.Code == bridge.CodeInternal {
		hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("door")
		known = &bridge.Error{Code: bridge.CodeInternal, Msg: "something went wrong inside the bridge; its log says what"}
	}
	if c != nil && c.Fields != nil {
		renamed := *known
		renamed.Msg = c.Fields.Rename(known.Msg)
		if address := c.Fields["url"]; known.Code == bridge.CodeFetchFailed && address != "" {
			renamed.Msg = address + ": " + known.Msg
		}
		known = &renamed
	}
	if known.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(known.RetryAfter.Seconds()))))
	}
	status, body := d.peer.Refusal(r, c, known)
	write(w, status, body)
}

// write answers JSON.
func write(w http.ResponseWriter, status int, body any) {
	encoded, err := bridge.EncodeJSON(body)
	if err != nil {
		status, encoded = http.StatusInternalServerError, []byte(`{}`)
	}
	front.SecureHeader(w.Header())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	front.AnswerNow(w)
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // a caller that does not read it has gone
}

// stream answers JSON that is written piece by piece. Where that fails, the answer breaks off.
func stream(w http.ResponseWriter, r *http.Request, answer Answer) {
	front.SecureHeader(w.Header())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(answer.Status)
	if err := answer.Stream(pieceWriter{w}); err != nil {
		hlog.FromRequest(r).Warn().Str("error", bridge.Redact(err.Error())).Msg("an answer broke off")
		panic(http.ErrAbortHandler)
	}
}

// relay passes an answer of the API on. Where that breaks off, so does this one.
func relay(w http.ResponseWriter, r *http.Request, answer *http.Response) {
	defer answer.Body.Close()
	front.SecureHeader(w.Header())
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(pieceWriter{w}, answer.Body); err != nil {
		hlog.FromRequest(r).Warn().Str("error", bridge.Redact(err.Error())).Msg("an answer broke off")
		panic(http.ErrAbortHandler)
	}
}

// pieceWriter gives each piece of an answer its own time.
type pieceWriter struct{ http.ResponseWriter }

func (w pieceWriter) Write(p []byte) (int, error) {
	front.AnswerNow(w.ResponseWriter)
	return w.ResponseWriter.Write(p)
}

// encodedID finds ids in which a phone number is encoded, as those of the Cloud door's files.
var encodedID = regexp.MustCompile(`/(m|wamid\.)[A-Za-z0-9_-]{24,}`)

// withoutIDs returns a request for the log.
func withoutIDs(r *http.Request) *http.Request {
	if !encodedID.MatchString(r.URL.Path) {
		return r
	}
	shown := *r
	shown.URL = &url.URL{Path: encodedID.ReplaceAllString(r.URL.Path, "/$1…")}
	return &shown
}

// prefixKey is the key of the prefix below which a request came, in its context.
type prefixKey struct{}

// Base returns the address of the door as a caller knows it, without a slash at the end:
// links in answers begin so.
func (c *Call) Base() string {
	scheme := "http"
	if c.TLS != nil || c.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	prefix, _ := c.Context().Value(prefixKey{}).(string)
	return scheme + "://" + c.Host + prefix
}

var slashes = regexp.MustCompile(`/{2,}`)

// Mount serves a door below a prefix, or at the root of a listener of its own where that
// is empty. Callers see base before the prefix. Clients join addresses by string: slashes at the end are ignored, and several
// in a row are one. The end of stopping ends calls.
func Mount(base, prefix string, door http.Handler, stopping context.Context, log zerolog.Logger) http.Handler {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), prefixKey{}, base+prefix))
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		if r.ContentLength < 0 {
			w.Header().Set("Connection", "close") // the server does not see the end of chunks
		}
		r = r.Clone(ctx)
		r.URL.Path = "/" + strings.Trim(slashes.ReplaceAllString(strings.TrimPrefix(r.URL.Path, prefix), "/"), "/")
		r.URL.RawPath = ""
		door.ServeHTTP(w, r)
	})
	return front.Observe(inner, log, func(r *http.Request, status, size int, took time.Duration) {
		front.Accessed(front.AccessLine(r, status), withoutIDs(r), status, size, took).Msg("door")
	}, func(w http.ResponseWriter, r *http.Request, err error) {
		hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("door")
		write(w, http.StatusInternalServerError, map[string]any{"statusCode": http.StatusInternalServerError, "status": http.StatusInternalServerError, "message": "something went wrong inside the bridge; its log says what"})
	})
}
