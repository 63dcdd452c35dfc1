package convert

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

func readFile(msg *waE2E.Message) shown {
	file := msg.ProtoReflect().Get(contentField(msg)).Message().Interface()
	return shown{file: file, text: get[string](file, "caption")}
}

// headerFile returns the file of a header, nil if it has none.
func headerFile(header proto.Message) proto.Message {
	m := header.ProtoReflect()
	for _, name := range []protoreflect.Name{"imageMessage", "videoMessage", "documentMessage"} {
		if field := m.Descriptor().Fields().ByName(name); m.Has(field) {
			return m.Get(field).Message().Interface()
		}
	}
	return nil
}

// MediaOf describes the file that a message carries, within its wrappers; nil if it
// has none.
func MediaOf(msg *waE2E.Message) *bridge.Media { return descriptor(read(unwrap(msg).msg).file) }

// descriptor describes a file; nil for nil.
func descriptor(file proto.Message) *bridge.Media {
	if file == nil {
		return nil
	}
	kind := strings.TrimSuffix(string(file.ProtoReflect().Descriptor().Name()), "Message")
	return &bridge.Media{
		Type: bridge.MediaType(strings.ToLower(kind)), MimeType: get[string](file, "mimetype"), Size: int64(get[uint64](file, "fileLength")),
		FileName: cmp.Or(get[string](file, "fileName"), get[string](file, "title")), Caption: get[string](file, "caption"),
		Width: int(get[uint32](file, "width")), Height: int(get[uint32](file, "height")), Pages: int(get[uint32](file, "pageCount")),
		DurationSec: int(get[uint32](file, "seconds")), PTT: get[bool](file, "PTT"),
		IsAnimated: get[bool](file, "isAnimated") || get[bool](file, "isLottie"), GIF: get[bool](file, "gifPlayback"),
		Ref: bridge.MediaRef{
			DirectPath: get[string](file, "directPath"), MediaKey: get[[]byte](file, "mediaKey"),
			FileSHA256: get[[]byte](file, "fileSHA256"), FileEncSHA256: get[[]byte](file, "fileEncSHA256"),
		},
	}
}

// get returns a field by its name, or the zero value if the message has no such field.
func get[T any](msg proto.Message, name protoreflect.Name) (value T) {
	if field := msg.ProtoReflect().Descriptor().Fields().ByName(name); field != nil {
		value, _ = msg.ProtoReflect().Get(field).Interface().(T)
	}
	return value
}

// SetDirectPath gives the message's file a new place, wherever in the message
// it is. The URL is the old place's and goes.
func SetDirectPath(msg *waE2E.Message, path string) {
	file := read(unwrap(msg).inner).file
	if file == nil {
		return
	}
	setFields(file, map[protoreflect.Name]any{"directPath": path})
	file.ProtoReflect().Clear(file.ProtoReflect().Descriptor().Fields().ByName("URL"))
}

// Declare declares the message's file, wherever in the message it is, as computers open it ([bridge.DeclaredType]). It
// fails with [bridge.CodeUnsupportedMedia] if they open no file of its type.
func Declare(msg *waE2E.Message) error {
	file := read(unwrap(msg).inner).file
	if file == nil {
		return nil
	}
	described := descriptor(file)
	declared, isOpened := bridge.DeclaredType(described.Type, described.MimeType)
	if !isOpened {
		return bridge.NotOpened(described.Type, declared, "download it and send it as a new file, which is converted if the bridge finds ffmpeg")
	}
	setFields(file, map[protoreflect.Name]any{"mimetype": declared})
	return nil
}

// NewPath returns the path of a file that the phone has uploaded again. It refuses a path that could lead to another host.
func NewPath(e *events.MediaRetry, key []byte) (string, error) {
	notice, err := opened(func() (*waMmsRetry.MediaRetryNotification, error) {
		return whatsmeow.DecryptMediaRetryNotification(e, key)
	})
	switch {
	case err != nil:
		return "", MediaGone(err)
	case notice.GetResult() != waMmsRetry.MediaRetryNotification_SUCCESS || notice.GetDirectPath() == "":
		return "", MediaGone(fmt.Errorf("the phone answered %s", notice.GetResult()))
	case !bridge.IsDirectPath(notice.GetDirectPath()):
		return "", bridge.Fail(bridge.CodeMediaInvalid, "the phone uploaded the file again, but its answer has no valid path")
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

// albumOf returns the id of the album that a message is a part of; nil if none.
func albumOf(msg *waE2E.Message) *string {
	part := msg.GetMessageContextInfo().GetMessageAssociation()
	if part.GetAssociationType() != waE2E.MessageAssociation_MEDIA_ALBUM {
		return nil
	}
	return optional(ID(part.GetParentMessageKey().GetID()))
}

// UploadedMessage describes an uploaded file as the official clients do.
func UploadedMessage(f bridge.File, up bridge.UploadedFile) *waE2E.Message {
	msg := new(waE2E.Message)
	m := msg.ProtoReflect()
	kind := m.Descriptor().Fields().ByName(protoreflect.Name(f.Type) + "Message")
	setFields(m.Mutable(kind).Message().Interface(), map[protoreflect.Name]any{
		"caption": f.Caption, "width": uint32(max(0, f.Width)), "height": uint32(max(0, f.Height)), "JPEGThumbnail": f.Thumbnail,
		"seconds": uint32(max(0, f.Seconds)), "PTT": f.PTT, "waveform": f.Waveform, "isAnimated": f.Animated, "fileName": f.FileName, "title": f.FileName,
		"URL": up.URL, "directPath": up.DirectPath, "mediaKey": up.MediaKey, "mediaKeyTimestamp": time.Now().Unix(), "mimetype": f.MimeType,
		"fileSHA256": up.FileSHA256, "fileEncSHA256": up.FileEncSHA256, "fileLength": uint64(up.Size),
	})
	if f.GIF && msg.VideoMessage != nil {
		msg.VideoMessage.GifPlayback = proto.Bool(true)
	}
	switch {
	case msg.DocumentMessage.GetCaption() != "":
		return captioned(msg)
	case f.ViewOnce:
		return viewedOnce(msg)
	}
	return msg
}

// viewedOnce wraps a picture, a video or a voice note, which the apps then show once. The thumbnail goes, because it
// would remain.
func viewedOnce(file *waE2E.Message) *waE2E.Message {
	content := file.ProtoReflect().Get(contentField(file)).Message()
	setFields(content.Interface(), map[protoreflect.Name]any{"viewOnce": true})
	if thumbnail := content.Descriptor().Fields().ByName("JPEGThumbnail"); thumbnail != nil {
		content.Clear(thumbnail)
	}
	wrapper := &waE2E.FutureProofMessage{Message: file}
	if file.AudioMessage != nil {
		return &waE2E.Message{ViewOnceMessageV2Extension: wrapper}
	}
	return &waE2E.Message{ViewOnceMessageV2: wrapper}
}

// setFields sets those fields that a kind of file has, by their names. Texts, sizes
// and bytes that are missing are not set.
func setFields(file proto.Message, values map[protoreflect.Name]any) {
	m := file.ProtoReflect()
	for name, value := range values {
		bytes, isBytes := value.([]byte)
		field := m.Descriptor().Fields().ByName(name)
		if field != nil && value != "" && value != uint32(0) && (!isBytes || bytes != nil) {
			m.Set(field, protoreflect.ValueOf(value))
		}
	}
}

// captioned wraps a document with a caption, without which the apps do not
// show it.
func captioned(document *waE2E.Message) *waE2E.Message {
	return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: document}}
}
