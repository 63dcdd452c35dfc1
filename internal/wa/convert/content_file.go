package convert

import (
	"cmp"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// readFile reads messages that are a file.
func readFile(msg *waE2E.Message) shown {
	s := shown{file: msg.ProtoReflect().Get(contentField(msg)).Message().Interface()}
	if file, is := s.file.(interface{ GetCaption() string }); is {
		s.text = file.GetCaption()
	}
	return s
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

// descriptor describes a file; nil for nil.
func descriptor(file proto.Message) *bridge.Media {
	f, is := file.(encryptedFile)
	if !is {
		return nil
	}
	media := &bridge.Media{MimeType: f.GetMimetype(), Size: int64(f.GetFileLength()), Ref: bridge.MediaRef{
		DirectPath: f.GetDirectPath(), MediaKey: f.GetMediaKey(), FileSHA256: f.GetFileSHA256(), FileEncSHA256: f.GetFileEncSHA256(),
	}}
	switch m := file.(type) {
	case *waE2E.ImageMessage:
		media.Type, media.Caption, media.Width, media.Height = bridge.MediaImage, m.GetCaption(), int(m.GetWidth()), int(m.GetHeight())
	case *waE2E.VideoMessage:
		media.Type, media.Caption, media.Width, media.Height = bridge.MediaVideo, m.GetCaption(), int(m.GetWidth()), int(m.GetHeight())
		media.DurationSec = int(m.GetSeconds())
	case *waE2E.AudioMessage:
		media.Type, media.DurationSec, media.PTT = bridge.MediaAudio, int(m.GetSeconds()), m.GetPTT()
	case *waE2E.DocumentMessage:
		media.Type, media.Caption, media.FileName, media.Pages = bridge.MediaDocument, m.GetCaption(), cmp.Or(m.GetFileName(), m.GetTitle()), int(m.GetPageCount())
	case *waE2E.StickerMessage:
		media.Type, media.Width, media.Height, media.IsAnimated = bridge.MediaSticker, int(m.GetWidth()), int(m.GetHeight()), m.GetIsAnimated() || m.GetIsLottie()
	}
	return media
}

// encryptedFile is what every message with a file says of it.
type encryptedFile interface {
	GetDirectPath() string
	GetMediaKey() []byte
	GetFileSHA256() []byte
	GetFileEncSHA256() []byte
	GetMimetype() string
	GetFileLength() uint64
}

// SetDirectPath gives the message's file a new place, wherever in the message
// it is. The URL is the old place's and goes.
func SetDirectPath(msg *waE2E.Message, path string) {
	file := read(innermost(msg)).file
	if file == nil {
		return
	}
	setFields(file, map[protoreflect.Name]any{"directPath": path})
	file.ProtoReflect().Clear(file.ProtoReflect().Descriptor().Fields().ByName("URL"))
}

// NewPlace reads where the phone has put the file. A path that could lead to
// another host is neither stored nor passed on.
func NewPlace(e *events.MediaRetry, key []byte) (string, error) {
	notice, err := opened(func() (*waMmsRetry.MediaRetryNotification, error) {
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

// UploadedMessage describes an uploaded file as the official clients do.
func UploadedMessage(f bridge.File, up bridge.UploadedFile) *waE2E.Message {
	caption, width, height := optional(f.Caption), optionalSize(f.Width), optionalSize(f.Height)
	msg := new(waE2E.Message)
	var file proto.Message
	switch f.Type {
	case bridge.MediaImage:
		msg.ImageMessage = &waE2E.ImageMessage{Caption: caption, Width: width, Height: height, JPEGThumbnail: f.Thumbnail}
		file = msg.ImageMessage
	case bridge.MediaVideo:
		msg.VideoMessage = &waE2E.VideoMessage{Caption: caption, Width: width, Height: height, JPEGThumbnail: f.Thumbnail, Seconds: optionalSize(f.Seconds)}
		file = msg.VideoMessage
	case bridge.MediaAudio:
		msg.AudioMessage = &waE2E.AudioMessage{Seconds: optionalSize(f.Seconds), PTT: &f.PTT, Waveform: f.Waveform}
		file = msg.AudioMessage
	case bridge.MediaSticker:
		msg.StickerMessage = &waE2E.StickerMessage{Width: width, Height: height, IsAnimated: &f.Animated}
		file = msg.StickerMessage
	default:
		msg.DocumentMessage = &waE2E.DocumentMessage{FileName: optional(f.FileName), Title: optional(f.FileName), Caption: caption, JPEGThumbnail: f.Thumbnail}
		file = msg.DocumentMessage
	}
	setFields(file, map[protoreflect.Name]any{
		"URL": up.URL, "directPath": up.DirectPath, "mediaKey": up.MediaKey, "mediaKeyTimestamp": time.Now().Unix(), "mimetype": f.MimeType,
		"fileSHA256": up.FileSHA256, "fileEncSHA256": up.FileEncSHA256, "fileLength": uint64(up.Size),
	})
	if msg.DocumentMessage.GetCaption() != "" {
		return captioned(msg)
	}
	return msg
}

// setFields sets fields that every kind of file has, by their names. Bytes that are
// missing are not set.
func setFields(file proto.Message, values map[protoreflect.Name]any) {
	m := file.ProtoReflect()
	for name, value := range values {
		if bytes, is := value.([]byte); is && bytes == nil {
			continue
		}
		m.Set(m.Descriptor().Fields().ByName(name), protoreflect.ValueOf(value))
	}
}

func optionalSize(n int) *uint32 {
	if n <= 0 {
		return nil
	}
	return proto.Uint32(uint32(n))
}

// captioned wraps a document with a caption, without which the apps do not
// show it.
func captioned(document *waE2E.Message) *waE2E.Message {
	return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: document}}
}
