package waha

import (
	"cmp"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

func checkExists(c *compat.Call) (compat.Answer, error) {
	query := c.URL.Query()
	if err := checkSession(query.Get("session")); err != nil {
		return compat.Answer{}, err
	}
	person, err := compat.Recipient(query.Get("phone"))
	switch {
	case err != nil:
		return compat.Answer{}, err
	case person.Server() != bridge.ServerUser:
		return compat.Answer{}, bridge.Invalid("phone must be a phone number with its country code")
	}
	check, err := c.API.CheckNumber(c.Context(), person.User())
	if err != nil {
		return compat.Answer{}, err
	}
	if check.JID == "" {
		return compat.OK(map[string]any{"numberExists": false, "chatId": nil})
	}
	return compat.OK(map[string]any{"numberExists": true, "chatId": compat.AsChat(check.JID)})
}

// person is a contact as WAHA lists them.
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

func listContacts(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(c.URL.Query().Get("session")); err != nil {
		return compat.Answer{}, err
	}
	p, err := pageOf(c, maxItems)
	if err != nil {
		return compat.Answer{}, err
	}
	all := c.API.AllContacts(c.Context(), bridge.ContactQuery{Limit: 100})
	return compat.OKList(compat.ItemsBytes, compat.Items(all, p.skip, p.take, func(one bridge.KnownContact) (any, bool) { return personOf(one), true }))
}

// contactNamed returns the person or the group that a query names.
func contactNamed(c *compat.Call) (bridge.JID, error) {
	query := c.URL.Query()
	if err := checkSession(query.Get("session")); err != nil {
		return "", err
	}
	return compat.Recipient(query.Get("contactId"))
}

func showContact(c *compat.Call) (compat.Answer, error) {
	jid, err := contactNamed(c)
	if err != nil {
		return compat.Answer{}, err
	}
	known, err := c.API.Contact(c.Context(), jid)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(personOf(known))
}

// showPicture answers a picture, null where there is none.
func showPicture(c *compat.Call) (compat.Answer, error) {
	jid, err := contactNamed(c)
	if err != nil {
		return compat.Answer{}, err
	}
	uri, err := compat.Picture(c, jid)
	return compat.Answer{Status: http.StatusOK, Body: map[string]any{"profilePictureURL": uri}}, err
}
