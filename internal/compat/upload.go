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
	"unicode/utf8"

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
	releases  []func() // of the reservations of what is not the file
}

// receive reads a body that may bring a file, which is stored while it arrives. The rest of
// the body has at most 1 MiB.
func (d *Door) receive(w http.ResponseWriter, c *Call, members []string) (done func(), err error) {
	r := c.Request
	a := &arrival{door: d, ctx: r.Context(), members: members, family: c.Token.Family, announced: r.ContentLength, cut: intake.CutOff(w, r.Body)}
	r.Body = front.Pieces(w, r.Body)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		c.body, err = a.readForm(r)
	} else {
		c.body, err = a.bounded(newSpooler(r.Body, members, a.takeText), intake.MaxBody)
	}
	if err != nil {
		a.close()
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, arrivalFault(r.Context(), err)
	}
	front.BodyRead(w)
	c.Upload, c.bodyRead = a.upload, a.release
	return a.close, nil
}

// release releases the reservations of the body. It may be called more than once.
func (a *arrival) release() {
	for _, release := range a.releases {
		release()
	}
}

func (a *arrival) close() {
	a.release()
	if a.upload != nil {
		a.upload.Close()
	}
}

// bounded reads a text within the memory that all bodies share, which stays reserved.
func (a *arrival) bounded(from io.Reader, most int64) ([]byte, error) {
	text, release, err := a.door.options.Memory.bodies.Read(a.ctx, intake.Source{Reader: from, Announced: -1, Most: most, Family: a.family, Cut: a.cut})
	a.releases = append(a.releases, release)
	return text, err
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
	value, err := a.bounded(text, *left)
	if err != nil {
		return err
	}
	if *left -= sizeInJSON(value); *left < 0 {
		return intake.ErrBodyTooLarge
	}
	switch {
	case !utf8.Valid(value):
		return bridge.Invalid("a field of the form is not valid UTF-8")
	case len(value) > 0 && (value[0] == '{' || value[0] == '[') && json.Valid(value):
		fields[name] = json.RawMessage(bytes.Clone(value))
	default:
		fields[name] = string(value)
	}
	return nil
}

// sizeInJSON returns how many bytes a field of a form takes as a JSON string, and not less
// where it is JSON itself.
func sizeInJSON(field []byte) (size int64) {
	for _, b := range field {
		switch {
		case b < ' ': // as \u0001
			size += 6
		case b == '"', b == '\\', b == 0xe2: // which begins the two separators that are escaped
			size += 2
		default:
			size++
		}
	}
	return size
}

// arrivalFault returns the error of a body that could not be read to its end.
func arrivalFault(ctx context.Context, err error) error {
	switch _, known := errors.AsType[*bridge.Error](err); {
	case known:
		return err
	case errors.Is(err, intake.ErrBodyTooLarge):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the body is larger than 1 MiB without its file")
	case errors.Is(err, intake.ErrPartHead):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the head of a part of the form is larger than 32 KiB")
	}
	return front.BodyFault(ctx, err)
}
