package compat

import (
	"encoding/base64"
	"strings"

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

// SetGroupPicture gives a group the picture that came with the call.
func SetGroupPicture(c *Call, group bridge.JID, address string) error {
	switch {
	case c.Upload != nil:
		return c.API.SetGroupPicture(c.Context(), group, c.Upload.Open(), c.Key())
	case strings.TrimSpace(address) != "":
		return bridge.Invalid("bridged does not fetch pictures of groups: send the picture itself, in base64 or as the file of a form")
	}
	return bridge.Invalid("the picture is missing: give its bytes in base64, or a form with the part file")
}
