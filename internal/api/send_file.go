package api

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bridged/internal/api/callers"
	"bridged/internal/api/download"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/intake"
	"bridged/internal/media"
)

// sendFile sends the file in the request. It is stored while it is received, and removed afterwards.
// Fields before the file are checked before it is read.
func sendFile(in *input) (any, error) {
	form, err := in.readForm(in.w, in.r)
	if err != nil {
		return nil, err
	}
	defer form.file.Close()
	if err := form.complete(in.server); err != nil {
		return nil, err
	}
	var d draft
	if d.To, d.quote, err = form.address(); err != nil {
		return nil, err
	}
	if err := in.see(in.ctx(), d.To); err != nil {
		return nil, err
	}
	identity, err := bridge.EncodeJSON(form.formFields)
	if err != nil {
		return nil, err
	}
	d.file = func(ctx context.Context) (bridge.File, func(), error) {
		file, err := in.Preparer.PrepareReceived(ctx, form.Request, form.file, form.name, form.contentType)
		return file, form.file.Close, err
	}
	return sendOnce(in, identity, d)
}

// complete checks the whole form, and detects the type of the file if none is given.
func (f *fileForm) complete(s *server) (err error) {
	if f.file == nil {
		return bridge.Invalid("file is required: a part of the form with the file's bytes")
	}
	f.SHA256 = f.file.SHA256
	switch {
	case f.Type == "" && f.PTT:
		f.Type = bridge.MediaAudio
	case f.Type == "" && f.Convert:
		f.Type = bridge.MediaVideo
	case f.Type == "":
		if f.Type, err = s.Preparer.TypeOf(f.file, f.Caption != ""); err != nil {
			return err
		}
	}
	return f.check(s)
}

// check returns an error if one of the fields received so far is invalid.
func (f *fileForm) check(s *server) error {
	if f.JID != "" || f.file != nil {
		if _, _, err := f.address(); err != nil {
			return err
		}
	}
	if utf8.RuneCountInString(f.Caption) > maxText {
		return errCaptionTooLong()
	}
	if f.Type == "" {
		return nil // detected once the file is received
	}
	if err := checkFile(f.Request, bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument, bridge.MediaSticker); err != nil {
		return err
	}
	return s.Preparer.CheckReceived(f.Request)
}

const (
	// maxField bounds the value of a form's field, in bytes: a caption.
	maxField = maxText * utf8.UTFMax
	// maxFieldsText bounds all fields of a form together.
	maxFieldsText = maxField + 64<<10
	// formMargin bounds a form without its file, in bytes.
	formMargin = 1 << 20
	// maxFields bounds the parts of a form.
	maxFields = 16
)

// formFields holds the fields of a form with a file.
type formFields struct {
	addressed
	media.Request // without a URL
	// SHA256 is the hash of the file. An Idempotency-Key is bound to it.
	SHA256 []byte `json:"sha256"`
}

// fileForm is a form with a file (RFC 7578).
type fileForm struct {
	formFields
	parts
	file        *media.Received
	name        string // of the file on its sender's device
	contentType string // from its sender's device
}

// readForm reads a form while it is received. Each piece has its own deadline.
func (s *server) readForm(w http.ResponseWriter, r *http.Request) (*fileForm, error) {
	if err := s.Preparer.CheckSize(r.ContentLength, formMargin); err != nil {
		w.Header().Set("Connection", "close") // the body is never read
		return nil, err
	}
	form := &fileForm{parts: newParts(w, r)}
	err := form.each(w, r, func(part *multipart.Part) error { return form.take(r.Context(), s, part) })
	if err != nil {
		form.file.Close()
	}
	return form, err
}

// parts has the parts of a form that were received.
type parts struct {
	given map[string]bool

	tree   int64
	cancel func()
	length int64 // declared length of the whole form; negative if unknown
	text   int   // bytes of the fields so far
}

func newParts(w http.ResponseWriter, r *http.Request) parts {
	return parts{given: make(map[string]bool), length: r.ContentLength, tree: callers.Of(r.Context()).Tree, cancel: intake.CancelBody(w, r.Body)}
}

