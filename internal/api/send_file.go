package api

import (
	"context"
	"mime/multipart"
	"net/http"
	"strconv"
	"unicode/utf8"

	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/api/download"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
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
	if d = in.draftTo(form.addressed); in.err != nil {
		return nil, in.err
	}
	if err := in.see(in.ctx(), d.To); err != nil {
		return nil, err
	}
	identity, err := bridge.EncodeJSON(form.formFields)
	if err != nil {
		return nil, err
	}
	d.file = func(ctx context.Context) (bridge.Content, func(), error) {
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
	case f.Type == "" && (f.Convert || f.GIF):
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
		if _, _, _, err := f.Address(); err != nil {
			return err
		}
	}
	if _, err := content.ParseSendAt(f.SendAt); err != nil {
		return err
	}
	if utf8.RuneCountInString(f.Caption) > content.MaxText {
		return content.TooLongCaption()
	}
	if f.Type == "" {
		return nil // detected once the file is received
	}
	if err := content.CheckFile(f.Request, bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument, bridge.MediaSticker); err != nil {
		return err
	}
	return s.Preparer.CheckReceived(f.Request)
}

// formMargin bounds a form without its file, in bytes.
const formMargin = 1 << 20

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
	front.Form
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
	form := &fileForm{Form: front.NewForm(w, r, callers.Of(r.Context()).Tree)}
	err := form.Each(w, r, func(part *multipart.Part) error { return form.take(r.Context(), s, part) })
	if err != nil {
		form.file.Close()
	}
	return form, err
}

func (f *fileForm) take(ctx context.Context, s *server, part *multipart.Part) (err error) {
	if part.FormName() != "file" {
		return f.set(ctx, s, part)
	}
	if err := f.check(s); err != nil {
		return err
	}
	f.name, f.contentType = download.PlainName(part.FileName()), part.Header.Get("Content-Type")
	f.file, err = s.Preparer.Receive(ctx, media.Incoming{From: part, Declared: f.Length, Tree: f.Sender, Cancel: f.Stop})
	return err
}

// set sets a field.
func (f *fileForm) set(ctx context.Context, s *server, part *multipart.Part) error {
	text, err := f.Value(ctx, s.bodies, part)
	if err != nil {
		return err
	}
	fields := map[string]*string{
		"jid": &f.JID, "quotedChatJid": &f.QuotedChatJID, "quotedMsgId": &f.QuotedMsgID, "type": (*string)(&f.Type),
		"caption": &f.Caption, "fileName": &f.FileName, "mimetype": &f.MimeType, "sendAt": &f.SendAt,
	}
	switches := map[string]*bool{"ptt": &f.PTT, "convert": &f.Convert, "gif": &f.GIF, "viewOnce": &f.ViewOnce}
	name := part.FormName()
	switch field := fields[name]; {
	case field != nil:
		*field = text
	case switches[name] != nil:
		if *switches[name], err = strconv.ParseBool(text); text != "" && err != nil {
			return bridge.Invalid("%s must be true or false", name)
		}
	default:
		return bridge.Invalid("%s is not a field of this form; it has jid, file, type, caption, fileName, mimetype, ptt, convert, gif, viewOnce, quotedMsgId, quotedChatJid and sendAt", front.QuotedName(name))
	}
	return nil
}

// sendMedia sends a file from a URL, which is fetched after all other checks.
func sendMedia(in *input) (any, error) {
	var req struct {
		addressed
		media.Request
	}
	body := in.body(&req, lenient)
	d := in.draftTo(req.addressed)
	d.file = func(ctx context.Context) (bridge.Content, func(), error) {
		return in.Preparer.Prepare(ctx, req.Request)
	}
	if in.err == nil {
		in.err = content.CheckFile(req.Request, bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument)
	}
	if req.URL == "" {
		in.refuse("url is required: a public http or https URL")
	}
	if in.err == nil {
		in.err = in.Preparer.Check(req.Request)
	}
	return sendOnce(in, body, d)
}
