package api

import (
	"unicode/utf8"

	"bridged/internal/bridge"
)

// sendFile sends a file that comes with the request. It is stored while it
// arrives, and removed whatever becomes of it. What can be refused without the
// file is refused before it is read, if its field came before.
func (s *server) sendFile(in *input) (any, error) {
	form, err := s.readForm(in.w, in.r)
	if err != nil {
		return nil, err
	}
	defer form.Close()
	if err := form.complete(s); err != nil {
		return nil, err
	}
	var d draft
	if d.To, d.quote, err = form.address(); err != nil {
		return nil, err
	}
	if err := s.see(in.ctx(), d.To); err != nil {
		return nil, err
	}
	identity, err := bridge.EncodeJSON(form.formFields)
	if err != nil {
		return nil, err
	}
	if d.Content, err = s.Preparer.PrepareReceived(in.ctx(), form.Request, form.file, form.name, form.contentType); err != nil {
		return nil, err
	}
	return s.sendOnce(in, identity, d)
}

// complete checks the whole form, and finds out what the file is sent as.
func (f *fileForm) complete(s *server) (err error) {
	if f.file == nil {
		return bridge.Invalid("file is required: a part of the form with the file's bytes")
	}
	f.SHA256 = f.file.SHA256
	switch {
	case f.Type == "" && f.PTT:
		f.Type = bridge.MediaAudio
	case f.Type == "":
		if f.Type, err = s.Preparer.TypeOf(f.file, f.Caption != ""); err != nil {
			return err
		}
	}
	return f.check(s)
}

// check reports what is wrong with the fields, as far as they have come.
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
		return nil // the file will show it
	}
	if err := checkFile(f.Request, bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument, bridge.MediaSticker); err != nil {
		return err
	}
	return s.Preparer.CheckReceived(f.Request)
}
