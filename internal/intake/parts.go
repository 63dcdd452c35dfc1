package intake

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
)

// maxPartHeader limits the header of a part, in bytes. mime/multipart accepts 10 MB.
const maxPartHeader = 32 << 10

// ErrPartHeader means that the header of a part is too large.
var ErrPartHeader = errors.New("the header of a part of the form is too large")

// Parts reads the parts of a form (RFC 7578) with limited headers.
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

// Next returns the next part, or io.EOF. The previous part must have been read to its end.
func (p *Parts) Next() (*multipart.Part, error) {
	p.body.inHeader, p.body.left = true, maxPartHeader
	part, err := p.parts.NextPart()
	p.body.inHeader = false
	return part, err
}

// partBody limits how much is read for a header.
type partBody struct {
	io.ReadCloser
	inHeader bool
	left     int
}

func (b *partBody) Read(p []byte) (int, error) {
	if !b.inHeader {
		return b.ReadCloser.Read(p)
	}
	if b.left == 0 {
		return 0, ErrPartHeader
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
