package api

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// list is the answer of a route with pages: an object with the fields of head, the
// items under a name, and the fields of tail.
type list[T any] struct {
	head  any
	name  string
	items []T
	item  func(dst []byte, item *T) ([]byte, error) // appends one as JSON
	tail  any
}

// pageTail ends a page. HasMore is for those who continue by offset, behind the
// count that this page has: a page may be shorter than its limit.
type pageTail struct {
	NextCursor *string `json:"nextCursor"`
	HasMore    bool    `json:"hasMore"`
}

func tailOf[T any](page bridge.Page[T]) pageTail {
	return pageTail{page.NextCursor, page.NextCursor != nil}
}

// countHead is the head of a list that tells nothing but how many items it has.
type countHead struct {
	Count int `json:"count"`
}

// maxPage is the size of the largest page of most lists.
const maxPage = 500

// answerPage answers a page whose items encoding/json writes, or the error of reading it.
func answerPage[T any](in *input, name string, page bridge.Page[T], err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return answerList(in, list[T]{countHead{len(page.Items)}, name, page.Items, appendAny[T], tailOf(page)})
}

func appendAny[T any](dst []byte, item *T) ([]byte, error) {
	text, err := bridge.EncodeJSON(item)
	return append(dst, text...), err
}

// answerList writes a page as it is encoded, a piece at a time. One that cannot be
// encoded to its end is answered with an error, or broken off where it has begun.
func answerList[T any](in *input, l list[T]) (any, error) {
	out := newListWriter(in.w, in.r)
	defer out.release()
	err := out.list(l.head, l.name, l.tail, len(l.items), func(dst []byte, i int) ([]byte, error) {
		return l.item(dst, &l.items[i])
	})
	if err != nil && begun(in.w) {
		in.s.fail(in.w, in.r, err) // which only logs it by now
		panic(http.ErrAbortHandler)
	}
	return nil, err
}

// listPiece is how many bytes of a list are gathered before they are written.
const listPiece = 64 << 10

// listBuffers holds the buffers of lists that have been answered.
var listBuffers = sync.Pool{New: func() any { b := make([]byte, 0, listPiece+listPiece/4); return &b }}

// maxPooled bounds a buffer that is used again, in bytes: one long message makes
// it grow.
const maxPooled = 4 * listPiece

// listWriter writes a list to a caller. It holds one piece, and the element that
// did not fit into it.
type listWriter struct {
	w      http.ResponseWriter
	r      *http.Request
	buffer *[]byte
	begun  bool
	unread error // the caller does not read
}

func newListWriter(w http.ResponseWriter, r *http.Request) *listWriter {
	return &listWriter{w: w, r: r, buffer: listBuffers.Get().(*[]byte)}
}

func (l *listWriter) release() {
	if cap(*l.buffer) <= maxPooled {
		*l.buffer = (*l.buffer)[:0]
		listBuffers.Put(l.buffer)
	}
}

// list writes the whole object. An item appends itself by its number.
func (l *listWriter) list(head any, name string, tail any, items int, item func([]byte, int) ([]byte, error)) error {
	first, err := bridge.EncodeJSON(head)
	if err != nil {
		return err
	}
	last, err := bridge.EncodeJSON(tail)
	if err != nil {
		return err
	}
	dst := append((*l.buffer)[:0], first[:len(first)-1]...)
	dst = append(dst, `,"`+name+`":[`...)
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = item(dst, i); err != nil {
			return err
		}
		if len(dst) >= listPiece {
			dst = l.write(dst)
		}
		if l.unread != nil {
			break
		}
	}
	dst = append(append(append(dst, `],`...), last[1:]...), '\n')
	*l.buffer = dst
	l.end(dst)
	return nil
}

// write sends a piece, and returns an empty buffer.
func (l *listWriter) write(piece []byte) []byte {
	l.begin(-1)
	if l.unread == nil {
		_, l.unread = l.w.Write(piece)
	}
	return piece[:0]
}

// end sends what is left. An answer of one piece says how long it is.
func (l *listWriter) end(rest []byte) {
	l.begin(len(rest))
	if l.unread == nil {
		_, l.unread = l.w.Write(rest)
	}
	if l.unread != nil {
		hlog.FromRequest(l.r).Debug().Err(l.unread).Msg("answer not read")
	}
}

// begin writes the head of the answer, once, and starts the time in which all of
// it must be read.
func (l *listWriter) begin(length int) {
	if l.begun {
		return
	}
	l.begun = true
	l.w.Header().Set("Content-Type", "application/json")
	if length >= 0 {
		l.w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	front.AnswerNow(l.w)
	l.w.WriteHeader(http.StatusOK)
}