// each calls take for each part of a form, once for each name.
func (p *parts) each(w http.ResponseWriter, r *http.Request, take func(*multipart.Part) error) error {
	r.Body = front.Chunks(w, r.Body)
	from, err := intake.NewParts(r)
	if err != nil {
		return bridge.Invalid("Content-Type must be multipart/form-data with a boundary, as curl -F and forms send it").Because(err)
	}
	for err == nil {
		var part *multipart.Part
		if part, err = from.Next(); err == nil {
			if err = p.note(part.FormName()); err == nil {
				err = take(part)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		w.Header().Set("Connection", "close") // the rest is not read
		return formFault(r.Context(), err)
	}
	front.BodyRead(w)
	return nil
}

func (p *parts) note(name string) error {
	switch {
	case p.given[name]:
		return bridge.Invalid("%s is given more than once", quotedName(name))
	case len(p.given) >= maxFields:
		return bridge.Invalid("the form has more than %d parts", maxFields)
	}
	p.given[name] = true
	return nil
}

// value reads a field. It releases the memory before the next field is read, because forms that
// hold memory while they wait for more would wait for each other forever.
func (p *parts) value(ctx context.Context, s *server, part *multipart.Part) (string, error) {
	name := part.FormName()
	value, reserved, err := s.bodies.Read(ctx, intake.Source{Reader: part, Declared: -1, Most: maxField, Tree: p.tree, Cancel: p.cancel})
	defer reserved.Release()
	p.text += len(value)
	switch {
	case errors.Is(err, intake.ErrBodyTooLarge):
		return "", bridge.Fail(bridge.CodePayloadTooLarge, "%s is larger than %d bytes", quotedName(name), maxField)
	case err != nil:
		return "", err
	case p.text > maxFieldsText:
		return "", bridge.Fail(bridge.CodePayloadTooLarge, "the fields beside the file are larger than %d bytes together", maxFieldsText)
	case !utf8.Valid(value):
		return "", bridge.Invalid("%s is not valid UTF-8", quotedName(name))
	}
	return string(value), nil
}

func (f *fileForm) take(ctx context.Context, s *server, part *multipart.Part) (err error) {
	if part.FormName() != "file" {
		return f.set(ctx, s, part)
	}
	if err := f.check(s); err != nil {
		return err
	}
	f.name, f.contentType = download.PlainName(part.FileName()), part.Header.Get("Content-Type")
	f.file, err = s.Preparer.Receive(ctx, media.Incoming{From: part, Declared: f.length, Tree: f.tree, Cancel: f.cancel})
	return err
}

// set sets a field.
func (f *fileForm) set(ctx context.Context, s *server, part *multipart.Part) error {
	text, err := f.value(ctx, s, part)
	if err != nil {
		return err
	}
	fields := map[string]*string{
		"jid": &f.JID, "quotedChatJid": &f.QuotedChatJID, "quotedMsgId": &f.QuotedMsgID, "type": (*string)(&f.Type),
		"caption": &f.Caption, "fileName": &f.FileName, "mimetype": &f.MimeType,
	}
	switches := map[string]*bool{"ptt": &f.PTT, "convert": &f.Convert}
	name := part.FormName()
	switch field := fields[name]; {
	case field != nil:
		*field = text
	case switches[name] != nil:
		if *switches[name], err = strconv.ParseBool(text); text != "" && err != nil {
			return bridge.Invalid("%s must be true or false", name)
		}
	default:
		return bridge.Invalid("%s is not a field of this form; it has jid, file, type, caption, fileName, mimetype, ptt, convert, quotedMsgId and quotedChatJid", quotedName(name))
	}
	return nil
}

// quotedName quotes a caller's name, shortened.
func quotedName(name string) string { return strconv.Quote(front.Shortened(name, 60)) }

// formFault returns the error of a form that could not be read to its end.
func formFault(ctx context.Context, err error) error {
	var known *bridge.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, intake.ErrPartHeader):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the head of a part of the form is larger than 32 KiB")
	case errors.Is(err, os.ErrDeadlineExceeded): // which ends the context too
		return bridge.Invalid("the body did not arrive in time: no piece of it may take longer than %.0f seconds", front.BodyTime.Seconds()).Because(err)
	case errors.Is(err, intake.ErrTooSlow), ctx.Err() != nil:
		return front.BodyFault(ctx, err)
	}
	return bridge.Invalid("the body is damaged or broke off; send all of it").Because(err)
}

// maxFileName bounds a document's name, in characters.
const maxFileName = 255

// sendMedia sends a file from a URL, which is fetched after all other checks.
func sendMedia(in *input) (any, error) {
	var req struct {
		addressed
		media.Request
	}
	body := in.body(&req, lenient)
	d := in.draftTo(req.addressed)
	d.file = func(ctx context.Context) (bridge.File, func(), error) { return in.Preparer.Prepare(ctx, req.Request) }
	if in.err == nil {
		in.err = checkFile(req.Request, bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument)
	}
	if req.URL == "" {
		in.refuse("url is required: a public http or https URL")
	}
	if in.err == nil {
		in.err = in.Preparer.Check(req.Request)
	}
	return sendOnce(in, body, d)
}

// checkFile refuses missing fields, and fields that do not belong to the type.
func checkFile(f media.Request, types ...bridge.MediaType) error {
	switch {
	case f.Type == "":
		return bridge.Invalid("type is required: image, video, audio or document")
	case !slices.Contains(types, f.Type):
		return bridge.Invalid("type must be one of %s", bridge.Join(types, ", "))
	case f.Caption != "" && (f.Type == bridge.MediaAudio || f.Type == bridge.MediaSticker):
		return bridge.Invalid("caption is for image, video and document only")
	case f.FileName != "" && f.Type != bridge.MediaDocument:
		return bridge.Invalid("fileName is for document only")
	case f.PTT && f.Type != bridge.MediaAudio:
		return bridge.Invalid("ptt is for audio only")
	case f.Convert && f.Type != bridge.MediaVideo:
		return bridge.Invalid("convert is for video only: images are converted without, and sounds with ptt")
	case utf8.RuneCountInString(f.Caption) > maxText:
		return errCaptionTooLong()
	case !isFileName(f.FileName):
		return bridge.Invalid("fileName must be a name without directories, of at most %d characters", maxFileName)
	}
	return nil
}

// isFileName reports whether a recipient's device can use a name unchanged.
func isFileName(name string) bool {
	return bridge.PlainFileName(name) == name && !strings.ContainsAny(name, "/\\\ufeff") && (name == "" || strings.Trim(name, ". ") != "")
}

func errCaptionTooLong() error {
	return bridge.Invalid("caption must have at most %d characters", maxText)
}
