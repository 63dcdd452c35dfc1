package compat

import (
	"bytes"
	"iter"
	"net/http"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// The memory that a list takes while it is answered, in bytes: one page of the API.
const (
	MessagesBytes = bridge.PageBytes
	ItemsBytes    = 512 << 10 // of chats, people or groups
)

// MessagesPage is how many messages a list reads at a time.
const MessagesPage = 100

// List is a JSON array that is written while its items are read.
type List struct {
	Bytes int64 // memory that it takes
	Items iter.Seq2[any, error]
	// Head and Tail are the JSON before and after the array. Tail may be nil, and is called after the
	// last item.
	Head string
	Tail func() string
}

// Items returns the items that show accepts, at most take of them, without the first skip ones.
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

// Each returns the results of show for each item.
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

// Reserve reserves memory for what a call reads from the API, in the quota of all lists.
func (c *Call) Reserve(size int64) (release func(), err error) {
	memory := c.memory.lists.Answer(nil, c.Token.Tree, 0)
	return memory.Release, memory.Reserve(c.Context(), size)
}

// list answers a list. It returns an error only if nothing was written.
func (a *Adapter) list(w http.ResponseWriter, c *Call, status int, list *List) error {
	out := &listWriter{w: w, status: status, memory: c.memory.lists.Answer(w, c.Token.Tree, front.AnswerTimeout)}
	if err := out.memory.Reserve(c.Context(), list.Bytes); err != nil {
		return err
	}
	defer out.memory.Release()
	err := out.write(list)
	if out.hasBegun {
		closeUnfinished(c.Request, err)
	}
	return err
}

// listWriter writes a list in chunks.
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

// flush writes the buffer. A caller that reads too slowly while others wait for its reservation is
// disconnected.
func (o *listWriter) flush() error {
	if !o.hasBegun {
		begin(o.w, o.status)
		o.hasBegun = true
	}
	_, err := o.memory.Write(o.buffer.Bytes())
	o.buffer.Reset()
	return err
}
