package groups

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// GroupPicture returns the id of a group's picture, or "".
func (gs *Groups) GroupPicture(ctx context.Context, jid bridge.JID) (id string, err error) {
	ctx, c, end, err := gs.connect(ctx, queryTimeout)
	if err != nil {
		return "", err
	}
	defer end()
	return c.picture(ctx, jid)
}

func (c *conn) picture(ctx context.Context, jid bridge.JID) (id string, err error) {
	shown, err := c.GetProfilePictureInfo(ctx, convert.WireJID(jid), &whatsmeow.GetProfilePictureParams{Preview: true})
	switch {
	case errors.Is(err, whatsmeow.ErrProfilePictureNotSet), err == nil && shown == nil:
		return "", nil
	case err != nil:
		return "", c.queryRefusal(ctx, jid, err)
	}
	return shown.ID, nil
}

// SetGroupPicture sets the picture of a group to a JPEG, or removes it if picture is empty, and
// returns the new picture's id. If an earlier attempt may have set it, before is the id before
// that attempt.
func (gs *Groups) SetGroupPicture(ctx context.Context, jid bridge.JID, picture []byte, before *string) (id string, err error) {
	ctx, c, end, err := gs.connect(ctx, changeTimeout)
	if err != nil {
		return "", err
	}
	defer end()
	if before != nil {
		if id, err = c.picture(ctx, jid); err != nil {
			return "", err
		}
	}
	if before == nil || id == *before {
		if id, err = c.changePicture(ctx, jid, picture); err != nil {
			return "", err
		}
	}
	gs.saveOwnChange(bridge.GroupChange{JID: jid, PictureID: &id})
	return id, nil
}

func (c *conn) changePicture(ctx context.Context, jid bridge.JID, picture []byte) (id string, err error) {
	answer, err := c.ChangePicture(ctx, convert.WireJID(jid), picture, c.gs.o.Answer())
	removes := len(picture) == 0
	if removes && iqCode(err) == codeNotFound { // there is no picture, or no such group
		_, err = c.describe(ctx, jid)
		return "", err
	}
	switch {
	case iqCode(err) == codeBlocked:
		return "", bridge.Fail(bridge.CodeSendRefused, "the network does not accept this picture (code 406): use another one").Because(err)
	case err != nil:
		return "", c.refusal(ctx, jid, err)
	case removes:
		return "", nil
	}
	set, _ := answer.GetOptionalChildByTag("picture")
	id, ok := set.Attrs["id"].(string)
	if !ok {
		return "", c.gs.unanswered(errors.New("the network's answer to a new picture has no id"))
	}
	return id, nil
}
