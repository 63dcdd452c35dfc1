package compat

import (
	"encoding/base64"

	"bridged/internal/bridge"
)

// Picture returns the picture of a person or a group as a data: URI, since that of the API
// needs a key; nil where there is none, or none that the account may see.
func Picture(c *Call, of bridge.JID) (*string, error) {
	data, mimeType, err := c.API.Picture(c.Context(), of, bridge.PicturePreview)
	switch bridge.CodeOf(err) {
	case bridge.CodeNoPicture, bridge.CodePictureHidden, bridge.CodeNotFound:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return new("data:" + mimeType + ";base64," + base64.StdEncoding.EncodeToString(data)), nil
}
