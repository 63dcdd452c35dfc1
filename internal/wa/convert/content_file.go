package convert

import (
	"cmp"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types/events"
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

// MediaOf describes the file that a message carries, within its wrappers; nil if it
// has none.
func MediaOf(msg *waE2E.Message) *bridge.Media { return descriptor(read(innermost(msg)).file) }

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

// SetDirectPath gives the message's file a new place, wherever in the message
// it is. The URL is the old place's and goes.
func SetDirectPath(msg *waE2E.Message, path string) {
	switch file := read(innermost(msg)).file.(type) {
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

// NewPlace reads where the phone has put the file. A path that could lead to
// another host is neither stored nor passed on.
func NewPlace(e *events.MediaRetry, key []byte) (string, error) {
	notice, err := Opened(func() (*waMmsRetry.MediaRetryNotification, error) {
		return whatsmeow.DecryptMediaRetryNotification(e, key)
	})
	if err != nil {
		return "", MediaGone(err)
	}
	if notice.GetResult() != waMmsRetry.MediaRetryNotification_SUCCESS || notice.GetDirectPath() == "" {
		return "", MediaGone(fmt.Errorf("the phone answered %s", notice.GetResult()))
	}
	if !bridge.IsDirectPath(notice.GetDirectPath()) {
		return "", bridge.Fail(bridge.CodeMediaInvalid, "the phone uploaded the file again, but did not say properly where it is")
	}
	return notice.GetDirectPath(), nil
}

func MediaGone(cause error) error {
	return bridge.Fail(bridge.CodeMediaGone, "the network no longer has the file, and the phone could not upload it again: it cannot be recovered").Because(cause)
}
