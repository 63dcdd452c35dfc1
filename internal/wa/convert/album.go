package convert

import (
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// AlbumMessage returns the message that announces an album of these pictures and videos.
func AlbumMessage(items []*waE2E.Message) *waE2E.Message {
	var images, videos uint32
	for _, item := range items {
		if item.ImageMessage != nil {
			images++
		} else {
			videos++
		}
	}
	return &waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{ExpectedImageCount: &images, ExpectedVideoCount: &videos}}
}

// SetAlbum makes a message an item of the own album with an id in a chat, which has the form on the wire.
func SetAlbum(item *waE2E.Message, chat bridge.JID, album string) {
	SetSecret(item)
	item.MessageContextInfo.MessageAssociation = &waE2E.MessageAssociation{
		AssociationType:  waE2E.MessageAssociation_MEDIA_ALBUM.Enum(),
		ParentMessageKey: &waCommon.MessageKey{RemoteJID: proto.String(string(chat)), FromMe: proto.Bool(true), ID: &album},
	}
}
