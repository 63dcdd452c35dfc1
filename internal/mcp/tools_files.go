package mcp

import (
	"context"
	"errors"
	"io"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

// PictureSide is the longer side of pictures for a model, in pixels.
const PictureSide = 1000

const (
	// maxDocument limits a file whose text or picture is shown, in bytes.
	maxDocument = 10 << 20
	// maxText limits an answer with a document's text, in characters, structure and text together.
	maxText = 20_000
)

func (r registry) addFiles() {
	add(r, "get_media", "Get a file", "Shows a picture, or where any other file can be downloaded with the same token.", false, reading(call.media))
	add(r, "read_file", "Read a file", "Shows the text of a document (PDF, Word, Excel, PowerPoint, OpenDocument or plain text), or a picture.", false, reading(call.readFile))
}

type getMedia struct {
	inChat
	MsgID string `json:"msgId" jsonschema:"the message with the file"`
}

type fileAnswer struct {
	trusted
	MsgID       string `json:"msgId"`
	DownloadURL string `json:"downloadUrl"` // a path of the API
	Picture     bool   `json:"picture"`     // whether the result has the picture, too
	Untrusted   struct {
		File    fileView `json:"file"`
		Caption string   `json:"caption,omitempty"`
	} `json:"untrusted"`
}

func (a *fileAnswer) compact() any {
	short := a.with(map[string]any{"file": a.Untrusted.File, "caption": a.Untrusted.Caption})
	if !a.Picture {
		short["downloadUrl"] = a.DownloadURL
	}
	return short
}

// media returns a picture, or the address of another file.
func (c call) media(ctx context.Context, in getMedia) (*sdk.ImageContent, *fileAnswer, error) {
	info, err := c.client.MediaInfo(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, nil, err
	}
	shown := &fileAnswer{trusted: trusted{ChatJID: in.JID}, MsgID: in.MsgID, DownloadURL: info.DownloadURL}
	shown.Untrusted.File, shown.Untrusted.Caption = fileOf(info), capped(info.Caption, maxShort)
	if !isPicture(info) || info.Size > maxDocument {
		return nil, shown, nil
	}
	picture, err := c.picture(ctx, in)
	shown.Picture = picture != nil
	if bridge.CodeOf(err) == bridge.CodeUnsupportedMedia {
		err = nil // the answer has the address
	}
	return picture, shown, err
}

func isPicture(m bridge.Media) bool {
	return m.Type == bridge.MediaImage || m.Type == bridge.MediaSticker
}

// picture returns a message's picture, scaled to at most PictureSide pixels.
func (c call) picture(ctx context.Context, in getMedia) (*sdk.ImageContent, error) {
	file, err := c.open(ctx, in)
	if err != nil {
		return nil, err
	}
	data, err := c.s.options.Scale(ctx, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return &sdk.ImageContent{Data: data, MIMEType: "image/jpeg"}, nil
}

// open opens a message's file. Reading fails after [maxDocument] bytes.
func (c call) open(ctx context.Context, in getMedia) (io.ReadCloser, error) {
	file, _, err := c.client.Download(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, err
	}
	return &limited{file, maxDocument}, nil
}

// limited is a file whose reading fails after a number of bytes.
type limited struct {
	io.ReadCloser
	rest int
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.rest -= n; l.rest < 0 {
		return 0, tooLarge()
	}
	return n, err
}

func tooLarge() error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file has more than %d MiB, too many to read here: get_media says where to download it", maxDocument>>20)
}

type readFile struct {
	getMedia
	Offset int `json:"offset,omitempty" jsonschema:"nextOffset of an earlier call: where to go on in a long text" range:"0,100000000"`
}

type textAnswer struct {
	trusted
	MsgID      string `json:"msgId"`
	Picture    bool   `json:"picture"`              // whether the result has the picture, too
	Characters int    `json:"characters,omitempty"` // of the whole text
	NextOffset int    `json:"nextOffset,omitempty"` // 0 at the end of the text
	Untrusted  struct {
		File    fileView `json:"file"`
		Caption string   `json:"caption,omitempty"`
		Text    string   `json:"text,omitempty"`
	} `json:"untrusted"`
}

func (a *textAnswer) compact() any {
	if a.Picture {
		return a.with(map[string]any{"file": a.Untrusted.File, "caption": a.Untrusted.Caption})
	}
	short := a.with(map[string]any{"text": a.Untrusted.Text})
	if a.NextOffset > 0 {
		short["nextOffset"] = a.NextOffset
	}
	return short
}

// readFile returns a part of a document's text, or a picture.
func (c call) readFile(ctx context.Context, in readFile) (*sdk.ImageContent, *textAnswer, error) {
	info, err := c.client.MediaInfo(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, nil, err
	}
	shown := &textAnswer{trusted: trusted{ChatJID: in.JID}, MsgID: in.MsgID}
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
	open := func() (io.ReadCloser, error) { return c.open(ctx, in.getMedia) }
	text, length, err := c.s.options.Text(ctx, open, in.Offset, maxText/2+1)
	if err != nil {
		return nil, nil, err
	}
	shown.Characters = length
	return nil, shown, shown.fill(text, in.Offset)
}

func article(t bridge.MediaType) string {
	if t == bridge.MediaAudio {
		return "an audio file"
	}
	return "a " + string(t)
}

// fill sets the answer's text to as much of text as fits. text starts at the given offset of the
// whole text, in characters.
func (a *textAnswer) fill(text string, offset int) error {
	end := offset + utf8.RuneCountInString(text)
	for most := maxText / 2; ; most = most * 9 / 10 {
		shown, rest := visiblePrefix(text, most)
		a.Untrusted.Text, a.NextOffset = shown, 0
		if next := end - utf8.RuneCountInString(rest); next < a.Characters && shown != "" {
			a.NextOffset = next
		}
		if size, err := sizeOf(a); err != nil || size <= maxText || most == 0 {
			return err
		}
	}
}
