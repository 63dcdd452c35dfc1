package wa

import (
	"cmp"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// readFile reads messages that are a file.
func readFile(msg *waE2E.Message) shown {
	switch {
	case msg.ImageMessage != nil:
		return shown{text: msg.GetImageMessage().GetCaption(), file: msg.ImageMessage}
	case msg.VideoMessage != nil:
		return shown{text: msg.GetVideoMessage().GetCaption(), file: msg.VideoMessage}
	case msg.PtvMessage != nil:
		return shown{text: msg.GetPtvMessage().GetCaption(), file: msg.PtvMessage}
	case msg.AudioMessage != nil:
		return shown{file: msg.AudioMessage}
	case msg.DocumentMessage != nil:
		return shown{text: msg.GetDocumentMessage().GetCaption(), file: msg.DocumentMessage}
	case msg.StickerMessage != nil:
		return shown{file: msg.StickerMessage}
	}
	return shown{}
}

// headerFile returns the first of some parts of a header that is a file, nil
// if none is.
func headerFile(image *waE2E.ImageMessage, video *waE2E.VideoMessage, document *waE2E.DocumentMessage) proto.Message {
	switch {
	case image != nil:
		return image
	case video != nil:
		return video
	case document != nil:
		return document
	}
	return nil
}

// mediaOf describes the file that the message carries; nil if it has none.
func mediaOf(msg *waE2E.Message) *bridge.Media { return descriptor(read(msg).file) }

func descriptor(file proto.Message) *bridge.Media {
	switch m := file.(type) {
	case *waE2E.ImageMessage:
		return &bridge.Media{Type: bridge.MediaImage, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()), Caption: m.GetCaption(),
			Width: int(m.GetWidth()), Height: int(m.GetHeight()), Ref: refOf(m)}
	case *waE2E.VideoMessage:
		return &bridge.Media{Type: bridge.MediaVideo, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()), Caption: m.GetCaption(),
			DurationSec: int(m.GetSeconds()), Width: int(m.GetWidth()), Height: int(m.GetHeight()), Ref: refOf(m)}
	case *waE2E.AudioMessage:
		return &bridge.Media{Type: bridge.MediaAudio, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()),
			DurationSec: int(m.GetSeconds()), PTT: m.GetPTT(), Ref: refOf(m)}
	case *waE2E.DocumentMessage:
		return &bridge.Media{Type: bridge.MediaDocument, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()), Caption: m.GetCaption(),
			FileName: cmp.Or(m.GetFileName(), m.GetTitle()), Pages: int(m.GetPageCount()), Ref: refOf(m)}
	case *waE2E.StickerMessage:
		return &bridge.Media{Type: bridge.MediaSticker, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()),
			Width: int(m.GetWidth()), Height: int(m.GetHeight()), IsAnimated: m.GetIsAnimated() || m.GetIsLottie(), Ref: refOf(m)}
	}
	return nil
}

// encryptedFile reads what every media message says of its file.
type encryptedFile interface {
	GetDirectPath() string
	GetMediaKey() []byte
	GetFileSHA256() []byte
	GetFileEncSHA256() []byte
}

func refOf(m encryptedFile) bridge.MediaRef {
	return bridge.MediaRef{DirectPath: m.GetDirectPath(), MediaKey: m.GetMediaKey(), FileSHA256: m.GetFileSHA256(), FileEncSHA256: m.GetFileEncSHA256()}
}

// setDirectPath gives the message's file a new place, wherever in the message
// it is. The URL is the old place's and goes.
func setDirectPath(msg *waE2E.Message, path string) {
	switch file := read(msg).file.(type) {
	case *waE2E.ImageMessage:
		file.DirectPath, file.URL = &path, nil
	case *waE2E.VideoMessage:
		file.DirectPath, file.URL = &path, nil
	case *waE2E.AudioMessage:
		file.DirectPath, file.URL = &path, nil
	case *waE2E.DocumentMessage:
		file.DirectPath, file.URL = &path, nil
	case *waE2E.StickerMessage:
		file.DirectPath, file.URL = &path, nil
	}
}
