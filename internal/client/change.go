package client

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// messagePath returns the path of one message.
func messagePath(chat bridge.JID, id string) string {
	return "/api/chats/" + chat.Escaped() + "/messages/" + bridge.PathID(id)
}

// Edit replaces the text or the caption of an own message. Mentions that are nil
// stay those that the text still names. The key is as that of Send.
func (c *Client) Edit(ctx context.Context, chat bridge.JID, id, text string, mentions []bridge.JID, key string) (Sent, error) {
	body := struct {
		Text     string       `json:"text"`
		Mentions []bridge.JID `json:"mentions"`
	}{text, mentions}
	return c.change(ctx, http.MethodPatch, messagePath(chat, id), body, key)
}

// Delete deletes a message for everybody. The key is as that of Send.
func (c *Client) Delete(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.change(ctx, http.MethodDelete, messagePath(chat, id), nil, key)
}

func (c *Client) change(ctx context.Context, method, path string, body any, key string) (Sent, error) {
	resp, err := c.Do(ctx, method, path, body, keyed(key))
	if err != nil {
		return Sent{}, err
	}
	return decodeSent(resp)
}

// keyed returns the header of a call that can be repeated; empty without a key.
func keyed(key string) http.Header {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return header
}
