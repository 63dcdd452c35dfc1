package compat

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"runtime"
	"unicode/utf8"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// File is a stored file.
type File interface {
	io.ReaderAt
	Size() int64
	Close()
}

// Upload is the file of a body. It exists until the call ends. Its name and type come from its sender
// and are often wrong.
type Upload struct {
	File
	Name, MimeType string
}

// Open returns a reader of the whole file.
func (u *Upload) Open() io.Reader { return io.NewSectionReader(u.File, 0, u.Size()) }

const (
	maxFields = 32       // parts of a form
	maxFile   = 32 << 20 // bytes of a file in base64
)

// incoming is a body that may have a file, while it is read.
type incoming struct {
	options  *Options
	ctx      context.Context
	member   string // that may have the file in base64
	tree     int64
	declared int64
	cancel   func()
	upload   *Upload
	reserved []*intake.Reservation // for the rest of the body, without the file
}

// receive reads a body and stores its file, a part of a form or a member in base64. The rest of the body
// has at most 1 MiB.
func (a *Adapter) receive(w http.ResponseWriter, c *Call, member string) (done func(), err error) {
	r := c.Request
	in := &incoming{options: &a.options, ctx: r.Context(), member: member, tree: c.Token.Tree, declared: r.ContentLength, cancel: intake.CancelBody(w, r.Body)}
	r.Body = front.Chunks(w, r.Body)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		c.body, err = in.readForm(r)
	} else {
		c.body, err = in.readObject(r.Body)
	}
	if err != nil {
		in.close()
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, receiveFault(r.Context(), err)
	}
	front.BodyRead(w)
	c.Upload, c.bodyRead = in.upload, in.release
	return in.close, nil
}

// release releases the reservations of the body. It may be called more than once.
func (in *incoming) release() {
	for _, reserved := range in.reserved {
		reserved.Release()
	}
}

func (in *incoming) close() {
	in.release()
	if in.upload != nil {
		in.upload.Close()
	}
}

// read reads a text within the quota of bodies. Its reservation lasts until the call ends or releases it.
func (in *incoming) read(from io.Reader, declared, most int64) (text []byte, reserved *intake.Reservation, err error) {
	text, reserved, err = in.options.Memory.bodies.Read(in.ctx, intake.Source{Reader: from, Declared: declared, Most: most, Tree: in.tree, Cancel: in.cancel})
	in.reserved = append(in.reserved, reserved)
	if most == intake.MaxLargeBody && errors.Is(err, intake.ErrBodyTooLarge) {
		err = bridge.Fail(bridge.CodePayloadTooLarge, "a file in base64 may have at most %d MiB: give the http(s) address of a larger one, or send it as the part file of a form", maxFile>>20)
	}
	return text, reserved, err
}

// readObject reads a JSON object, and returns it without its file.
func (in *incoming) readObject(from io.Reader) ([]byte, error) {
	body, reserved, err := in.read(from, in.declared, intake.MaxLargeBody)
	if err != nil {
		return nil, err
	}
	if len(body) > intake.MaxBody {
		defer runtime.GC() // the body would stay until the heap has doubled
	}
	text, rest := cutFile(body, in.member)
	if len(rest) > intake.MaxBody {
		return nil, intake.ErrBodyTooLarge
	}
	if text != nil {
		err = in.storeBase64(text)
		reserved.Shrink(int64(len(rest)))
	}
	return rest, err
}

// store stores the file. declared is its size or a little more; negative if unknown.
func (in *incoming) store(name, mimeType string, from io.Reader, declared int64) error {
	if in.upload != nil {
		return bridge.Invalid("the body has more than one file: send each in a message of its own")
	}
	file, err := in.options.Receive(in.ctx, from, declared, in.tree, in.cancel)
	if err != nil {
		return err
	}
	in.upload = &Upload{File: file, Name: name, MimeType: mimeType}
	return nil
}

// storeBase64 stores a file in base64.
func (in *incoming) storeBase64(text []byte) error {
	mimeType, data, err := decodeBase64(text)
	if err != nil {
		return err
	}
	return in.store("", mimeType, data, int64(base64.StdEncoding.DecodedLen(len(text))))
}

// readForm reads a form, and returns its fields as a JSON object.
func (in *incoming) readForm(r *http.Request) ([]byte, error) {
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
		if err := in.readPart(part, fields, &left); err != nil {
			return nil, err
		}
	}
}

// readPart reads the file or a field of a form. left is the size that further fields may have.
func (in *incoming) readPart(part *multipart.Part, fields map[string]any, left *int64) error {
	name, most := part.FormName(), *left
	if part.FileName() != "" || name == "file" {
		return in.store(part.FileName(), part.Header.Get("Content-Type"), part, in.declared)
	}
	if name == in.member {
		most = intake.MaxLargeBody
	}
	value, reserved, err := in.read(part, -1, most)
	switch {
	case err != nil:
		return err
	case name == in.member && !isPlain(value):
		defer reserved.Release()
		return in.storeBase64(value)
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

// sizeInJSON returns the size of a form's field as a JSON string, in bytes.
func sizeInJSON(field []byte) (size int64) {
	for _, b := range field {
		switch {
		case b < ' ': // becomes \u0001
			size += 6
		case b == '"', b == '\\', b == 0xe2: // the first byte of two separators that are escaped
			size += 2
		default:
			size++
		}
	}
	return size
}

// receiveFault returns the refusal of a body that could not be read.
func receiveFault(ctx context.Context, err error) error {
	switch _, known := errors.AsType[*bridge.Error](err); {
	case known:
		return err
	case errors.Is(err, intake.ErrBodyTooLarge):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the body is larger than 1 MiB without its file")
	case errors.Is(err, intake.ErrPartHeader):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the header of a part of the form is larger than 32 KiB")
	}
	return front.BodyFault(ctx, err)
}
