package client

import (
	"context"
	"io"
	"iter"
	"net/http"

	"bridged/internal/bridge"
)

// Contacts returns a page of the stored people, by name.
func (c *Client) Contacts(ctx context.Context, q bridge.ContactQuery) (bridge.Page[bridge.KnownContact], error) {
	path := query{"q": q.Q, "jid": bridge.Join(q.Among, ","), "saved": choice(q.Saved), "blocked": choice(q.Blocked), "limit": number(q.Limit), "cursor": q.Cursor}.on("/api/contacts")
	return getPage[bridge.KnownContact](ctx, c, path, "contacts")
}

// AllContacts returns all people from the page of q on, in pages of q.Limit.
func (c *Client) AllContacts(ctx context.Context, q bridge.ContactQuery) iter.Seq2[bridge.KnownContact, error] {
	return pages(func() (bridge.Page[bridge.KnownContact], error) { return c.Contacts(ctx, q) }, &q.Cursor, new(int))
}

// Contact returns one stored person.
func (c *Client) Contact(ctx context.Context, jid bridge.JID) (bridge.KnownContact, error) {
	return call[bridge.KnownContact](ctx, c, http.MethodGet, "/api/contacts/"+jid.Escaped(), nil)
}

// SaveName saves a person's name in the account's address book. An empty full name removes the
// person from it; an empty first name is the first word. For the key see Send.
func (c *Client) SaveName(ctx context.Context, person bridge.JID, name bridge.ContactName, key string) error {
	fields := map[string]string{"name": name.Full}
	if name.First != "" {
		fields["firstName"] = name.First
	}
	return c.CallOnce(ctx, http.MethodPatch, "/api/contacts/"+person.Escaped(), fields, key, nil)
}

// Block blocks a person. For the key see Send.
func (c *Client) Block(ctx context.Context, person bridge.JID, key string) error {
	return c.CallOnce(ctx, http.MethodPost, "/api/contacts/"+person.Escaped()+"/block", nil, key, nil)
}

// Unblock unblocks a person. For the key see Send.
func (c *Client) Unblock(ctx context.Context, person bridge.JID, key string) error {
	return c.CallOnce(ctx, http.MethodDelete, "/api/contacts/"+person.Escaped()+"/block", nil, key, nil)
}

// CheckNumber reports whether a phone number is on WhatsApp. The number may have any spelling
// with its country code.
func (c *Client) CheckNumber(ctx context.Context, phone string) (check bridge.NumberCheck, err error) {
	checks, err := c.CheckNumbers(ctx, []string{phone})
	if len(checks) > 0 {
		check = checks[0]
	}
	return check, err
}

// CheckNumbers reports for up to 50 phone numbers, in their order, whether they are on WhatsApp.
func (c *Client) CheckNumbers(ctx context.Context, phones []string) ([]bridge.NumberCheck, error) {
	var answer struct{ Results []bridge.NumberCheck }
	err := c.Call(ctx, http.MethodPost, "/api/contacts/check", map[string][]string{"phones": phones}, &answer)
	return answer.Results, err
}

// Profile returns what a person shows about themselves.
func (c *Client) Profile(ctx context.Context, person bridge.JID) (bridge.Profile, error) {
	return call[bridge.Profile](ctx, c, http.MethodGet, "/api/contacts/"+person.Escaped()+"/profile", nil)
}

// maxPicture limits a picture, in bytes. The network's pictures are much smaller.
const maxPicture = 4 << 20

// Picture returns the picture of a person or a group, and its media type.
func (c *Client) Picture(ctx context.Context, of bridge.JID, size bridge.PictureSize) (picture []byte, mimeType string, err error) {
	resp, err := c.Do(ctx, http.MethodGet, PicturePath(of, size), nil, nil)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	picture, err = io.ReadAll(io.LimitReader(resp.Body, maxPicture))
	return picture, resp.Header.Get("Content-Type"), err
}

// PicturePath returns the path of the picture of a person or a group.
func PicturePath(of bridge.JID, size bridge.PictureSize) string {
	path := "/api/contacts/" + of.Escaped()
	if of.IsGroup() {
		path = groupPath(of)
	}
	return query{"size": string(size)}.on(path + "/picture")
}
