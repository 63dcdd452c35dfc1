package evolution

import (
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// sendMediaBody is the body of [sendMedia].
type sendMediaBody struct {
	sendBase
	MediaType compat.Text `json:"mediatype"`
	MimeType  compat.Text `json:"mimetype"`
	Caption   compat.Text `json:"caption"`
	FileName  compat.Text `json:"fileName"`
	Media     compat.Text `json:"media"`
	GIF       compat.Flag `json:"gifPlayback"`
	ViewOnce  compat.Flag `json:"viewOnce"`
}

func sendMedia(c *compat.Call, in sendMediaBody) (any, error) {
	kind := bridge.MediaType(strings.ToLower(string(in.MediaType)))
	if kind == bridge.MediaSticker || !slices.Contains(bridge.MediaTypes, kind) {
		return nil, bridge.Invalid(`instance requires property "mediatype": image, video, audio or document`)
	}
	return in.sendFile(c, compat.Outgoing{
		Kind: kind, Address: string(in.Media), Caption: string(in.Caption), Name: string(in.FileName), MimeType: string(in.MimeType),
		GIF: kind == bridge.MediaVideo && bool(in.GIF), ViewOnce: bool(in.ViewOnce),
	})
}

// sendAudioBody is the body of [sendAudio].
type sendAudioBody struct {
	sendBase
	Audio    compat.Text `json:"audio"`
	ViewOnce compat.Flag `json:"viewOnce"`
}

func sendAudio(c *compat.Call, in sendAudioBody) (any, error) {
	return in.sendFile(c, compat.Outgoing{Kind: bridge.MediaAudio, Address: string(in.Audio), Voice: true, ViewOnce: bool(in.ViewOnce)})
}

// sendStickerBody is the body of [sendSticker].
type sendStickerBody struct {
	sendBase
	Sticker compat.Text `json:"sticker"`
}

func sendSticker(c *compat.Call, in sendStickerBody) (any, error) {
	return in.sendFile(c, compat.Outgoing{Kind: bridge.MediaSticker, Address: string(in.Sticker)})
}

// sendRoundVideoBody is the body of [sendRoundVideo].
type sendRoundVideoBody struct {
	sendBase
	Video compat.Text `json:"video"`
}

// sendRoundVideo sends an ordinary video, because bridged sends no round ones.
func sendRoundVideo(c *compat.Call, in sendRoundVideoBody) (any, error) {
	return in.sendFile(c, compat.Outgoing{Kind: bridge.MediaVideo, Address: string(in.Video)})
}

// sendFile sends the file of the call, or the one at an address.
func (to sendBase) sendFile(c *compat.Call, f compat.Outgoing) (any, error) {
	if c.Upload == nil && f.Address == "" {
		return nil, bridge.Invalid("the file is missing: give its http(s) address, its bytes in base64, or a form with the part file")
	}
	if err := to.noMentions(); err != nil {
		return nil, err
	}
	state := bridge.TypingText
	if f.Kind == bridge.MediaAudio {
		state = bridge.TypingVoice
	}
	chat, quote, err := to.prepare(c, state)
	if err != nil {
		return nil, err
	}
	m, err := f.Send(c, chat, quote)
	return sentRecord(m), err
}
