package wa

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// Picture asks the network for the location of the picture of a person or a group.
func (m *Manager) Picture(ctx context.Context, of bridge.JID, size bridge.PictureSize) (bridge.Picture, error) {
	l, err := m.open()
	if err != nil {
		return bridge.Picture{}, err
	}
	info, err := l.cli.GetProfilePictureInfo(ctx, convert.WireJID(m.store.Canonical(of)), &whatsmeow.GetProfilePictureParams{Preview: size == bridge.PicturePreview})
	switch {
	case errors.Is(err, whatsmeow.ErrProfilePictureNotSet), err == nil && info == nil:
		return bridge.Picture{}, bridge.Fail(bridge.CodeNoPicture, "there is no picture").Because(err)
	case errors.Is(err, whatsmeow.ErrProfilePictureUnauthorized), errors.Is(err, whatsmeow.ErrIQForbidden):
		return bridge.Picture{}, bridge.Fail(bridge.CodePictureHidden, "the picture is not shown to this account").Because(err)
	case err != nil:
		return bridge.Picture{}, m.RefusalOf(err, of)
	}
	return bridge.Picture{DirectPath: info.DirectPath}, nil
}
