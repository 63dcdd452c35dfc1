package intake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// MaxBody limits a body that is read into memory, in bytes.
const MaxBody = 1 << 20

const (
	// free bytes of a body are read without a quota: most are smaller, and the
	// connections bound their number.
	free = 512
	// patience and pace bound how slowly a body may come while others wait: an eighth of
	// its room within two seconds.
	patience = 2 * time.Second
)

// steps lists the sizes up to which a body has room, and the room of all bodies of that size.
// A body takes the next step once it has filled one, so that its room is at most eight times
// what has come; as it waits for the step above only, no two wait for each other.
var steps = [...]struct{ size, all int64 }{{16 << 10, 2 << 20}, {128 << 10, 2 << 20}, {MaxBody, 8 << 20}}

// Errors of [Bodies.Read].
var (
	ErrBodyTooLarge = errors.New("the body is too large")
	ErrCut          = errors.New("the body came too slowly while others waited")
)

// Bodies bounds the memory of the bodies that are in use.
type Bodies struct{ steps [len(steps)]*Quota }

// NewBodies returns the bound of all bodies of a process.
func NewBodies() *Bodies {
	b := new(Bodies)
	for i, step := range steps {
		b.steps[i] = NewQuota(Divide(step.all), patience, step.size/8)
	}
	return b
}

// Source says where a body comes from.
type Source struct {
	io.Reader
	Announced int64  // its length; negative for unknown
	Most      int64  // bytes, at most MaxBody
	Family    int64  // of its sender
	Cut       func() // ends the reading; see [Quota.Take]
	// Wait stops the time of the body, and Resume continues it; both may be nil.
	Wait, Resume func()
}

// Read reads a body to its end. Its room stays taken until done, which is never
// nil and may be called more than once. The errors are [ErrBodyTooLarge],
// [ErrCut], and those of ctx and of the source.
func (b *Bodies) Read(ctx context.Context, from Source) (body []byte, done func(), err error) {
	room := &room{bodies: b, from: from, limit: from.Most}
	if from.Announced > from.Most {
		return nil, func() {}, ErrBodyTooLarge
	}
	if from.Announced >= 0 {
		room.limit = from.Announced
	}
	body, err = room.fill(ctx)
	if err != nil {
		if room.grant.WasCut() {
			err = ErrCut
		}
		room.grant.Release()
		return nil, func() {}, err
	}
	return body, room.grant.Release, nil
}

// room holds the memory of one body.
type room struct {
	bodies *Bodies
	from   Source
	limit  int64 // what is expected
	grant  *Grant
}

// fill reads until the end.
func (r *room) fill(ctx context.Context) ([]byte, error) {
	body := make([]byte, 0, min(r.limit+1, free))
	for step := 0; ; {
		n, err := r.from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		r.grant.Came(n)
		switch {
		case r.grant.WasCut(): // the source may have set its own time since
			return nil, ErrCut
		case int64(len(body)) > r.limit:
			return nil, ErrBodyTooLarge
		case errors.Is(err, io.EOF):
			r.grant.Whole()
			return body, nil
		case err != nil:
			return nil, err
		case len(body) < cap(body):
			continue
		}
		if body, err = r.grow(ctx, step, body); err != nil {
			return nil, err
		}
		step++
	}
}

// grow moves a body that has filled its room to a step.
func (r *room) grow(ctx context.Context, step int, body []byte) ([]byte, error) {
	size := min(r.limit, steps[step].size)
	larger, err := r.take(ctx, r.bodies.steps[step], size)
	if err != nil {
		return nil, err
	}
	grown := append(make([]byte, 0, size+1), body...)
	r.grant.Release()
	r.grant = larger
	return grown, nil
}

// take waits for room, without the time of the body running.
func (r *room) take(ctx context.Context, quota *Quota, size int64) (*Grant, error) {
	r.grant.Whole()
	if r.from.Wait != nil {
		r.from.Wait()
		defer r.from.Resume()
	}
	return quota.Take(ctx, r.from.Family, size, r.from.Cut)
}

// ReadRequest reads a family's body of at most so many bytes, which must arrive within a
// time, without that of waiting for room.
func (b *Bodies) ReadRequest(w http.ResponseWriter, r *http.Request, family, most int64, within time.Duration) (body []byte, done func(), err error) {
	control, since := http.NewResponseController(w), time.Now()
	arriveBy := func(at time.Time) { _ = control.SetReadDeadline(at) } // without a connection there is no time
	if r.ContentLength != 0 {
		arriveBy(since.Add(within))
	}
	body, done, err = b.Read(r.Context(), Source{
		Reader: r.Body, Announced: r.ContentLength, Most: most, Family: family, Cut: CutOff(w, r.Body),
		Wait: func() {
			within -= time.Since(since)
			arriveBy(time.Time{})
		},
		Resume: func() {
			since = time.Now()
			arriveBy(since.Add(within))
		},
	})
	if err == nil {
		arriveBy(time.Time{}) // it would look like a caller that hung up
	}
	return body, done, err
}

// CutOff returns a function that ends the reading of a request's body, by the connection's
// deadline or by closing the body.
func CutOff(w http.ResponseWriter, body io.Closer) func() {
	return func() {
		if http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) != nil {
			_ = body.Close() // of a pipe in the process, whose other side gets the error
		}
	}
}
