package compat

import (
	"cmp"
	"mime"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Outgoing is a file to send: one that came with the call, or one to be fetched. Its type
// and name are hints, which are often wrong.
type Outgoing struct {
	Kind     bridge.MediaType
	Address  string
	Caption  string
	Name     string
	MimeType string
	Voice    bool   // a voice note, if it can be one
	Convert  bool   // a video, into one that the apps play
	Key      string // under which the send can be repeated; empty for the call's own
}

// Send sends the file, and returns what of it is known.
func (f Outgoing) Send(c *Call, chat bridge.JID, quote client.Quote) (client.Sent, *bridge.Media, error) {
	shown := &bridge.Media{Type: f.Kind, Caption: f.Caption, MimeType: f.MimeType}
	if f.Kind == bridge.MediaDocument {
		shown.FileName = f.plainName(c.Upload)
	}
	switch {
	case c.Upload != nil:
		sent, err := f.upload(c, chat, quote, shown)
		return sent, shown, err
	case f.Address == "":
		return client.Sent{}, nil, bridge.Invalid("the file is missing: give its http(s) address, its bytes in base64, or a form with the part file")
	case f.Kind == bridge.MediaSticker:
		return client.Sent{}, nil, bridge.Invalid("bridged does not fetch stickers: send the picture itself, in base64 or as the file of a form")
	}
	sent, err := f.trying(shown, func() (client.Sent, error) {
		return c.API.Send(c.Context(), client.File{
			To: chat, URL: f.Address, Type: f.Kind, Caption: f.Caption, FileName: shown.FileName, PTT: shown.PTT, Convert: f.Convert, Quote: quote,
		}, cmp.Or(f.Key, c.Key()))
	})
	return sent, shown, err
}

func (f Outgoing) upload(c *Call, chat bridge.JID, quote client.Quote, shown *bridge.Media) (client.Sent, error) {
	shown.Size, shown.MimeType = c.Upload.Size(), cmp.Or(shown.MimeType, c.Upload.MimeType)
	return f.trying(shown, func() (client.Sent, error) {
		return c.API.SendFile(c.Context(), client.Upload{
			To: chat, FileName: cmp.Or(shown.FileName, "file"), Type: f.Kind, Caption: f.Caption, PTT: shown.PTT, Convert: f.Convert,
			QuotedMsgID: quote.QuotedMsgID, QuotedChatJID: quote.QuotedChatJID,
		}, c.Upload.Open(), cmp.Or(f.Key, c.Key()))
	})
}

// trying sends the file as what it can be.
func (f Outgoing) trying(shown *bridge.Media, send func() (client.Sent, error)) (client.Sent, error) {
	return Trying(f.Voice && f.Kind == bridge.MediaAudio, func(voice bool) (client.Sent, error) {
		shown.PTT = voice
		return send()
	})
}

// Trying sends a sound, as a voice note if it is to be one. The bridge knows whether it can be:
// what cannot is sent as a sound, under the same key.
func Trying(voice bool, send func(voice bool) (client.Sent, error)) (client.Sent, error) {
	if voice {
		sent, err := send(true)
		if code := bridge.CodeOf(err); err == nil || code != bridge.CodeUnsupportedMedia && code != bridge.CodeIdempotencyMismatch {
			return sent, err
		}
	}
	return send(false)
}

// plainName returns the document's name, without what could be a directory.
func (f Outgoing) plainName(upload *Upload) string {
	name := f.Name
	if name == "" && upload != nil {
		name = upload.Name
	}
	name = bridge.PlainFileName(strings.NewReplacer("/", "_", `\`, "_", "\ufeff", "").Replace(name))
	return strings.TrimLeft(strings.TrimSpace(name), ".")
}

// Extension returns what the name of a file of a type ends with, without a dot.
func Extension(mimeType string) string {
	base, _, _ := mime.ParseMediaType(mimeType)
	_, extension, _ := strings.Cut(base, "/")
	switch {
	case base == "audio/mpeg":
		return "mp3"
	case base == "text/plain":
		return "txt"
	case extension == "", strings.Trim(extension, "abcdefghijklmnopqrstuvwxyz0123456789") != "": // a sender may have chosen it
		return "bin"
	}
	return extension
}

// GroupOf returns a group as it is on the network, else as it is stored.
func GroupOf(detail client.GroupDetail) bridge.Group {
	if detail.Live != nil {
		return *detail.Live
	}
	return detail.Stored.Group
}
