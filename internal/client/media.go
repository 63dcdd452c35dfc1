package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"bridged/internal/bridge"
)

// MediaInfo returns what is known of a message's file.
func (c *Client) MediaInfo(ctx context.Context, chat bridge.JID, msgID string) (bridge.Media, error) {
	var answer struct{ Media bridge.Media }
	err := c.Call(ctx, http.MethodGet, "/api/messages/media-info/"+chat.Escaped()+"/"+url.PathEscape(msgID), nil, &answer)
	return answer.Media, err
}

// Download opens a message's file, which the caller closes. Size is -1 where
// it is not known.
func (c *Client) Download(ctx context.Context, chat bridge.JID, msgID string) (file io.ReadCloser, size int64, err error) {
	resp, err := c.Do(ctx, http.MethodGet, bridge.DownloadPath(chat, msgID), nil, nil)
	if err != nil {
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}
