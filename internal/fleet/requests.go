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
	// mostRequests limits the requests under way; others are refused for a second.
	// mostUnknown of them may be without a known token.
	mostRequests = 64
	mostUnknown  = mostRequests / 4
	// answerMargin leaves room for a message's headers.
	answerMargin = 4 << 10
	// requestsMayEnd limits requests that are under way when the service stops.
	requestsMayEnd = 5 * time.Second
)

// requests passes requests from NATS to the API's router: the bearer in their headers
// decides what they may do.
type requests struct {
	*link
	door http.RoundTripper
	// family returns the family of the token with a secret.
	family func(ctx context.Context, secret string) (family int64, known bool)
	slots  chan struct{} // holds a token for each request under way
	// Of these, known and unknown count those of callers with and without a token.
	known, unknown *intake.Slots

	mu    sync.Mutex
	stats requestStats  // guarded by mu
	took  time.Duration // all answers together; guarded by mu
}

// requestStats are shown in the statistics of the endpoint: micro's own count a request
// as done as soon as it is begun.
type requestStats struct {
	Answers   map[string]int64 `json:"answers"` // by class of status, such as 2xx
	Refused   int64            `json:"refused"` // because too many were under way
	AverageMS float64          `json:"averageMs"`
}

func newRequests(l *link, api http.Handler, family func(context.Context, string) (int64, bool)) *requests {
	return &requests{
		link: l, door: client.Transport(api, "nats"), family: family,
		known: intake.NewSlots(intake.Divide(mostRequests - mostUnknown)), unknown: intake.NewSlots(intake.Shares{All: mostUnknown}),
		slots: make(chan struct{}, mostRequests), stats: requestStats{Answers: make(map[string]int64)},
	}
}

// semanticVersion matches the versions that micro permits.
var semanticVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// serve answers the account's requests until ctx ends. Those under way may end then.
func (r *requests) serve(ctx context.Context) error {
	working, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
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
	take := func(req micro.Request) { r.take(ctx, working, req.Data(), req.Reply()) }
	if err := service.AddEndpoint("api", micro.HandlerFunc(take), micro.WithEndpointSubject(r.options.Prefix+"."+r.account+".api")); err != nil {
		return errors.Join(err, service.Stop())
	}
	r.log.Info().Msg("requests are taken from NATS")
	<-ctx.Done()
	err = service.Stop()
	defer time.AfterFunc(requestsMayEnd, giveUp).Stop()
	for range mostRequests {
		r.slots <- struct{}{} // no request is begun any more
	}
	return err
}

// take begins to work on a request, if its caller has a slot. It does not wait: micro
// hands over one request after the other, so that one envelope is read at a time.
func (r *requests) take(serving, working context.Context, data []byte, reply string) {
	if !r.mayAnswer(reply) {
		return
	}
	select {
	case r.slots <- struct{}{}:
		if !r.begin(working, data, reply) {
			<-r.slots
			r.refuse(serving, reply)
		}
	default:
		r.refuse(serving, reply)
	}
}

// begin works on a request and then gives its slot back, unless its caller has as many as it
// may have.
func (r *requests) begin(ctx context.Context, data []byte, reply string) (hasBegun bool) {
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

// slotFor takes a slot for a request, within the quota of its token's family.
func (r *requests) slotFor(ctx context.Context, e *envelope) (release func(), isFree bool) {
	scheme, secret, _ := strings.Cut(e.header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		if family, known := r.family(ctx, strings.TrimSpace(secret)); known {
			return r.known.Take(family)
		}
	}
	return r.unknown.Take(intake.Operator) // who have all of these together
}

// refuse answers a request for which there is no slot.
func (r *requests) refuse(serving context.Context, reply string) {
	r.mu.Lock()
	r.stats.Refused++
	r.mu.Unlock()
	why := fmt.Sprintf("too many requests are under way, of %d in all, half of them for one token with those that it made: try again in a second", mostRequests)
	if serving.Err() != nil {
		why = "the bridge is stopping: try again when it is back"
	}
	a := refusal(bridge.Fail(CodeTooManyRequests, "%s", why))
	a.Headers["Retry-After"] = "1"
	r.respond(reply, a)
}

// mayAnswer reports whether an answer may go to a subject. Its caller chooses it, and
// this process has more permissions than callers, who could make it write events, keys
// and objects for them.
func (r *requests) mayAnswer(to string) bool {
	switch {
	case to == "":
		return false
	case strings.HasPrefix(to, "$"), strings.HasPrefix(to, r.options.Prefix+"."):
		r.log.Warn().Str("reply", bridge.Redact(to)).Msg("a request from NATS wants its answer where no inbox is: it is not worked on")
		return false
	}
	return true
}

// finish counts an answer, or the error instead of it, and sends it.
func (r *requests) finish(reply string, began time.Time, a *answer, err error) {
	if err != nil {
		if code := bridge.CodeOf(err); code == bridge.CodeInternal || code == CodeFilesUnavailable {
			r.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("a request from NATS failed")
		}
		a = refusal(err)
	}
	r.mu.Lock()
	r.stats.Answers[strconv.Itoa(a.Status/100)+"xx"]++
	r.took += time.Since(began)
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
		stats.AverageMS = float64(r.took.Microseconds()) / 1000 / float64(answered)
	}
	return stats
}

var errTimeout = bridge.Fail(CodeRequestTimeout, "the request took longer than its timeout; what it sends may still go out: repeat it with the same Idempotency-Key")

// answer passes a request through the API's router.
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
		return r.pass(ctx, e, nil)
	}
	file, err := files{r.link}.get(ctx, e.File.Name)
	if err != nil {
		return nil, err
	}
	defer file.content.Stop()
	a, err := r.pass(ctx, e, file)
	if failure := file.failure.Load(); failure != nil {
		return nil, failure // which the API takes for the caller's fault
	}
	return a, err
}

// pass passes a request to the router, and packs its answer for one message. A body
// that does not fit becomes an object.
func (r *requests) pass(ctx context.Context, e *envelope, file *storedFile) (*answer, error) {
	req, err := e.request(ctx, file)
	if err != nil {
		return nil, err
	}
	resp, err := r.door.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := answerOf(resp)
	limit := int(r.nc.MaxPayload()) - answerMargin
	begun, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err != nil || len(begun) <= limit && a.fits(begun, limit) {
		return a, err
	}
	a.File, err = files{r.link}.put(ctx, io.MultiReader(bytes.NewReader(begun), resp.Body))
	return a, err
}

// respond sends an answer. Refusals of this door carry the headers by which
// micro's clients know errors.
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
		r.log.Warn().Err(err).Msg("an answer did not reach NATS")
	}
}
