package api

import (
	"context"
	"encoding/json"

	"bridged/internal/api/content"
	"bridged/internal/bridge"
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
	picture, sum, err := content.SquarePicture(in.w, in.r, in.Preparer, in.caller().Tree, formMargin)
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
