package waha

import (
	"cmp"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

func checkExists(c *compat.Call) (any, error) {
	query := c.URL.Query()
	if err := checkSession(query.Get("session")); err != nil {
		return nil, err
	}
	person, err := compat.Recipient(query.Get("phone"))
	switch {
	case err != nil:
		return nil, err
	case person.Server() != bridge.ServerUser:
		return nil, bridge.Invalid("phone must be a phone number with its country code")
	}
	check, err := c.API.CheckNumber(c.Context(), person.User())
	if check.JID == "" {
		return map[string]any{"numberExists": false, "chatId": nil}, err
	}
	return map[string]any{"numberExists": true, "chatId": compat.AsChat(check.JID)}, err
}

// person is a contact in WAHA's form.
type person struct {
	ID        string  `json:"id"`
	Number    *string `json:"number"`
	Name      string  `json:"name"`
	PushName  string  `json:"pushname"`
	ShortName string  `json:"shortName"`
	IsMe      bool    `json:"isMe"`
	IsGroup   bool    `json:"isGroup"`
	OnNetwork bool    `json:"isWAContact"`
	IsSaved   bool    `json:"isMyContact"`
	IsBlocked bool    `json:"isBlocked"`
}

func personOf(p bridge.KnownContact) person {
	name := cmp.Or(p.Name, p.BusinessName, p.PushName)
	return person{
		ID: compat.AsChat(p.JID), Number: p.Phone, Name: name, PushName: p.PushName, ShortName: name, OnNetwork: true, IsSaved: p.IsSaved, IsBlocked: p.IsBlocked,
	}
}

func listContacts(c *compat.Call) (any, error) {
	if err := checkSession(c.URL.Query().Get("session")); err != nil {
		return nil, err
	}
	p, err := pageOf(c, maxItems)
	all := c.API.AllContacts(c.Context(), bridge.ContactQuery{Limit: 100})
	return &compat.List{Bytes: compat.ItemsBytes, Items: compat.Items(all, p.skip, p.take, func(one bridge.KnownContact) (any, bool) { return personOf(one), true })}, err
}

// ofContact returns the handler of a route whose query names a person or a group.
func ofContact(handle func(c *compat.Call, jid bridge.JID) (any, error)) compat.Handler {
	return func(c *compat.Call) (any, error) {
		query := c.URL.Query()
		if err := checkSession(query.Get("session")); err != nil {
			return nil, err
		}
		jid, err := compat.Recipient(query.Get("contactId"))
		if err != nil {
			return nil, err
		}
		return handle(c, jid)
	}
}

func showContact(c *compat.Call, jid bridge.JID) (any, error) {
	known, err := c.API.Contact(c.Context(), jid)
	return personOf(known), err
}

// saveBody is the body of [saveContact].
type saveBody struct {
	FirstName compat.Text `json:"firstName"`
	LastName  compat.Text `json:"lastName"`
}

// saveContact saves a person in the account's address book.
func saveContact(c *compat.Call, in saveBody) (any, error) {
	jid, err := compat.Recipient(c.PathValue("contact"))
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(string(in.FirstName) + " " + string(in.LastName))
	if name == "" {
		return nil, bridge.Invalid("firstName is required: the name to save")
	}
	err = c.API.SaveName(c.Context(), jid, bridge.ContactName{Full: name, First: strings.TrimSpace(string(in.FirstName))}, c.Key())
	return map[string]bool{"success": true}, err
}

// showPicture returns a picture, or null if there is none.
func showPicture(c *compat.Call, jid bridge.JID) (any, error) {
	uri, err := compat.Picture(c, jid)
	return map[string]any{"profilePictureURL": uri}, err
}
