package frame

import (
	"cmp"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"

	"bridged/internal/api/front"
	"bridged/internal/intake"
)

const (
	maxField  = 256 << 10 // bytes of the fields of a form with a file, each and together
	maxFields = 8         // parts of a form before its file, in addition to two of each name
)

// ErrNoFile refuses a form without its file.
var ErrNoFile = Titled(http.StatusBadRequest, "No file selected", "Choose a file, then send it.")

// File is a file of a form. It is read while it arrives; each piece has [front.BodyTimeout].
type File struct {
	*multipart.Part
	w     http.ResponseWriter
	parts *intake.Parts
}

// Read implements [io.Reader].
func (f File) Read(p []byte) (int, error) {
	front.SetDeadline(http.NewResponseController(f.w).SetReadDeadline, front.BodyTimeout)
	n, err := f.Part.Read(p)
	if errors.Is(err, io.EOF) {
		front.BodyRead(f.w)
	}
	return n, err
}

// Next returns the file that follows this one, which must have been read to its end. It returns [ErrNoFile] if none
// follows.
func (f File) Next() (File, error) {
	front.SetDeadline(http.NewResponseController(f.w).SetReadDeadline, front.BodyTimeout)
	part, err := f.parts.Next()
	if err != nil || part.FormName() != "file" {
		return File{}, ErrNoFile
	}
	return File{part, f.w, f.parts}, nil
}

// FileForm reads the named fields of a form of this session. The file follows them.
func (req *Request) FileForm(names ...string) (fields url.Values, file File, err error) {
	front.StartBody(req.W, req.Request)
	fields, file, err = req.beforeFile(append(names, "csrf"))
	if err == nil && !req.session.owns(cmp.Or(req.Header.Get("X-CSRF-Token"), fields.Get("csrf"))) {
		err = ErrOutdated
	}
	return fields, file, err
}

// beforeFile reads the named fields of a form up to its file.
func (req *Request) beforeFile(names []string) (fields url.Values, file File, err error) {
	cancel := intake.CancelBody(req.W, req.Body)
	parts, err := intake.NewParts(req.Request)
	if err != nil {
		return nil, File{}, ErrNoFile
	}
	fields, size := make(url.Values), 0
	for range maxFields + 2*len(names) {
		part, err := parts.Next()
		if err != nil {
			return nil, File{}, ErrNoFile
		}
		switch name := part.FormName(); {
		case name == "file":
			return fields, File{part, req.W, parts}, nil
		case slices.Contains(names, name):
			value, reserved, err := req.site.bodies.Read(req.Context(), intake.Source{Reader: part, Declared: -1, Most: maxField, Tree: req.Tree(), Cancel: cancel})
			fields.Add(name, string(value))
			reserved.Release() // before the next field: forms must not wait for each other
			if size += len(value); err != nil || size > maxField {
				return nil, File{}, ErrNoFile
			}
		}
	}
	return nil, File{}, ErrNoFile
}
