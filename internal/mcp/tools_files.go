package mcp

import (
	"context"
	"errors"
	"io"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

// PictureSide is the longer side of pictures as a model takes them, in pixels.
const PictureSide = 1000

const (
	// maxDocument limits a file whose text or picture is shown, in bytes.
	maxDocument = 10 << 20
	// maxText limits the text of a document in one answer, in characters of both forms
	// together.
	maxText = 20_000
)

func (d door) addFiles() {
	add(d, "get_media", "Get a file", "Shows a picture, or where any other file can be downloaded with the same token.", false, call.media)
	add(d, "read_file", "Read a file", "Shows the text of a document (PDF, Word, Excel, PowerPoint, OpenDocument or plain text), or a picture.", false, call.readFile)
}

type getMedia struct {
	inChat
	MsgID string `json:"msgId" jsonschema:"the message with the file"`
}

type fileAnswer struct {
	facts
	MsgID       string `json:"msgId"`
	DownloadURL string `json:"downloadUrl"` // a path of the API
	// Picture reports that the answer shows the picture, beside the structure.
	Picture   bool `json:"picture"`
	Untrusted struct {
		File    shownFile `json:"file"`
		Caption string    `json:"caption,omitempty"`
	} `json:"untrusted"`
}

func (a *fileAnswer) brief() any {
	short := a.short(map[string]any{"file": a.Untrusted.File, "caption": a.Untrusted.Caption})
	if !a.Picture {
		short["downloadUrl"] = a.DownloadURL
	}
	return short
}

// media shows a picture, or says where a file is.
func (c call) media(ctx context.Context, in getMedia) (*sdk.ImageContent, *fileAnswer, error) {
	info, err := c.client.MediaInfo(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, nil, err
	}
	shown := &fileAnswer{facts: facts{ChatJID: in.JID}, MsgID: in.MsgID, DownloadURL: info.DownloadURL}
	shown.Untrusted.File, shown.Untrusted.Caption = fileOf(info), capped(info.Caption, maxShort)
	if !isPicture(info) || info.Size > maxDocument {
		return nil, shown, nil
	}
	picture, err := c.picture(ctx, in)
	shown.Picture = picture != nil
	if bridge.CodeOf(err) == bridge.CodeUnsupportedMedia {
		err = nil // the address remains
	}
	return picture, shown, err
}

func isPicture(m bridge.Media) bool {
	return m.Type == bridge.MediaImage || m.Type == bridge.MediaSticker
}

// picture returns a message's picture, as large as a model takes it.
func (c call) picture(ctx context.Context, in getMedia) (*sdk.ImageContent, error) {
	data, err := c.download(ctx, in)
	if err != nil {
		return nil, err
	}
	if data, err = c.s.options.Scale(ctx, data); err != nil {
		return nil, err
	}
	return &sdk.ImageContent{Data: data, MIMEType: "image/jpeg"}, nil
}

// download returns a message's file, of at most [maxDocument] bytes.
func (c call) download(ctx context.Context, in getMedia) ([]byte, error) {
	file, _, err := c.client.Download(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	if err = errors.Join(err, file.Close()); err == nil && len(data) > maxDocument {
		err = tooLarge()
	}
	return data, err
}

func tooLarge() error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file has more than %d MiB, too many to read here: get_media says where to download it", maxDocument>>20)
}

type readFile struct {
	getMedia
	Offset whole `json:"offset,omitempty" jsonschema:"nextOffset of an earlier call: where to go on in a long text" range:"0,100000000"`
}

type textAnswer struct {
	facts
	MsgID string `json:"msgId"`
	// Picture reports that the answer shows the picture, beside the structure.
	Picture    bool `json:"picture"`
	Characters int  `json:"characters,omitempty"` // of the whole text
	NextOffset int  `json:"nextOffset,omitempty"` // 0 at the end of the text
	Untrusted  struct {
		File    shownFile `json:"file"`
		Caption string    `json:"caption,omitempty"`
		Text    string    `json:"text,omitempty"`
	} `json:"untrusted"`
}

func (a *textAnswer) brief() any {
	if a.Picture {
		return a.short(map[string]any{"file": a.Untrusted.File, "caption": a.Untrusted.Caption})
	}
	short := a.short(map[string]any{"text": a.Untrusted.Text})
	if a.NextOffset > 0 {
		short["nextOffset"] = a.NextOffset
	}
	return short
}

// readFile shows a part of a document's text, or a picture.
func (c call) readFile(ctx context.Context, in readFile) (*sdk.ImageContent, *textAnswer, error) {
	info, err := c.client.MediaInfo(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, nil, err
	}
	shown := &textAnswer{facts: facts{ChatJID: in.JID}, MsgID: in.MsgID}
	shown.Untrusted.File, shown.Untrusted.Caption = fileOf(info), capped(info.Caption, maxShort)
	switch {
	case info.Size > maxDocument:
		return nil, nil, tooLarge()
	case isPicture(info):
		picture, err := c.picture(ctx, in.getMedia)
		shown.Picture = picture != nil
		return picture, shown, err
	case info.Type != bridge.MediaDocument:
		return nil, nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s, whose words cannot be read: get_media says where to download it", article(info.Type))
	}
	data, err := c.download(ctx, in.getMedia)
	if err != nil {
		return nil, nil, err
	}
	text, err := c.s.options.Text(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	shown.Characters = utf8.RuneCountInString(text)
	if runes := []rune(text); in.Offset > 0 {
		text = string(runes[min(int(in.Offset), len(runes)):])
	}
	return nil, shown, shown.take(text, int(in.Offset))
}

func article(t bridge.MediaType) string {
	if t == bridge.MediaAudio {
		return "an audio file"
	}
	return "a " + string(t)
}

// take shows as much of a text as fits, which begins so many characters behind the start.
func (a *textAnswer) take(text string, offset int) error {
	for most := maxText / 2; ; most = most * 9 / 10 {
		shown, rest := write(text, most)
		a.Untrusted.Text, a.NextOffset = shown, 0
		if rest != "" {
			a.NextOffset = offset + utf8.RuneCountInString(text) - utf8.RuneCountInString(rest)
		}
		if size, err := sizeOf(a); err != nil || size <= maxText {
			return err
		}
	}
}
