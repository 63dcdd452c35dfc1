package compat

import (
	"encoding/base64"
	"io"
	"strings"

	"bridged/internal/bridge"
)

// Group returns a group as it is on the network, or as it is stored if the network was not asked.
func Group(c *Call, jid bridge.JID) (bridge.Group, error) {
	detail, err := c.API.Group(c.Context(), jid)
	return detail.Latest(), err
}

// Role returns the role of a group's member as most upstream APIs name it; other is the name of a member
// who is not an admin.
func Role(p bridge.Participant, other string) string {
	switch {
	case p.IsSuperAdmin:
		return "superadmin"
	case p.IsAdmin:
		return "admin"
	}
	return other
}

// Picture returns the picture of a person or a group as a data: URI, because the API's own address
// needs a key. It returns nil if there is no picture or the account may not see it.
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

// SetPicture calls set with the picture in the upload of the call. It returns an error if there is none;
// address is the URL that the caller gave instead, or empty.
func SetPicture(c *Call, address string, set func(picture io.Reader) error) error {
	switch {
	case c.Upload != nil:
		return set(c.Upload.Open())
	case strings.TrimSpace(address) != "":
		return bridge.Invalid("bridged does not fetch pictures: send the picture itself, in base64 or as the file of a form")
	}
	return bridge.Invalid("the picture is missing: give its bytes in base64, or a form with the part file")
}
