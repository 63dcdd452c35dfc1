package client

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// Contacts returns a page of the people whom the store knows, by name.
func (c *Client) Contacts(ctx context.Context, q bridge.ContactQuery) (bridge.Page[bridge.KnownContact], error) {
	path := query{"q": q.Q, "jid": bridge.Join(q.Among, ","), "limit": number(q.Limit), "cursor": q.Cursor}.on("/api/contacts")
	return getPage[bridge.KnownContact](ctx, c, path, "contacts")
}

// Contact returns one person whom the store knows.
func (c *Client) Contact(ctx context.Context, jid bridge.JID) (bridge.KnownContact, error) {
	return call[bridge.KnownContact](ctx, c, http.MethodGet, "/api/contacts/"+jid.Escaped(), nil)
}

// Block blocks a person. The key is as that of Send.
func (c *Client) Block(ctx context.Context, person bridge.JID, key string) error {
	return c.CallOnce(ctx, http.MethodPost, "/api/contacts/"+person.Escaped()+"/block", nil, key, nil)
}

// Unblock takes the block of a person back. The key is as that of Send.
func (c *Client) Unblock(ctx context.Context, person bridge.JID, key string) error {
	return c.CallOnce(ctx, http.MethodDelete, "/api/contacts/"+person.Escaped()+"/block", nil, key, nil)
}

// CheckNumber reports whether the network knows a phone number, in any spelling with its
// country code.
func (c *Client) CheckNumber(ctx context.Context, phone string) (check bridge.NumberCheck, err error) {
	var answer struct{ Results []bridge.NumberCheck }
	err = c.Call(ctx, http.MethodPost, "/api/contacts/check", map[string][]string{"phones": {phone}}, &answer)
	if len(answer.Results) > 0 {
		check = answer.Results[0]
	}
	return check, err
}

// PicturePath returns the path of the picture of a person or a group.
func PicturePath(of bridge.JID, size bridge.PictureSize) string {
	path := "/api/contacts/" + of.Escaped()
	if of.IsGroup() {
		path = groupPath(of)
	}
	return query{"size": string(size)}.on(path + "/picture")
}
