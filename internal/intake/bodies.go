package intake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// MaxBody limits a body that is read into memory, in bytes.
	MaxBody = 1 << 20
	// MaxLargeBody limits a body with a file in base64, in bytes.
	MaxLargeBody = 44 << 20
)

const (
	// unreserved is the number of bytes of a body that are read without a quota. Most bodies are smaller, and the number of
	// connections limits their sum.
	unreserved = 512
	// timeout and maxPace define how slowly a body may arrive while others wait: an eighth of its
	// step within two seconds, and never more than 128 KiB.
	timeout = 2 * time.Second
	maxPace = 128 << 10
)

// steps lists the sizes of a body's reservation, and the quota of all bodies with that size. A
// body moves to the next step when it has filled its reservation, so that a reservation is at
// most eight times the received bytes, except in the last step. A body only waits for the step above
// its own, so no two bodies wait for each other. The last step has space for two bodies.
var steps = [...]struct{ size, all int64 }{
	{16 << 10, 2 << 20}, {128 << 10, 2 << 20}, {MaxBody, 8 << 20}, {MaxLargeBody, 2 * MaxLargeBody},
}

// These are errors of [Bodies.Read].
var (
	ErrBodyTooLarge = errors.New("the body is too large")
	ErrTooSlow      = errors.New("the body arrived too slowly while others waited")
)

// Bodies limits the memory of the bodies that are in use.
type Bodies struct{ steps [len(steps)]*Quota }

// NewBodies returns the limit for all bodies of a process.
func NewBodies() *Bodies {
	b := new(Bodies)
	for i, step := range steps {
		b.steps[i] = NewQuota(Divide(step.all), timeout, min(step.size/8, maxPace))
	}
	return b
}

// Source describes a body to read.
type Source struct {
	io.Reader
	Declared int64  // its Content-Length; negative if unknown
	Most     int64  // limit in bytes, up to MaxLargeBody
	Tree     int64  // token tree of the sender
	Cancel   func() // cancels the reading; see [Quota.Take]
	// Wait stops the body's time limit, and Resume continues it. Both may be nil.
	Wait, Resume func()
}

// Read reads a body to its end. Its reservation must be released; it is nil for a short body. The
// errors are [ErrBodyTooLarge], [ErrTooSlow], and the errors of ctx and the source.
func (b *Bodies) Read(ctx context.Context, from Source) (body []byte, reserved *Reservation, err error) {
	reader := &bodyReader{bodies: b, from: from, limit: from.Most}
	if from.Declared > from.Most {
		return nil, nil, ErrBodyTooLarge
	}
	if from.Declared >= 0 {
		reader.limit = from.Declared
	}
	body, err = reader.fill(ctx)
	if err != nil {
		if reader.reserved.WasCancelled() {
			err = ErrTooSlow
		}
		reader.reserved.Release()
		return nil, nil, err
	}
	return body, reader.reserved, nil
}

// bodyReader reads one body.
type bodyReader struct {
	bodies   *Bodies
	from     Source
	limit    int64 // expected bytes
	reserved *Reservation
}

// fill reads to the end.
func (r *bodyReader) fill(ctx context.Context) ([]byte, error) {
	body := make([]byte, 0, min(r.limit+1, unreserved))
	for step := 0; ; {
		n, err := r.from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		r.reserved.Received(n)
		switch {
		case r.reserved.WasCancelled(): // the source may have set its own deadline since
			return nil, ErrTooSlow
		case int64(len(body)) > r.limit:
			return nil, ErrBodyTooLarge
		case errors.Is(err, io.EOF):
			r.reserved.Complete()
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

// grow moves a body that has filled its reservation to a step.
func (r *bodyReader) grow(ctx context.Context, step int, body []byte) ([]byte, error) {
	size := min(r.limit, steps[step].size)
	larger, err := r.take(ctx, r.bodies.steps[step], size)
	if err != nil {
		return nil, err
	}
	grown := append(make([]byte, 0, size+1), body...)
	r.reserved.Release()
	r.reserved = larger
	return grown, nil
}

// take waits for a reservation. The body's time limit does not run while it waits.
func (r *bodyReader) take(ctx context.Context, quota *Quota, size int64) (*Reservation, error) {
	r.reserved.Complete()
	if r.from.Wait != nil {
		r.from.Wait()
		defer r.from.Resume()
	}
	return quota.Take(ctx, r.from.Tree, size, r.from.Cancel)
}

// ReadRequest reads a body of at most most bytes for a token tree. The body must arrive within a
// time, not counting the wait for a reservation.
func (b *Bodies) ReadRequest(w http.ResponseWriter, r *http.Request, tree, most int64, within time.Duration) (body []byte, done func(), err error) {
	control, since := http.NewResponseController(w), time.Now()
	arriveBy := func(at time.Time) { _ = control.SetReadDeadline(at) } // a request without a connection has no deadline
	if r.ContentLength != 0 {
		arriveBy(since.Add(within))
	}
	body, reserved, err := b.Read(r.Context(), Source{
		Reader: r.Body, Declared: r.ContentLength, Most: most, Tree: tree, Cancel: CancelBody(w, r.Body),
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
		arriveBy(time.Time{}) // an expired deadline would look like a caller that hung up
	}
	return body, reserved.Release, err
}

// CancelBody returns a function that cancels the reading of a request's body, with the connection's
// deadline or by closing the body.
func CancelBody(w http.ResponseWriter, body io.Closer) func() {
	return func() {
		if http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) != nil {
			_ = body.Close() // of a pipe within the process; the other side gets the error
		}
	}
}
