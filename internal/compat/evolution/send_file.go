package evolution

import (
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// sendMediaBody holds what [sendMedia] reads.
type sendMediaBody struct {
	toNumber
	MediaType compat.Text `json:"mediatype"`
	MimeType  compat.Text `json:"mimetype"`
	Caption   compat.Text `json:"caption"`
	FileName  compat.Text `json:"fileName"`
	Media     compat.Text `json:"media"`
}

func sendMedia(c *compat.Call, in sendMediaBody) (compat.Answer, error) {
	kind := bridge.MediaType(strings.ToLower(string(in.MediaType)))
	if kind == bridge.MediaSticker || !slices.Contains(bridge.MediaTypes, kind) {
		return compat.Answer{}, bridge.Invalid(`instance requires property "mediatype": image, video, audio or document`)
	}
	return in.sendFile(c, compat.Outgoing{
		Kind: kind, Address: string(in.Media), Caption: string(in.Caption), Name: string(in.FileName), MimeType: string(in.MimeType),
	})
}

// sendAudioBody holds what [sendAudio] reads.
type sendAudioBody struct {
	toNumber
	Audio compat.Text `json:"audio"`
}

func sendAudio(c *compat.Call, in sendAudioBody) (compat.Answer, error) {
	return in.sendFile(c, compat.Outgoing{Kind: bridge.MediaAudio, Address: string(in.Audio), Voice: true})
}

// sendStickerBody holds what [sendSticker] reads.
type sendStickerBody struct {
	toNumber
	Sticker compat.Text `json:"sticker"`
}

func sendSticker(c *compat.Call, in sendStickerBody) (compat.Answer, error) {
	return in.sendFile(c, compat.Outgoing{Kind: bridge.MediaSticker, Address: string(in.Sticker)})
}

// sendRoundVideoBody holds what [sendRoundVideo] reads.
type sendRoundVideoBody struct {
	toNumber
	Video compat.Text `json:"video"`
}

// sendRoundVideo sends an ordinary video: bridged makes no round ones.
func sendRoundVideo(c *compat.Call, in sendRoundVideoBody) (compat.Answer, error) {
	return in.sendFile(c, compat.Outgoing{Kind: bridge.MediaVideo, Address: string(in.Video)})
}

// sendFile sends the file that came with the call, or has one fetched.
func (to toNumber) sendFile(c *compat.Call, f compat.Outgoing) (compat.Answer, error) {
	if c.Upload == nil && f.Address == "" {
		return compat.Answer{}, bridge.Invalid("the file is missing: give its http(s) address, its bytes in base64, or a form with the part file")
	}
	if err := to.noMentions(); err != nil {
		return compat.Answer{}, err
	}
	state := bridge.TypingText
	if f.Kind == bridge.MediaAudio {
		state = bridge.TypingVoice
	}
	chat, quote, err := to.begin(c, state)
	if err != nil {
		return compat.Answer{}, err
	}
	content := bridge.Message{MessageType: fileTypes[f.Kind], Content: f.Caption}
	return sendWith(c, http.StatusCreated, func() (sent client.Sent, err error) {
		sent, content.Media, err = f.Send(c, chat, quote)
		return sent, err
	}, showing(&content))
}
