package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

const (
	// mostRequests is the number of requests that are processed at once; more are refused and can
	// be repeated after a second. At most mostUnknown of them may be without a valid token.
	mostRequests = 64
	mostUnknown  = mostRequests / 4
	// answerMargin is reserved for a message's headers.
	answerMargin = 4 << 10
	// requestsMayEnd is how long requests may continue after the service stops.
	requestsMayEnd = 5 * time.Second
)

// requests passes requests from NATS to the API's router. The bearer token in their headers
// decides which requests are allowed.
type requests struct {
	*link
	transport http.RoundTripper
	// tree returns the id of the token tree of a token's secret.
	tree  func(ctx context.Context, secret string) (tree int64, known bool)
	slots chan struct{} // a semaphore with an element for each running request
	// known and unknown are the quotas of callers with and without a valid token.
	known, unknown *intake.Slots

	mu        sync.Mutex
	stats     requestStats  // guarded by mu
	totalTime time.Duration // of all answers; guarded by mu
}

// requestStats are shown in the statistics of the endpoint. micro's own statistics count a
// request as done when its processing starts.
type requestStats struct {
	Answers   map[string]int64 `json:"answers"` // by class of status, such as 2xx
	Refused   int64            `json:"refused"` // because too many were running
	AverageMS float64          `json:"averageMs"`
}

func newRequests(l *link, api http.Handler, tree func(context.Context, string) (int64, bool)) *requests {
	return &requests{
		link: l, transport: client.Transport(api, "nats"), tree: tree,
		known: intake.NewSlots(intake.Divide(mostRequests - mostUnknown)), unknown: intake.NewSlots(intake.Quotas{All: mostUnknown}),
		slots: make(chan struct{}, mostRequests), stats: requestStats{Answers: make(map[string]int64)},
	}
}

// semanticVersion matches the versions that micro accepts.
var semanticVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// serve answers the account's requests until ctx ends. Running requests may finish within
// requestsMayEnd.
func (r *requests) serve(ctx context.Context) error {
	working, abort := context.WithCancel(bridge.WithEntrance(context.WithoutCancel(ctx), bridge.EntranceNATS))
	defer abort()
	version := strings.TrimPrefix(r.options.Version, "v")
	if !semanticVersion.MatchString(version) {
		version = "0.0.0"
	}
	service, err := micro.AddService(r.nc, micro.Config{
		Name: "bridged", Version: version, Description: "The HTTP API of one WhatsApp account",
		Metadata:     map[string]string{"account": r.account, "version": r.options.Version},
		StatsHandler: func(*micro.Endpoint) any { return r.readStats() },
	})
	if err != nil {
		return err
	}
	accept := func(req micro.Request) { r.accept(ctx, working, req.Data(), req.Reply()) }
	if err := service.AddEndpoint("api", micro.HandlerFunc(accept), micro.WithEndpointSubject(r.options.Prefix+"."+r.account+".api")); err != nil {
		return errors.Join(err, service.Stop())
	}
	r.log.Info().Msg("serving requests from NATS")
	<-ctx.Done()
	err = service.Stop()
	defer time.AfterFunc(requestsMayEnd, abort).Stop()
	for range mostRequests {
		r.slots <- struct{}{} // waits for the running requests; no new ones start
	}
	return err
}

// accept starts to process a request if there is a slot for its caller. It never waits, because
// micro delivers one request after the other; so only one envelope is parsed at a time.
func (r *requests) accept(serving, working context.Context, data []byte, reply string) {
	if !r.mayAnswer(reply) {
		return
	}
	select {
	case r.slots <- struct{}{}:
		if !r.start(working, data, reply) {
			<-r.slots
			r.refuse(serving, reply)
		}
	default:
		r.refuse(serving, reply)
	}
}

// start processes a request and then frees its slot. It returns false if the caller's quota is
// used up.
func (r *requests) start(ctx context.Context, data []byte, reply string) (hasBegun bool) {
	began := time.Now()
	e, err := readEnvelope(data)
	if err != nil {
		r.finish(reply, began, nil, err)
		<-r.slots
		return true
	}
	release, isFree := r.slotFor(ctx, e)
	if !isFree {
		return false
	}
	go func() {
		defer func() { release(); <-r.slots }()
		a, err := r.answer(ctx, e)
		r.finish(reply, began, a, err)
	}()
	return true
}

// slotFor takes a slot within the quota of the request's token tree.
func (r *requests) slotFor(ctx context.Context, e *envelope) (release func(), isFree bool) {
	if secret, ok := bridge.Bearer(e.header.Get("Authorization")); ok {
		if tree, known := r.tree(ctx, secret); known {
			return r.known.Take(tree)
		}
	}
	return r.unknown.Take(intake.Operator) // all callers without a token share this quota
}

