package client

import (
	"context"
	"net/http"
	"net/url"

	"bridged/internal/bridge"
)

const labelsPath = "/api/labels"

// Labels returns the account's labels. It fails with [bridge.CodeNoLabels] if the account has none.
func (c *Client) Labels(ctx context.Context) ([]bridge.StoredLabel, error) {
	var answer struct{ Labels []bridge.StoredLabel }
	err := c.Call(ctx, http.MethodGet, labelsPath, nil, &answer)
	return answer.Labels, err
}

// CreateLabel creates a label, or returns the one with this name. For the key see Send.
func (c *Client) CreateLabel(ctx context.Context, patch bridge.LabelPatch, key string) (bridge.Label, error) {
	return c.changeLabel(ctx, http.MethodPost, labelsPath, patch, key)
}

// UpdateLabel changes the fields of a label that are not nil. For the key see Send.
func (c *Client) UpdateLabel(ctx context.Context, id string, patch bridge.LabelPatch, key string) (bridge.Label, error) {
	return c.changeLabel(ctx, http.MethodPatch, labelsPath+"/"+labelSegment(id), patch, key)
}

// DeleteLabel deletes a label. For the key see Send.
func (c *Client) DeleteLabel(ctx context.Context, id, key string) error {
	_, err := c.changeLabel(ctx, http.MethodDelete, labelsPath+"/"+labelSegment(id), nil, key)
	return err
}

func (c *Client) changeLabel(ctx context.Context, method, path string, body any, key string) (bridge.Label, error) {
	var answer struct{ Label bridge.Label }
	err := c.CallOnce(ctx, method, path, body, key, &answer)
	return answer.Label, err
}

// SetLabel labels a chat or, with an id, a message in it, or removes the label. For the key see Send.
func (c *Client) SetLabel(ctx context.Context, chat bridge.JID, message, label string, labelled bool, key string) error {
	path := "/api/chats/" + chat.Escaped()
	if message != "" {
		path += "/messages/" + pathID(message)
	}
	method := http.MethodPut
	if !labelled {
		method = http.MethodDelete
	}
	return c.CallOnce(ctx, method, path+"/labels/"+labelSegment(label), nil, key, nil)
}

// labelSegment returns the id of a label as one segment of a path, after [cut].
func labelSegment(id string) string { return url.PathEscape(cut(id)) }
