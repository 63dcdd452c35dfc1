package intake

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
)

// maxPartHead bounds the head of a part. mime/multipart takes 10 MB.
const maxPartHead = 32 << 10

// ErrPartHead reports a part with too large a head.
var ErrPartHead = errors.New("the head of a part of the form is too large")

// Parts reads the parts of a form (RFC 7578), with bounded heads.
type Parts struct {
	parts *multipart.Reader
	body  *partBody
}

// NewParts returns the parts of a request's form.
func NewParts(r *http.Request) (*Parts, error) {
	body := &partBody{ReadCloser: r.Body}
	r.Body = body
	parts, err := r.MultipartReader()
	return &Parts{parts, body}, err
}

// Next returns the next part, once the one before was read to its end, or io.EOF.
func (p *Parts) Next() (*multipart.Part, error) {
	p.body.isHead, p.body.left = true, maxPartHead
	part, err := p.parts.NextPart()
	p.body.isHead = false
	return part, err
}

// partBody bounds how much is read for a head.
type partBody struct {
	io.ReadCloser
	isHead bool
	left   int
}

func (b *partBody) Read(p []byte) (int, error) {
	if !b.isHead {
		return b.ReadCloser.Read(p)
	}
	if b.left == 0 {
		return 0, ErrPartHead
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
