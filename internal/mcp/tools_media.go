package mcp

import (
	"context"
	"fmt"
	"io"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

// maxInline is the size of the largest picture, in bytes, that an answer holds.
const maxInline = 1 << 20

// inlineTypes are the pictures that models look at.
var inlineTypes = []string{"image/jpeg", "image/png", "image/webp", "image/gif"}

type getMedia struct {
	JID   string `json:"jid" jsonschema:"the chat's JID"`
	MsgID string `json:"msgId" jsonschema:"the message with the file"`
}

func (d door) addMedia() {
	add(d, tool{name: "get_media", title: "Get a file", description: "Shows a small picture, or where any other file can be downloaded with the same token."},
		func(ctx context.Context, c call, in getMedia) (bridge.JID, *sdk.CallToolResult, any, error) {
			result, shown, err := c.media(ctx, bridge.JID(in.JID), in.MsgID)
			return bridge.JID(in.JID), result, shown, err
		})
}

func (c *caller) media(ctx context.Context, jid bridge.JID, msgID string) (*sdk.CallToolResult, answer, error) {
	if err := checkJID(jid); err != nil {
		return nil, nil, err
	}
	info, err := c.client.MediaInfo(ctx, jid, msgID)
	if err != nil {
		return nil, nil, err
	}
	shown := answer{"chatJid": jid, "downloadUrl": info.DownloadURL, "untrusted": answer{
		"file": file{string(info.Type), capped(info.MimeType, maxName), capped(info.FileName, maxName), info.Size}, "caption": capped(info.Caption, maxShort),
	}}
	if info.Size > maxInline || !slices.Contains(inlineTypes, info.MimeType) {
		return nil, shown, nil
	}
	data, err := c.download(ctx, jid, msgID)
	if err != nil || len(data) > maxInline {
		return nil, shown, err
	}
	text, err := shown.text()
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.ImageContent{Data: data, MIMEType: info.MimeType}}}, shown, err
}

// download reads a small file, and one byte more of a larger one.
func (c *caller) download(ctx context.Context, jid bridge.JID, msgID string) ([]byte, error) {
	body, _, err := c.client.Download(ctx, jid, msgID)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(body, maxInline+1))
	if closing := body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return data, nil
}
