package fleet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const (
	// mostRequests are worked on at once; others are refused for a second.
	mostRequests = 64
	// answerMargin is what a message needs beside its data.
	answerMargin = 4 << 10
	// requestsMayEnd is how long requests have after the service has stopped.
	requestsMayEnd = 5 * time.Second
)

// requests takes requests from NATS through the API's router, and nothing past
// it: the bearer of their headers decides what they may do.
type requests struct {
	door    http.RoundTripper
	files   *files
	events  string // the stream that has what no answer can
	own     string // what all subjects of the fleet begin with
	version string
	log     zerolog.Logger
	slots   chan struct{} // has a token for each request under way
	stats   requestStats

	mu       sync.Mutex
	ended    bool // no request is begun any more; guarded by mu
	underWay sync.WaitGroup
}

func newRequests(o Options, api http.Handler, js jetstream.JetStream, log zerolog.Logger) *requests {
	return &requests{
		door: client.Transport(api, "nats"), files: newFiles(js, o.Prefix, o.Stream.Replicas), events: streamName(o.Prefix, "EVENTS"),
		own: o.Prefix + ".", version: o.Version, log: log, slots: make(chan struct{}, mostRequests),
	}
}

// serve answers an account's requests until ctx ends. Those under way may end
// then.
func (r *requests) serve(ctx context.Context, nc *nats.Conn, subject, account string) error {
	working, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	service, err := micro.AddService(nc, micro.Config{
		Name: "bridged", Version: semantic(r.version), Description: "The HTTP API of one WhatsApp account",
		Metadata:     map[string]string{"account": account, "version": r.version},
		StatsHandler: func(*micro.Endpoint) any { return r.stats.read() },
	})
	if err != nil {
		return err
	}
	err = service.AddEndpoint("api", micro.HandlerFunc(func(req micro.Request) { r.take(working, nc, req) }), micro.WithEndpointSubject(subject))
	if err != nil {
		return errors.Join(err, service.Stop())
	}
	r.log.Info().Msg("requests are taken from NATS")
	<-ctx.Done()
	err = service.Stop()
	r.end(giveUp)
	return err
}

// end begins nothing any more, and waits for what is under way.
func (r *requests) end(giveUp func()) {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	timer := time.AfterFunc(requestsMayEnd, giveUp)
	defer timer.Stop()
	r.underWay.Wait()
}

// begin reports whether a request may be worked on, which done ends.
func (r *requests) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return bridge.Fail(CodeTooManyRequests, "this process has just stopped taking requests: try again in a second")
	}
	select {
	case r.slots <- struct{}{}:
		r.underWay.Add(1)
		return nil
	default:
		return bridge.Fail(CodeTooManyRequests, "%d requests are under way: try again in a second", mostRequests)
	}
}

func (r *requests) done() {
	<-r.slots
	r.underWay.Done()
}

// take begins to work on a request, if there is room. It does not wait: micro
// hands over one request after the other.
func (r *requests) take(ctx context.Context, nc *nats.Conn, req micro.Request) {
	if !r.mayAnswer(req.Reply()) {
		return
	}
	if err := r.begin(); err != nil {
		r.stats.busy.Add(1)
		a := refusal(err)
		a.Headers["Retry-After"] = "1"
		r.respond(nc, req.Reply(), a, nil)
		return
	}
	go func() {
		defer r.done()
		r.work(ctx, nc, req.Data(), req.Reply())
	}()
}

// mayAnswer reports whether an answer may go to a subject. Its caller chooses it, and
// this process is permitted more than callers are: whoever may only ask would have it
// write events, keys and objects.
func (r *requests) mayAnswer(to string) bool {
	switch {
	case to == "": // nobody would read it
		return false
	case strings.HasPrefix(to, "$"), strings.HasPrefix(to, r.own):
		r.log.Warn().Str("reply", bridge.Redact(to)).Msg("a request from NATS wants its answer where no inbox is: it is not worked on")
		return false
	}
	return true
}

// work answers one request.
func (r *requests) work(ctx context.Context, nc *nats.Conn, data []byte, reply string) {
	began := time.Now()
	a, message, err := r.answer(ctx, data, int(nc.MaxPayload())-answerMargin)
	if err != nil {
		r.logFailure(err)
		a, message = refusal(err), nil
	}
	r.stats.note(a.Status, time.Since(began))
	r.respond(nc, reply, a, message)
}

// answer passes a request through the API's router, and returns its answer as
// the message that fits.
func (r *requests) answer(ctx context.Context, data []byte, limit int) (*answer, []byte, error) {
	e, err := readEnvelope(data)
	if err != nil {
		return nil, nil, err
	}
	if err := e.refuse(r.events); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout, errTimeout)
	defer cancel()
	a, message, err := r.call(ctx, e, limit)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return nil, nil, errTimeout
	}
	return a, message, err
}

var errTimeout = bridge.Fail(CodeRequestTimeout, "the request took longer than its timeout; what it sends may still go out: repeat it with the same Idempotency-Key")

func (r *requests) call(ctx context.Context, e *envelope, limit int) (*answer, []byte, error) {
	if e.file == nil {
		return r.pass(ctx, e, nil, limit)
	}
	file, err := r.files.get(ctx, e.file.object)
	if err != nil {
		return nil, nil, err
	}
	defer file.close()
	a, message, err := r.pass(ctx, e, file, limit)
	if failure := file.failure(); failure != nil {
		return nil, nil, failure // and not the caller's fault, which the API takes it for
	}
	return a, message, err
}

// pass passes a request to the router, with the file of a form; nil for none.
func (r *requests) pass(ctx context.Context, e *envelope, file io.Reader, limit int) (*answer, []byte, error) {
	req, err := e.request(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	resp, err := r.door.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	return r.pack(ctx, resp, limit)
}

// pack returns an answer as a message. A body that does not fit becomes an object.
func (r *requests) pack(ctx context.Context, resp *http.Response, limit int) (*answer, []byte, error) {
	a := answerOf(resp)
	message, begun, err := a.within(limit, resp.Body)
	if err != nil || message != nil {
		return a, message, err
	}
	if a.File, err = r.files.put(ctx, io.MultiReader(bytes.NewReader(begun), resp.Body)); err != nil {
		return nil, nil, err
	}
	message, err = bridge.EncodeJSON(a)
	return a, message, err
}

// respond sends an answer. Refusals of this door carry the headers by which
// micro's clients know errors.
func (r *requests) respond(nc *nats.Conn, to string, a *answer, message []byte) {
	msg := nats.NewMsg(to)
	if msg.Data = message; message == nil {
		encoded, err := bridge.EncodeJSON(a)
		if err != nil {
			panic("fleet: an answer cannot be encoded: " + err.Error())
		}
		msg.Data = encoded
	}
	if a.code != "" {
		msg.Header.Set(micro.ErrorCodeHeader, strconv.Itoa(a.Status))
		msg.Header.Set(micro.ErrorHeader, string(a.code))
	}
	if err := nc.PublishMsg(msg); err != nil {
		r.log.Warn().Err(err).Msg("an answer did not reach NATS")
	}
}

// logFailure logs what is the service's fault, not the caller's.
func (r *requests) logFailure(err error) {
	if code := bridge.CodeOf(err); code == bridge.CodeInternal || code == CodeFilesUnavailable {
		r.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("a request from NATS failed")
	}
}
