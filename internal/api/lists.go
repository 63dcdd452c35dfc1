package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/answer"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// list is a page as JSON: the fields of head, the items under a name, the fields of tail.
type list[T any] struct {
	head  any
	name  string
	items []T
	tail  any
}

// pageTail ends a page, which may be shorter than its limit. HasMore is for callers that use
// offset.
type pageTail struct {
	NextCursor *string `json:"nextCursor"`
	HasMore    bool    `json:"hasMore"`
}

func tailOf[T any](page bridge.Page[T]) pageTail {
	return pageTail{page.NextCursor, page.NextCursor != nil}
}

type countHead struct {
	Count int `json:"count"`
}

// maxPage limits a page of most lists.
const maxPage = 500

func answerPage[Q, T any](in *input, name string, query Q, read func(context.Context, Q) (bridge.Page[T], error)) (any, error) {
	if in.err != nil {
		return nil, in.err
	}
	if err := in.reserve(); err != nil {
		return nil, err
	}
	page, err := read(in.ctx(), query)
	if err != nil {
		return nil, err
	}
	return answerList(in, list[T]{countHead{len(page.Items)}, name, page.Items, tailOf(page)})
}

// listPiece is how many bytes are buffered before they are written.
const listPiece = 128 << 10

// maxPooled bounds the buffers that are reused, in bytes.
const maxPooled = 4 * listPiece

// listBuffers holds buffers of lists for reuse.
var listBuffers = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, listPiece+listPiece/4)) }}

// answerList writes a page while it encodes it. On top of the memory that is reserved for the
// page, it buffers one piece and the element that exceeded it. If an element cannot be encoded,
// the answer is an error, or is aborted if a part of it was written.
func answerList[T any](in *input, l list[T]) (any, error) {
	head, errHead := bridge.EncodeJSON(l.head)
	tail, errTail := bridge.EncodeJSON(l.tail)
	if err := errors.Join(errHead, errTail); err != nil {
		return nil, err
	}
	buffer, hasBegun := listBuffers.Get().(*bytes.Buffer), false
	buffer.Reset()
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	buffer.Write(head[:len(head)-1])
	buffer.WriteString(`,"` + l.name + `":[`)
	for i := range l.items {
		if i > 0 {
			buffer.WriteByte(',')
		}
		if err := encodeItem(encoder, buffer, &l.items[i]); err != nil && hasBegun {
			in.fail(in.w, in.r, err) // only logs it, since the answer has begun
			panic(http.ErrAbortHandler)
		} else if err != nil {
			return nil, err
		}
		if buffer.Len() < listPiece {
			continue
		}
		if !hasBegun {
			front.BeginAnswer(in.w, http.StatusOK, "application/json", -1)
			hasBegun = true
		}
		if !in.writeList(buffer.Bytes()) {
			return nil, nil
		}
		buffer.Reset()
	}
	buffer.WriteString("],")
	buffer.Write(append(tail[1:], '\n'))
	if !hasBegun {
		front.BeginAnswer(in.w, http.StatusOK, "application/json", buffer.Len())
	}
	l.items = nil // the rest is the last piece
	in.memory.Shrink(int64(buffer.Cap()))
	in.writeList(buffer.Bytes())
	if buffer.Cap() <= maxPooled {
		listBuffers.Put(buffer)
	}
	return nil, nil
}

// writeList writes a piece of a list, and reports whether the caller still reads. If the memory of
// the list was reclaimed for other callers, it closes the connection, because half a list is not
// valid JSON.
func (q *input) writeList(piece []byte) (reads bool) {
	_, err := q.memory.Write(piece)
	if err == nil {
		return true
	}
	hlog.FromRequest(q.r).Debug().Err(err).Msg("the caller stopped reading the answer")
	if errors.Is(err, intake.ErrTooSlow) {
		panic(http.ErrAbortHandler)
	}
	return false
}

// encodeItem appends an element of a list to the buffer that the encoder writes to.
func encodeItem(encoder *json.Encoder, buffer *bytes.Buffer, item any) error {
	if m, ok := item.(*bridge.Message); ok {
		encoded, err := answer.AppendMessage(buffer.AvailableBuffer(), m)
		buffer.Write(encoded)
		return err
	}
	err := encoder.Encode(item)
	if err == nil {
		buffer.Truncate(buffer.Len() - 1) // the end of the line
	}
	return err
}
