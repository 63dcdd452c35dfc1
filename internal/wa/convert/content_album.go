package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// readAlbum reads the message that announces an album, whose pictures and videos
// are messages of their own.
func readAlbum(msg *waE2E.Message) shown {
	album := msg.GetAlbumMessage()
	return shown{parts: bridge.Parts{Album: &bridge.Album{Images: int(album.GetExpectedImageCount()), Videos: int(album.GetExpectedVideoCount())}}}
}

// albumOf returns the id of the album that a message is a part of; nil for none.
func albumOf(msg *waE2E.Message) *string {
	part := msg.GetMessageContextInfo().GetMessageAssociation()
	if part.GetAssociationType() != waE2E.MessageAssociation_MEDIA_ALBUM {
		return nil
	}
	if id := ID(part.GetParentMessageKey().GetID()); id != "" {
		return &id
	}
	return nil
}