// refuse answers a request that gets no slot.
func (r *requests) refuse(serving context.Context, reply string) {
	r.mu.Lock()
	r.stats.Refused++
	r.mu.Unlock()
	why := fmt.Sprintf("too many requests are running (at most %d, and half of them for one token and the tokens it created): try again in a second", mostRequests)
	if serving.Err() != nil {
		why = "the bridge is stopping: try again after its restart"
	}
	a := refusal(bridge.Fail(CodeTooManyRequests, "%s", why))
	a.Headers["Retry-After"] = "1"
	r.respond(reply, a)
}

// mayAnswer reports whether an answer may be sent to a subject. The caller chooses the subject,
// and this process has more permissions than callers: with the subject of an event, a key or an
// object, a caller could make it write one.
func (r *requests) mayAnswer(to string) bool {
	switch {
	case to == "":
		return false
	case strings.HasPrefix(to, "$"), strings.HasPrefix(to, r.options.Prefix+"."):
		r.log.Warn().Str("reply", bridge.Redact(to)).Msg("ignoring a request from NATS: its reply subject is not an inbox")
		return false
	}
	return true
}

// finish counts and sends an answer, or the answer for an error.
func (r *requests) finish(reply string, began time.Time, a *answer, err error) {
	if err != nil {
		if code := bridge.CodeOf(err); code == bridge.CodeInternal || code == CodeFilesUnavailable {
			r.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("a request from NATS failed")
		}
		a = refusal(err)
	}
	r.mu.Lock()
	r.stats.Answers[strconv.Itoa(a.Status/100)+"xx"]++
	r.totalTime += time.Since(began)
	r.mu.Unlock()
	r.respond(reply, a)
}

func (r *requests) readStats() requestStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats, answered := r.stats, int64(0)
	stats.Answers = maps.Clone(stats.Answers)
	for _, n := range stats.Answers {
		answered += n
	}
	if answered > 0 {
		stats.AverageMS = float64(r.totalTime.Microseconds()) / 1000 / float64(answered)
	}
	return stats
}

var errTimeout = bridge.Fail(CodeRequestTimeout, "the request took longer than its timeout; a message of it may still be sent: repeat the request with the same Idempotency-Key")

// answer passes a request through the API's router, with its timeout.
func (r *requests) answer(ctx context.Context, e *envelope) (*answer, error) {
	if err := e.refuse(streamName(r.options.Prefix, "EVENTS")); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout, errTimeout)
	defer cancel()
	a, err := r.call(ctx, e)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return nil, errTimeout
	}
	return a, err
}

// call passes a request to the router, with the file of its form.
func (r *requests) call(ctx context.Context, e *envelope) (*answer, error) {
	if e.File == nil {
		return r.roundTrip(ctx, e, nil)
	}
	file, err := files{r.link}.get(ctx, e.File.Name)
	if err != nil {
		return nil, err
	}
	defer file.content.Stop()
	a, err := r.roundTrip(ctx, e, file)
	if failure := file.failure.Load(); failure != nil {
		return nil, failure // the API would report it as the caller's fault
	}
	return a, err
}

// roundTrip passes a request to the router and reads its answer. A body that is too large for a
// message is stored as an object.
func (r *requests) roundTrip(ctx context.Context, e *envelope, file *storedFile) (*answer, error) {
	req, err := e.request(ctx, file)
	if err != nil {
		return nil, err
	}
	resp, err := r.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := newAnswer(resp)
	limit := int(r.nc.MaxPayload()) - answerMargin
	head, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err != nil || len(head) <= limit && a.fits(head, limit) {
		return a, err
	}
	a.File, err = files{r.link}.put(ctx, io.MultiReader(bytes.NewReader(head), resp.Body))
	return a, err
}

// respond sends an answer. Errors from before the API carry the headers by which micro's clients
// recognise errors.
func (r *requests) respond(to string, a *answer) {
	msg := nats.NewMsg(to)
	if msg.Data = a.message; msg.Data == nil {
		msg.Data = encoded(a)
	}
	if a.code != "" {
		msg.Header.Set(micro.ErrorCodeHeader, strconv.Itoa(a.Status))
		msg.Header.Set(micro.ErrorHeader, string(a.code))
	}
	if err := r.nc.PublishMsg(msg); err != nil {
		r.log.Warn().Err(err).Msg("cannot send an answer over NATS")
	}
}
