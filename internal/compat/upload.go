package compat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// File is a file on the disk.
type File interface {
	io.ReaderAt
	Size() int64
	Close()
}

// Upload is a file that a body brought. It exists until the call ends. Its name and type
// are what its sender says of it: hints, which are often wrong.
type Upload struct {
	File
	Name, MimeType string
}

// Open returns a reader of the whole file.
func (u *Upload) Open() io.Reader { return io.NewSectionReader(u.File, 0, u.Size()) }

// maxFields bounds the parts of a form.
const maxFields = 32

// arrival is a body that may bring a file, while it is read.
type arrival struct {
	door      *Door
	ctx       context.Context
	members   []string
	family    int64
	announced int64
	cut       func()
	upload    *Upload
}

// receive reads a body that may bring a file, which is stored while it arrives. What is
// beside the file has at most 1 MiB.
func (d *Door) receive(w http.ResponseWriter, c *Call, family int64, members []string) (done func(), err error) {
	r := c.Request
	a := &arrival{door: d, ctx: r.Context(), members: members, family: family, announced: r.ContentLength, cut: intake.CutOff(w, r.Body)}
	r.Body = front.Pieces(w, r.Body)
	release := func() {}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		c.body, err = a.readForm(r)
	} else {
		c.body, release, err = a.bounded(newSpooler(r.Body, members, a.takeText), intake.MaxBody)
	}
	if err != nil {
		a.close()
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, arrivalFault(r.Context(), err)
	}
	front.BodyRead(w)
	c.Upload = a.upload
	return func() { release(); a.close() }, nil
}

func (a *arrival) close() {
	if a.upload != nil {
		a.upload.Close()
	}
}

// bounded reads a text within the memory that all bodies share.
func (a *arrival) bounded(from io.Reader, most int64) (text []byte, release func(), err error) {
	return a.door.bodies.Read(a.ctx, intake.Source{Reader: from, Announced: -1, Most: most, Family: a.family, Cut: a.cut})
}

// take stores the file, which is announced to be no larger than a size.
func (a *arrival) take(name, mimeType string, from io.Reader, announced int64) error {
	if a.upload != nil {
		return bridge.Invalid("the body has more than one file: send each in a message of its own")
	}
	file, err := a.door.options.Receive(a.ctx, from, announced, a.family, a.cut)
	if err != nil {
		return err
	}
	a.upload = &Upload{File: file, Name: name, MimeType: mimeType}
	return nil
}

// takeText stores the file that a text in base64 stands for.
func (a *arrival) takeText(text io.Reader) error {
	mimeType, data, err := decodeBase64(text)
	if err != nil {
		return err
	}
	announced := a.announced
	if announced > 0 {
		announced = announced / 4 * 3 // of what is in base64, with the rest of the body
	}
	return a.take("", mimeType, data, announced)
}

// readForm reads a form, and returns its fields as a JSON object.
func (a *arrival) readForm(r *http.Request) ([]byte, error) {
	parts, err := intake.NewParts(r)
	if err != nil {
		return nil, bridge.Invalid("Content-Type must be multipart/form-data with a boundary").Because(err)
	}
	fields, left := make(map[string]any), int64(intake.MaxBody)
	for count := 0; ; count++ {
		part, err := parts.Next()
		switch {
		case errors.Is(err, io.EOF):
			return bridge.EncodeJSON(fields)
		case err != nil:
			return nil, err
		case count == maxFields:
			return nil, bridge.Invalid("the form has more than %d parts", maxFields)
		}
		if err := a.takePart(part, fields, &left); err != nil {
			return nil, err
		}
	}
}

// takePart reads a part of a form: the file, or a field, of which all have so many bytes left.
func (a *arrival) takePart(part *multipart.Part, fields map[string]any, left *int64) error {
	name, text := part.FormName(), bufio.NewReader(part)
	if part.FileName() != "" || name == "file" {
		return a.take(part.FileName(), part.Header.Get("Content-Type"), text, a.announced)
	}
	if slices.Contains(a.members, name) && !isPlain(text) {
		return a.takeText(text)
	}
	value, release, err := a.bounded(text, *left)
	defer release()
	*left -= int64(len(value))
	switch {
	case err != nil:
		return err
	case len(value) > 0 && (value[0] == '{' || value[0] == '[') && json.Valid(value):
		fields[name] = json.RawMessage(bytes.Clone(value))
	default:
		fields[name] = string(value)
	}
	return nil
}

// arrivalFault returns the error of a body that could not be read to its end.
func arrivalFault(ctx context.Context, err error) error {
	switch _, known := errors.AsType[*bridge.Error](err); {
	case known:
		return err
	case errors.Is(err, intake.ErrBodyTooLarge):
		return bridge.Fail(bridge.CodePayloadTooLarge, "what the body has beside its file is larger than 1 MiB")
	case errors.Is(err, intake.ErrPartHead):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the head of a part of the form is larger than 32 KiB")
	}
	return front.BodyFault(ctx, err)
}
