package bridge

import (
	"math"
	"unicode/utf8"
)

// Limits on the parts of a message. The apps allow 10 buttons, 10 rows and 257
// contacts.
const (
	maxButtons  = 200
	maxContacts = 300
	maxVCards   = 512 << 10 // bytes of all cards of a message
	maxPhones   = 50        // and addresses of one contact
	maxURL      = 4096
	maxID       = 1024 // of buttons, products and orders
	maxNumber   = 64   // characters of a number that is shown
	maxItems    = 1_000_000
	maxAlbum    = 1000     // pictures or videos of an album; the apps allow 100
	maxPayload  = 32 << 10 // bytes of base64
)

// MaxThumbnail is how long the data URL of an ad's picture may be, in bytes.
const MaxThumbnail = 64 << 10

// bound keeps the parts within the limits. What they point to is copied first:
// a fact may be in other hands too.
func (p *Parts) bound() {
	p.Location = p.Location.bounded()
	if p.Contacts != nil {
		p.Contacts = boundContacts(p.Contacts)
	}
	if p.Interactive != nil {
		interactive := *p.Interactive
		interactive.bound()
		p.Interactive = &interactive
	}
	if p.Event != nil {
		event := *p.Event
		event.Name, event.Description = cut(event.Name, maxContent), cut(event.Description, maxContent)
		event.Location = event.Location.bounded()
		p.Event = &event
	}
	if p.GroupInvite != nil {
		invite := *p.GroupInvite
		invite.Name, invite.Code = cut(invite.Name, maxName), cut(invite.Code, maxName)
		p.GroupInvite = &invite
	}
	p.boundShop()
	if p.LinkPreview != nil {
		link := *p.LinkPreview
		link.URL, link.Title, link.Description = boundURL(link.URL), cut(link.Title, maxOption), cut(link.Description, maxTopic)
		p.LinkPreview = &link
	}
	if p.Referral != nil {
		referral := *p.Referral
		referral.bound()
		p.Referral = &referral
	}
	if p.Album != nil {
		album := *p.Album
		album.Images, album.Videos = within(album.Images, maxAlbum), within(album.Videos, maxAlbum)
		p.Album = &album
	}
}

func (r *Referral) bound() {
	r.SourceType, r.SourceID, r.SourceURL = cut(r.SourceType, maxName), cut(r.SourceID, maxID), boundURL(r.SourceURL)
	r.Headline, r.Body, r.MediaType = cut(r.Headline, maxOption), cut(r.Body, maxTopic), cut(r.MediaType, maxNumber)
	r.CTWAClid, r.EntryPoint, r.ConversionSource = cut(r.CTWAClid, maxID), cut(r.EntryPoint, maxName), cut(r.ConversionSource, maxName)
	if r.Thumbnail != nil && len(*r.Thumbnail) > MaxThumbnail {
		r.Thumbnail = nil
	}
	if len(r.Payload) > maxPayload { // a part of one means nothing
		r.Payload = ""
	}
}

func (p *Parts) boundShop() {
	if p.Order != nil {
		order := *p.Order
		order.Title, order.ID, order.ItemCount = cut(order.Title, maxOption), cut(order.ID, maxID), within(order.ItemCount, maxItems)
		order.Total, order.Currency, order.Status = cut(order.Total, maxNumber), cut(order.Currency, maxNumber), cut(order.Status, maxNumber)
		p.Order = &order
	}
	if p.Product != nil {
		product := *p.Product
		product.Title, product.Description = cut(product.Title, maxOption), cut(product.Description, maxContent)
		product.ID, product.RetailerID, product.URL = cut(product.ID, maxID), cut(product.RetailerID, maxID), boundURL(product.URL)
		product.Price, product.SalePrice, product.Currency = cut(product.Price, maxNumber), cut(product.SalePrice, maxNumber), cut(product.Currency, maxNumber)
		p.Product = &product
	}
}

// bounded returns nil for what is no place on earth: JSON has no form for some
// of it.
func (p *Place) bounded() *Place {
	if p == nil || !(math.Abs(p.Latitude) <= 90) || !(math.Abs(p.Longitude) <= 180) {
		return nil
	}
	place := *p
	place.Name, place.Address, place.URL = cut(place.Name, maxOption), cut(place.Address, maxTopic), boundURL(place.URL)
	return &place
}

func (i *Interactive) bound() {
	i.Title, i.Body, i.Footer = cut(i.Title, maxContent), cut(i.Body, maxContent), cut(i.Footer, maxContent)
	buttons := make([]Button, min(len(i.Buttons), maxButtons))
	copy(buttons, i.Buttons)
	for n := range buttons {
		b := &buttons[n]
		b.ID, b.Text, b.URL, b.Phone = cut(b.ID, maxID), cut(b.Text, maxOption), boundURL(b.URL), cut(b.Phone, maxNumber)
	}
	i.Buttons = buttons
	if i.Selected != nil {
		i.Selected = &Choice{ID: cut(i.Selected.ID, maxID), Text: cut(i.Selected.Text, maxContent)}
	}
}

// boundContacts keeps the cards of the first contacts, up to maxVCards in all:
// further ones are shown without their card.
func boundContacts(contacts []SharedContact) []SharedContact {
	bounded := make([]SharedContact, min(len(contacts), maxContacts))
	copy(bounded, contacts)
	cards := 0
	for n := range bounded {
		c := &bounded[n]
		c.DisplayName, c.Organization, c.Title = cut(c.DisplayName, maxName), cut(c.Organization, maxName), cut(c.Title, maxName)
		c.VCard = cut(c.VCard, maxContent)
		if cards += len(c.VCard); cards > maxVCards {
			c.VCard = ""
		}
		phones := make([]SharedPhone, min(len(c.Phones), maxPhones))
		copy(phones, c.Phones)
		for i := range phones {
			phones[i].Number = cut(phones[i].Number, maxNumber)
		}
		emails := make([]string, min(len(c.Emails), maxPhones))
		for i := range emails {
			emails[i] = cut(c.Emails[i], maxName)
		}
		c.Phones, c.Emails = phones, emails
	}
	return bounded
}

// boundURL returns no address for one that is cut or no text: a part of one
// leads elsewhere.
func boundURL(url string) string {
	if len(url) > maxURL || !utf8.ValidString(url) {
		return ""
	}
	return url
}
