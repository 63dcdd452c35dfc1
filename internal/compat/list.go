package compat

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// What memory holds of a list while it is answered, in bytes: a page of the API's.
const (
	MessagesBytes = bridge.PageBytes
	ItemsBytes    = 512 << 10 // of chats, people or groups
)

// MessagesPage is how many messages a list reads at a time.
const MessagesPage = 100

// List is an array in JSON that is written while it is read.
type List struct {
	Bytes int64 // that memory holds of it at a time
	Items iter.Seq2[any, error]
	// Head and Tail are the JSON before and after the array; Tail may be nil. It is called
	// after the last item.
	Head string
	Tail func() string
}

// Items lists the items of a part of a list: those that show returns, without the first
// skip ones, and at most take of them.
func Items[T any](all iter.Seq2[T, error], skip, take int, show func(T) (item any, isWanted bool)) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for one, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			item, isWanted := show(one)
			switch {
			case !isWanted:
			case skip > 0:
				skip--
			case take == 0 || !yield(item, nil):
				return
			default:
				take--
			}
			if take == 0 {
				return
			}
		}
	}
}

// Each lists what show returns for each item of a list.
func Each[T any](all iter.Seq2[T, error], show func(T) (any, error)) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for one, err := range all {
			var item any
			if err == nil {
				item, err = show(one)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// OKList returns a list with the status 200.
func OKList(size int64, items iter.Seq2[any, error]) (Answer, error) {
	return Answer{Status: http.StatusOK, List: &List{Bytes: size, Items: items}}, nil
}

// Reserve reserves memory for what a call reads of the API, within what all lists hold
// together.
func (c *Call) Reserve(size int64) (release func(), err error) {
	memory := c.door.options.Memory.lists.Answer(nil, c.Token.Family, 0)
	return memory.Release, memory.Reserve(c.Context(), size)
}

// list answers a list. It returns an error if nothing was written before it; after that the
// answer breaks off.
func (d *Door) list(w http.ResponseWriter, c *Call, answer Answer) error {
	out := &listWriter{w: w, status: answer.Status, memory: d.options.Memory.lists.Answer(w, c.Token.Family, front.AnswerTime)}
	if err := out.memory.Reserve(c.Context(), answer.List.Bytes); err != nil {
		return err
	}
	defer out.memory.Release()
	err := out.write(answer.List)
	if err != nil && out.hasBegun {
		hlog.FromRequest(c.Request).Warn().Str("error", bridge.Redact(err.Error())).Msg("an answer broke off")
		panic(http.ErrAbortHandler)
	}
	return err
}

// listWriter writes a list, piece by piece.
type listWriter struct {
	w        http.ResponseWriter
	status   int
	memory   *front.Memory
	hasBegun bool
	buffer   bytes.Buffer
}

func (o *listWriter) write(l *List) error {
	o.buffer.WriteString(l.Head + "[")
	isFirst := true
	for item, err := range l.Items {
		if err != nil {
			return err
		}
		encoded, err := bridge.EncodeJSON(item)
		if err != nil {
			return err
		}
		if !isFirst {
			o.buffer.WriteByte(',')
		}
		isFirst = false
		o.buffer.Write(bytes.TrimSpace(encoded))
		if o.buffer.Len() < front.ChunkBytes {
			continue
		}
		if err := o.flush(); err != nil {
			return err
		}
	}
	o.buffer.WriteByte(']')
	if l.Tail != nil {
		o.buffer.WriteString(l.Tail())
	}
	return o.flush()
}

// flush writes what is gathered. A caller that does not read it in time, while others wait
// for its reservation, is cut off.
func (o *listWriter) flush() error {
	if !o.hasBegun {
		front.SecureHeader(o.w.Header())
		o.w.Header().Set("Content-Type", "application/json; charset=utf-8")
		front.AnswerNow(o.w)
		o.w.WriteHeader(o.status)
		o.hasBegun = true
	}
	_, err := o.memory.Write(o.buffer.Bytes())
	o.buffer.Reset()
	return err
}

// pausesBytes bounds the bodies of calls that wait, which their own quota no longer counts.
const pausesBytes = 8 << 20

// pauseLook separates two looks of a call that waits for room; see [intake.NewQuota].
const pauseLook = 2 * time.Second

// Pause waits as a caller asks, with the body's reservation released: a body is not read
// after it. Calls that wait have a quota of their own, beyond which they are refused.
func (c *Call) Pause(d time.Duration) error {
	now, cancel := context.WithCancel(c.Context())
	cancel()
	reserved, err := c.door.options.Memory.pauses.Take(now, c.Token.Family, int64(len(c.body))+pauseBytes, func() {})
	if err != nil {
		return &bridge.Error{
			Code: bridge.CodeRateLimited, RetryAfter: time.Second, Msg: "too many calls wait for the delay that they ask for: send without delay, or try again in a second",
		}
	}
	defer reserved.Release()
	reserved.Whole()
	c.body = nil
	c.bodyRead()
	if !bridge.Sleep(c.Context(), d) {
		return c.Context().Err()
	}
	return nil
}

// pauseBytes is what a call that waits takes beside its body.
const pauseBytes = 16 << 10
