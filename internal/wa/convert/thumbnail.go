package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// Thumbnail returns the small picture that the sender has put into an encoded message: of its file, or of the page
// that its text links to. It returns nil if none, also if the message cannot be read.
func Thumbnail(raw []byte) []byte {
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(raw, msg); err != nil {
		return nil
	}
	inner := unwrap(msg).msg
	if file := read(inner).file; file != nil {
		return get[[]byte](file, "JPEGThumbnail")
	}
	return inner.GetExtendedTextMessage().GetJPEGThumbnail()
}
