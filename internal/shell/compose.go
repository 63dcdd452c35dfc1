package shell

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/vcard"
)

// Place is a location to send.
type Place struct {
	Outgoing
	At            string // latitude and longitude in degrees, with a comma between
	Name, Address string
}

// Place sends a location.
func (s *Shell) Place(ctx context.Context, p Place) error {
	latitude, longitude, err := parsePlace(p.At)
	if err != nil {
		return err
	}
	return s.deliver(ctx, &p.Outgoing, func(ctx context.Context, to bridge.JID, quote client.Quote, key string) (client.Sent, error) {
		return s.API.Send(ctx, p.later(client.Location{To: to, Latitude: latitude, Longitude: longitude, Name: p.Name, Address: p.Address, Quote: quote}), key)
	})
}

// parsePlace parses "52.5163,13.3777", also as a geo: URI.
func parsePlace(text string) (latitude, longitude float64, err error) {
	first, second, _ := strings.Cut(strings.TrimPrefix(text, "geo:"), ",")
	second, _, _ = strings.Cut(second, ";") // parameters of a geo: URI
	latitude, notLatitude := strconv.ParseFloat(strings.TrimSpace(first), 64)
	longitude, notLongitude := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if notLatitude != nil || notLongitude != nil || !(latitude >= -90 && latitude <= 90) || !(longitude >= -180 && longitude <= 180) {
		return 0, 0, Usage("--at must be a latitude and a longitude in degrees, as in --at 52.5163,13.3777")
	}
	return latitude, longitude, nil
}

// Poll is a poll to send.
type Poll struct {
	Outgoing
	Question string
	Options  []string
	Choices  int // how many options one person may choose; 0 is any number
}

// Poll sends a poll.
func (s *Shell) Poll(ctx context.Context, p Poll) error {
	return s.deliver(ctx, &p.Outgoing, func(ctx context.Context, to bridge.JID, quote client.Quote, key string) (client.Sent, error) {
		return s.API.Send(ctx, p.later(client.Poll{To: to, Name: p.Question, Values: p.Options, SelectableCount: &p.Choices, Quote: quote}), key)
	})
}

// Contact describes contacts to send: people, and the cards in a file.
type Contact struct {
	Outgoing
	People []string
	VCards string // the path of a file with vCards

	Name, Email, Organization, Title string // of the only person
}

// Contact sends the cards of people.
func (s *Shell) Contact(ctx context.Context, c Contact) error {
	hasDetails := c.Name+c.Email+c.Organization+c.Title != ""
	switch {
	case len(c.People) == 0 && c.VCards == "":
		return Usage("name a person to send, or a file with --vcard")
	case hasDetails && (len(c.People) != 1 || c.VCards != ""):
		return Usage("--name, --email, --organization and --title describe one person: send people one by one")
	}
	var cards []bridge.ContactCard
	for _, who := range c.People {
		card, err := s.card(ctx, who)
		if err != nil {
			return err
		}
		card.DisplayName = cmp.Or(c.Name, card.DisplayName)
		card.Email, card.Organization, card.Title = c.Email, c.Organization, c.Title
		cards = append(cards, card)
	}
	if c.VCards != "" {
		found, err := readCards(c.VCards)
		if err != nil {
			return err
		}
		cards = append(cards, found...)
	}
	return s.deliver(ctx, &c.Outgoing, func(ctx context.Context, to bridge.JID, quote client.Quote, key string) (client.Sent, error) {
		return s.API.Send(ctx, c.later(client.Contacts{To: to, Contacts: cards, Quote: quote}), key)
	})
}

// card returns the card of a person. A number that the account does not know is its own name.
func (s *Shell) card(ctx context.Context, who string) (card bridge.ContactCard, err error) {
	jid, err := s.findPerson(ctx, who)
	if err != nil {
		return card, err
	}
	person, err := s.API.Contact(ctx, jid)
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound && jid.Server() == bridge.ServerUser:
		return bridge.ContactCard{DisplayName: "+" + jid.User(), Phone: jid.User()}, nil
	case err != nil:
		return card, err
	case person.Phone == nil:
		return card, fmt.Errorf("the number of %s is not known, and a card without one leads nowhere", personName(person))
	}
	return bridge.ContactCard{DisplayName: personName(person), Phone: *person.Phone}, nil
}

// maxCards limits a file with vCards, in bytes: the API takes 20 cards of 64 KiB.
const maxCards = 20 * 64 << 10

// vCard matches one card of a file.
var vCard = regexp.MustCompile(`(?is)BEGIN:VCARD.*?END:VCARD`)

// readCards returns the cards in a file.
func readCards(path string) (cards []bridge.ContactCard, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &fileError{err}
	}
	if !info.Mode().IsRegular() || info.Size() > maxCards {
		return nil, Usage("%s is not a file of at most %d kB", path, maxCards>>10)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &fileError{err}
	}
	for _, card := range vCard.FindAllString(string(text), -1) {
		cards = append(cards, bridge.ContactCard{DisplayName: cmp.Or(vcard.NameIn(card), "?"), VCard: card})
	}
	if len(cards) == 0 {
		return nil, Usage("%s has no vCard, which begins with BEGIN:VCARD", path)
	}
	return cards, nil
}
