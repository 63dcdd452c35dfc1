package console

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

const (
	// maxField bounds the fields of a form with a file, in bytes, each and together.
	maxField = 256 << 10
	// pieceTime is how long a piece of a file may take to arrive.
	pieceTime = 30 * time.Second
)

// maxFields bounds the parts of a form before its file.
const maxFields = 16

// sendFile passes a file on to the API while it arrives. The form's token and
// its other fields come before it.
func (c *Console) sendFile(v *visit) error {
	if !v.sends() {
		return errUnknown
	}
	jid, err := v.chat()
	if err != nil {
		return err
	}
	control := http.NewResponseController(v.w)
	_ = control.SetReadDeadline(time.Now().Add(formTime)) // without a connection there is no time
	cut := intake.CutOff(v.w, v.r.Body)
	parts, err := intake.NewParts(v.r)
	if err != nil {
		return errNoFile
	}
	fields := map[string]string{"jid": string(jid)}
	var file *multipart.Part
	text := 0 // bytes of the fields
	for count := 0; file == nil; count++ {
		part, err := parts.Next()
		if err != nil || count == maxFields {
			return errNoFile
		}
		switch part.FormName() {
		case "file":
			file = part
			continue
		case "csrf", "caption", "reply", "ptt", "as", "key":
		default:
			continue
		}
		value, done, err := v.c.bodies.Read(v.r.Context(), intake.Source{Reader: part, Announced: -1, Most: maxField, Family: v.session.family, Cut: cut})
		text += len(value)
		if err == nil {
			fields[part.FormName()] = string(value)
		}
		done() // before the next one is read: forms must not wait for each other
		if err != nil || text > maxField {
			return errNoFile
		}
	}
	token := v.r.Header.Get("X-CSRF-Token")
	if token == "" {
		token = fields["csrf"]
	}
	if !v.session.owns(token) {
		return errOutdated
	}
	if file.FileName() == "" {
		return errNoFile
	}
	return v.passOn(fields, file, control)
}

var errNoFile = problem{http.StatusBadRequest, "There is no file", "Choose a file, then send it.", ""}

// passOn sends the file with the fields that the API knows.
func (v *visit) passOn(fields map[string]string, file *multipart.Part, control *http.ResponseController) error {
	upload := client.Upload{To: bridge.JID(fields["jid"]), FileName: file.FileName(), Caption: fields["caption"], QuotedMsgID: fields["reply"], PTT: fields["ptt"] != ""}
	if fields["as"] == "document" {
		upload.Type = bridge.MediaDocument
	}
	key := fields["key"]
	if key == "" {
		key = newKey()
	}
	sent, err := v.api.SendFile(v.r.Context(), upload, steady{file, control}, key)
	if err != nil {
		return err
	}
	return v.sent(sent, sent.Chat)
}

// steady reads a body of which each piece has its own time.
type steady struct {
	io.Reader
	control *http.ResponseController
}

func (s steady) Read(p []byte) (int, error) {
	_ = s.control.SetReadDeadline(time.Now().Add(pieceTime)) // without a connection there is no time
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		_ = s.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
