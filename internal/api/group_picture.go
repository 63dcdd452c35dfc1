package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/intake"
	"bridged/internal/media"
)

// setGroupPicture sets the picture of a group to the file in the request.
func setGroupPicture(in *input) (any, error) {
	jid := in.pathGroup()
	if in.err != nil {
		return nil, in.err
	}
	if err := in.see(in.ctx(), jid); err != nil {
		return nil, err
	}
	picture, sum, err := squarePicture(in)
	if err != nil {
		return nil, err
	}
	return changeGroupPicture(in, jid, sum, picture)
}

func removeGroupPicture(in *input) (any, error) {
	return changeGroupPicture(in, in.pathGroup(), nil, nil)
}

// changeGroupPicture sets the picture of a group to a JPEG, or removes it if picture is nil. A
// repeat of a call without an answer first checks whether the picture has changed already.
func changeGroupPicture(in *input, jid bridge.JID, body, picture []byte) (any, error) {
	change := keyedRequest{chat: jid}
	if picture != nil {
		change.plan = func(ctx context.Context) (any, error) { return in.Account.GroupPicture(ctx, jid) }
	}
	change.act = func(ctx context.Context, c attempt) (any, error) {
		var before *string
		if c.again && picture != nil {
			if err := json.Unmarshal(c.Plan, &before); err != nil {
				return nil, err
			}
		}
		id, err := in.Account.SetGroupPicture(ctx, jid, picture, before)
		if err == nil {
			in.Pictures.Forget(jid) // the notification of the network is later
		}
		return struct {
			OK        bool       `json:"ok"`
			JID       bridge.JID `json:"jid"`
			PictureID string     `json:"pictureId"`
		}{true, jid, id}, err
	}
	return requestOnce(in, body, change)
}

// squarePicture returns the picture in the request as the network takes it, and the hash of its file.
func squarePicture(in *input) (picture, sum []byte, err error) {
	file, err := receivePicture(in)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	picture, err = in.Preparer.SquarePicture(in.ctx(), file)
	return picture, file.SHA256, err
}

// receivePicture stores a picture while it is received: the part "file" of a form, or the body.
func receivePicture(in *input) (picture *media.Received, err error) {
	w, r := in.w, in.r
	if err := in.Preparer.CheckSize(r.ContentLength, formMargin); err != nil {
		w.Header().Set("Connection", "close") // the body is never read
		return nil, err
	}
	from := media.Incoming{Declared: r.ContentLength, Tree: in.caller().Tree, Cancel: intake.CancelBody(w, r.Body)}
	r.Body = front.Chunks(w, r.Body)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		picture, err = pictureOfForm(in, from)
	} else {
		from.From = r.Body
		picture, err = in.Preparer.Receive(in.ctx(), from)
	}
	if err != nil {
		picture.Close()
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, front.FormFault(in.ctx(), err)
	}
	front.BodyRead(w)
	return picture, nil
}

// pictureOfForm stores the file of a form that has no other fields.
func pictureOfForm(in *input, from media.Incoming) (picture *media.Received, err error) {
	parts, err := intake.NewParts(in.r)
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
		if picture, err = in.Preparer.Receive(in.ctx(), from); err != nil {
			return nil, err
		}
	}
}
