// Package compat answers the clients of other WhatsApp bridges. Each adapter has the routes of one
// upstream API and answers them as a client of the API, with its caller's token. So the API's
// checks, limits and refusals apply to those clients, too.
package compat

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

// Options configures an adapter.
type Options struct {
	Client *client.Client // calls the bridge; each caller's token replaces its own
	// Token returns the token with a secret.
	Token func(ctx context.Context, secret string) (token bridge.Token, known bool)
	// UntilRevoked returns a context that ends when the token with an id is revoked. It returns
	// false if the token is no longer valid.
	UntilRevoked func(ctx context.Context, id int64) (until context.Context, valid bool)
	// Receive stores a file of a body until it is closed. The file counts for the token tree.
	// declared is its size or a little more; negative if unknown. cut cancels the reading.
	Receive func(ctx context.Context, from io.Reader, declared, tree int64, cancel func()) (File, error)
	// Instance is the account's name in upstream APIs that name accounts.
	Instance string
	// DataDir is the directory of the bridge's files.
	DataDir string
	// PublicURLs are the public addresses of the bridge, if the operator has set any.
	PublicURLs []*url.URL
	// Memory limits what the calls of all adapters hold. If it is nil, the adapter has a limit of its
	// own.
	Memory *Memory
	// URLToken allows keys in URLs, if the upstream API does.
	URLToken bool
	Log      zerolog.Logger
}

// Upstream has the conventions of an upstream API.
type Upstream interface {
	// Key returns the token of a request, or "" if it has none.
	Key(r *http.Request) string
	// Check refuses a call that names another account than the bridge's.
	Check(c *Call) error
	// Refusal returns the answer for an error. The call is nil if its caller is not authenticated.
	Refusal(r *http.Request, c *Call, err *bridge.Error) (status int, body any)
}

// Adapter answers the clients of an upstream API.
type Adapter struct {
	options  Options
	upstream Upstream
	fields   map[string]Fields
}

// NewAdapter returns an adapter. fields has the upstream API's names of fields by a route's pattern.
func NewAdapter(o Options, upstream Upstream, fields map[string]Fields) *Adapter {
	if o.Memory == nil {
		o.Memory = NewMemory()
	}
	return &Adapter{o, upstream, fields}
}

// Memory limits the memory of calls. It is separate from the API's limit: a call that waits for the
// API would otherwise hold the memory that the API waits for.
type Memory struct {
	bodies front.Bodies
	lists  front.Answers
	pauses *intake.Quota
}

// NewMemory returns the limits for all adapters of a process.
func NewMemory() *Memory {
	return &Memory{front.NewBodies(), front.NewAnswers(front.ListsBytes), intake.NewQuota(intake.Divide(pausesBytes), pauseInterval, 1)}
}

// Route is a method and a path with their handler.
type Route struct {
	Pattern string
	Scope   bridge.Scope // required for every call; "" if none is
	Status  int          // of the answer
	Handle  Handler
	// File is the member of the body that may have a file in base64, with dots between names. If it is
	// empty, the body has no file.
	File string
}

// Handler handles a call. It returns a value to encode as JSON, or a *[List], a [Stream], or a
// *http.Response of the API that is passed on.
type Handler func(*Call) (any, error)

// Reading returns a handler that first reads the body, a JSON object.
func Reading[In any](handle func(*Call, In) (any, error)) Handler {
	return func(c *Call) (any, error) {
		var in In
		if err := c.Decode(&in); err != nil {
			return nil, err
		}
		return handle(c, in)
	}
}

// Handler returns the HTTP handler of a route.
func (a *Adapter) Handler(route Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call, done, err := a.admit(w, r, route)
		if err != nil {
			a.fail(w, r, nil, err)
			return
		}
		defer done()
		var answer any
		if err = a.upstream.Check(call); err == nil {
			answer, err = route.Handle(call)
		}
		if err == nil {
			err = a.answer(w, call, route.Status, answer)
		}
		if err != nil {
			a.fail(w, r, call, err)
		}
	}
}

// Open returns the handler of a route that needs no key.
func (a *Adapter) Open(body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, body) }
}

// Refuse returns the handler of paths without a route.
func (a *Adapter) Refuse(err func(*http.Request) error) http.HandlerFunc {
	return a.Handler(Route{Handle: func(c *Call) (any, error) { return nil, err(c.Request) }})
}

// admit authenticates a call and reads its body. It checks the token before the body takes memory.
func (a *Adapter) admit(w http.ResponseWriter, r *http.Request, route Route) (*Call, func(), error) {
	secret := a.upstream.Key(r)
	var token bridge.Token
	known := false
	if secret != "" {
		token, known = a.options.Token(r.Context(), secret)
	}
	switch {
	case !known:
		return nil, nil, bridge.Fail(bridge.CodeUnauthorized, "the key is missing or wrong: it is a token of the bridge")
	case route.Scope != "" && !token.Allows(route.Scope):
		return nil, nil, bridge.Fail(bridge.CodeForbidden, "this token lacks the scope %s", route.Scope)
	}
	call := &Call{Request: r, API: a.options.Client.WithToken(secret), Token: token, Fields: a.fields[route.Pattern], memory: a.options.Memory}
	var done func()
	var err error
	if route.File != "" {
		done, err = a.receive(w, call, route.File)
	} else {
		call.body, call.bodyRead, err = call.memory.bodies.ReadBody(w, r, token.Tree)
		done = call.bodyRead
	}
	return call, done, err
}
