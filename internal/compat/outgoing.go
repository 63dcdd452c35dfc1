package compat

import (
	"cmp"
	"mime"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Outgoing is a file to send: the upload of the call, or a file to fetch. Its type and name are hints
// that are often wrong.
type Outgoing struct {
	Kind     bridge.MediaType
	Address  string
	Caption  string
	Name     string
	MimeType string
	Voice    bool // send as a voice note if possible
	Convert  bool // convert a video to a format that the apps play
	GIF      bool // have a video repeated without its sound
	ViewOnce bool
	Key      string // idempotency key; empty for the call's own
}

// messageTypes has the type of the messages with each kind of file.
var messageTypes = map[bridge.MediaType]string{
	bridge.MediaImage: "imageMessage", bridge.MediaVideo: "videoMessage", bridge.MediaAudio: "audioMessage", bridge.MediaDocument: "documentMessage",
	bridge.MediaSticker: "stickerMessage",
}

// MessageType returns the type of the messages with a kind of file, or "" if there is no such kind.
func MessageType(kind bridge.MediaType) string { return messageTypes[kind] }

// IsFileType reports whether messages of a type have a file.
func IsFileType(messageType string) bool {
	for _, known := range messageTypes {
		if messageType == known {
			return true
		}
	}
	return messageType == "ptvMessage"
}

// Send sends the file and returns the message with its content.
func (f Outgoing) Send(c *Call, chat bridge.JID, quote client.Quote) (bridge.Message, error) {
	shown := &bridge.Media{Type: f.Kind, Caption: f.Caption, MimeType: f.MimeType, ViewOnce: f.ViewOnce}
	m := bridge.Message{MessageType: MessageType(f.Kind), Content: f.Caption, Media: shown}
	if f.Kind == bridge.MediaDocument {
		shown.FileName = f.plainName(c.Upload)
	}
	key := cmp.Or(f.Key, c.Key())
	var once func() (client.Sent, error)
	switch {
	case c.Upload != nil:
		shown.Size, shown.MimeType = c.Upload.Size(), cmp.Or(shown.MimeType, c.Upload.MimeType)
		once = func() (client.Sent, error) {
			return c.API.SendFile(c.Context(), client.Upload{
				To: chat, FileName: cmp.Or(shown.FileName, "file"), Type: f.Kind, Caption: f.Caption, PTT: shown.PTT, Convert: f.Convert, GIF: f.GIF, ViewOnce: f.ViewOnce,
				QuotedMsgID: quote.QuotedMsgID, QuotedChatJID: quote.QuotedChatJID,
			}, c.Upload.Open(), key)
		}
	case f.Address == "":
		return m, bridge.Invalid("the file is missing: give its http(s) address, its bytes in base64, or a form with the part file")
	case f.Kind == bridge.MediaSticker:
		return m, bridge.Invalid("bridged does not fetch stickers: send the picture itself, in base64 or as the file of a form")
	default:
		once = func() (client.Sent, error) {
			return c.API.Send(c.Context(), client.File{
				To: chat, URL: f.Address, Type: f.Kind, Caption: f.Caption, FileName: shown.FileName, PTT: shown.PTT, Convert: f.Convert, GIF: f.GIF, ViewOnce: f.ViewOnce, Quote: quote,
			}, key)
		}
	}
	err := c.Deliver(&m, func() (client.Sent, error) {
		return SendAudio(f.Voice && f.Kind == bridge.MediaAudio, func(voice bool) (client.Sent, error) {
			shown.PTT = voice
			return once()
		})
	})
	return m, err
}

// SendAudio calls send, first for a voice note if voice is true. If the API says that the file cannot be a
// voice note, SendAudio sends an audio file under the same key.
func SendAudio(voice bool, send func(voice bool) (client.Sent, error)) (client.Sent, error) {
	if voice {
		sent, err := send(true)
		if code := bridge.CodeOf(err); err == nil || code != bridge.CodeUnsupportedMedia && code != bridge.CodeIdempotencyMismatch {
			return sent, err
		}
	}
	return send(false)
}

// plainName returns the name of a document without directories.
func (f Outgoing) plainName(upload *Upload) string {
	name := f.Name
	if name == "" && upload != nil {
		name = upload.Name
	}
	name = bridge.PlainFileName(strings.NewReplacer("/", "_", `\`, "_", "\ufeff", "").Replace(name))
	return strings.TrimLeft(strings.TrimSpace(name), ".")
}

// Extension returns the extension of files of a type, without a dot.
func Extension(mimeType string) string {
	base, _, _ := mime.ParseMediaType(mimeType)
	_, extension, _ := strings.Cut(base, "/")
	switch {
	case base == "audio/mpeg":
		return "mp3"
	case base == "text/plain":
		return "txt"
	case extension == "", strings.Trim(extension, "abcdefghijklmnopqrstuvwxyz0123456789") != "": // its sender may have chosen it
		return "bin"
	}
	return extension
}
