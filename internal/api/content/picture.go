package content

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/intake"
	"bridged/internal/media"
)

// SquarePicture returns the picture in a request as the network takes it, and the hash of its file.
// margin bounds a form without the file, in bytes.
func SquarePicture(w http.ResponseWriter, r *http.Request, p *media.Preparer, tree, margin int64) (picture, sum []byte, err error) {
	file, err := receivePicture(w, r, p, tree, margin)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	picture, err = p.SquarePicture(r.Context(), file)
	return picture, file.SHA256, err
}

// receivePicture stores a picture while it is received: the part "file" of a form, or the body.
func receivePicture(w http.ResponseWriter, r *http.Request, p *media.Preparer, tree, margin int64) (picture *media.Received, err error) {
	if err := p.CheckSize(r.ContentLength, margin); err != nil {
		w.Header().Set("Connection", "close") // the body is never read
		return nil, err
	}
	from := media.Incoming{Declared: r.ContentLength, Tree: tree, Cancel: intake.CancelBody(w, r.Body)}
	r.Body = front.Chunks(w, r.Body)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		picture, err = pictureOfForm(r, p, from)
	} else {
		from.From = r.Body
		picture, err = p.Receive(r.Context(), from)
	}
	if err != nil {
		picture.Close()
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, front.FormFault(r.Context(), err)
	}
	front.BodyRead(w)
	return picture, nil
}

// pictureOfForm stores the file of a form that has no other fields.
func pictureOfForm(r *http.Request, p *media.Preparer, from media.Incoming) (picture *media.Received, err error) {
	parts, err := intake.NewParts(r)
	if err != nil {
		return nil, bridge.Invalid("Content-Type must have the form's boundary, as curl -F sends it").Because(err)
	}
	for {
		part, err := parts.Next()
		switch {
		case errors.Is(err, io.EOF) && picture == nil:
			return nil, bridge.Invalid("file is required: a part of the form with the picture's bytes")
		case errors.Is(err, io.EOF):
			return picture, nil
		case err != nil:
			return picture, err
		case part.FormName() != "file":
			return picture, bridge.Invalid("%s is not a field of this form; it has file alone", front.QuotedName(part.FormName()))
		case picture != nil:
			return picture, bridge.Invalid("file is given more than once")
		}
		from.From = part
		if picture, err = p.Receive(r.Context(), from); err != nil {
			return nil, err
		}
	}
}
