package evolution

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// outgoing is a file to send: one that came with the call, or one to be fetched. Its type
// and name are hints, which are often wrong.
type outgoing struct {
	kind     bridge.MediaType
	address  string
	caption  string
	name     string
	mimeType string
	voice    bool // a voice note, if it can be one
}

type mediaFields struct {
	MediaType compat.Text `json:"mediatype"`
	MimeType  compat.Text `json:"mimetype"`
	Caption   compat.Text `json:"caption"`
	FileName  compat.Text `json:"fileName"`
	Media     compat.Text `json:"media"`
}

func sendMedia(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toNumber
		mediaFields
		V1 *mediaFields `json:"mediaMessage"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if in.V1 != nil {
		in.mediaFields = *in.V1
	}
	kind := bridge.MediaType(strings.ToLower(string(in.MediaType)))
	if kind == bridge.MediaSticker || !slices.Contains(bridge.MediaTypes, kind) {
		return compat.Answer{}, bridge.Invalid(`instance requires property "mediatype": image, video, audio or document`)
	}
	return in.sendFile(c, outgoing{
		kind: kind, address: string(in.Media), caption: string(in.Caption), name: string(in.FileName), mimeType: string(in.MimeType),
	})
}

func sendAudio(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toNumber
		Audio compat.Text `json:"audio"`
		V1    struct {
			Audio compat.Text `json:"audio"`
		} `json:"audioMessage"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	return in.sendFile(c, outgoing{kind: bridge.MediaAudio, address: string(cmp.Or(in.Audio, in.V1.Audio)), voice: true})
}

func sendSticker(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toNumber
		Sticker compat.Text `json:"sticker"`
		V1      struct {
			Image compat.Text `json:"image"`
		} `json:"stickerMessage"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if c.Upload == nil && cmp.Or(in.Sticker, in.V1.Image) != "" {
		return compat.Answer{}, bridge.Invalid("bridged does not fetch stickers: send the picture itself, in base64 or as the file of a form")
	}
	return in.sendFile(c, outgoing{kind: bridge.MediaSticker})
}

// sendRoundVideo sends an ordinary video: bridged makes no round ones.
func sendRoundVideo(c *compat.Call) (compat.Answer, error) {
	var in struct {
		toNumber
		Video compat.Text `json:"video"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	return in.sendFile(c, outgoing{kind: bridge.MediaVideo, address: string(in.Video)})
}

// sendFile sends the file that came with the call, or has one fetched.
func (to toNumber) sendFile(c *compat.Call, f outgoing) (compat.Answer, error) {
	if c.Upload == nil && f.address == "" {
		return compat.Answer{}, bridge.Invalid("the file is missing: give its http(s) address, its bytes in base64, or a form with the part file")
	}
	if err := to.all().noMentions(); err != nil {
		return compat.Answer{}, err
	}
	state := bridge.TypingText
	if f.kind == bridge.MediaAudio {
		state = bridge.TypingVoice
	}
	chat, quote, err := to.begin(c, state)
	if err != nil {
		return compat.Answer{}, err
	}
	shown := bridge.Media{Type: f.kind, Caption: f.caption, MimeType: f.mimeType}
	if f.kind == bridge.MediaDocument {
		shown.FileName = f.plainName(c.Upload)
	}
	sent, err := f.send(c, chat, quote, &shown)
	if err != nil {
		return compat.Answer{}, err
	}
	return answerSent(c, http.StatusCreated, bridge.Message{MessageType: fileTypes[f.kind], Content: f.caption, Media: &shown}, sent)
}

func (f outgoing) send(c *compat.Call, chat bridge.JID, quote client.Quote, shown *bridge.Media) (client.Sent, error) {
	if c.Upload == nil {
		return f.sendAddress(c, client.File{To: chat, URL: f.address, Type: f.kind, Caption: f.caption, FileName: shown.FileName, Quote: quote}, shown)
	}
	shown.PTT, shown.Size, shown.MimeType = f.voice && c.Upload.IsVoice(), c.Upload.Size(), cmp.Or(shown.MimeType, c.Upload.MimeType)
	return c.API.SendFile(c.Context(), client.Upload{
		To: chat, FileName: cmp.Or(shown.FileName, "file"), Type: f.kind, Caption: f.caption, PTT: shown.PTT,
		QuotedMsgID: quote.QuotedMsgID, QuotedChatJID: quote.QuotedChatJID,
	}, c.Upload.Open(), c.Key())
}

// sendAddress has a file fetched and sent. Whether it can be a voice note is only known
// then: what cannot is sent as a sound, under the same key.
func (f outgoing) sendAddress(c *compat.Call, file client.File, shown *bridge.Media) (client.Sent, error) {
	if f.voice {
		file.PTT, shown.PTT = true, true
		sent, err := c.API.Send(c.Context(), file, c.Key())
		if code := bridge.CodeOf(err); err == nil || code != bridge.CodeUnsupportedMedia && code != bridge.CodeIdempotencyMismatch {
			return sent, err
		}
		file.PTT, shown.PTT = false, false
	}
	return c.API.Send(c.Context(), file, c.Key())
}

// plainName returns the document's name, without what could be a directory.
func (f outgoing) plainName(upload *compat.Upload) string {
	name := f.name
	if name == "" && upload != nil {
		name = upload.Name
	}
	name = bridge.PlainFileName(strings.NewReplacer("/", "_", `\`, "_", "\ufeff", "").Replace(name))
	return strings.TrimLeft(strings.TrimSpace(name), ".")
}
