package api

import (
	"context"
	"strings"

	"bridged/internal/api/callers"
	"bridged/internal/bridge"
)

// contactRequest saves a person's name in the account's address book.
type contactRequest struct {
	Name      *string `json:"name"` // empty removes the person
	FirstName *string `json:"firstName"`
}

// entry returns the entry in the address book. The first name is the first word unless it is given.
func (req contactRequest) entry() (name bridge.ContactName, err error) {
	if req.Name == nil {
		return name, bridge.Invalid("give name: the name in the address book, or an empty text to remove the person from it")
	}
	name.Full = strings.TrimSpace(*req.Name)
	name.First, _, _ = strings.Cut(name.Full, " ")
	if req.FirstName != nil {
		name.First = strings.TrimSpace(*req.FirstName)
	}
	return name, name.Check()
}

// updateContact saves a person's name in the account's address book, or removes the person from it,
// on all devices. A number that is not stored is looked up first.
func updateContact(in *input) (any, error) {
	jid := in.pathPerson()
	var req contactRequest
	body := in.body(&req, strict)
	name, err := req.entry()
	keep(in, name, err)
	var person bridge.JID
	return actOnce(in, body, act{
		change: true,
		lookUp: func(ctx context.Context) (err error) {
			person, name.Username, err = in.nameable(ctx, jid, name.Full != "")
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{Chat: person, Timestamp: bridge.At(in.Now())}, in.Account.SaveName(ctx, person, name)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK      bool       `json:"ok"`
				JID     bridge.JID `json:"jid"`
				Name    string     `json:"name"`
				IsSaved bool       `json:"isSaved"`
			}{true, in.canonical(done.Chat), name.Full, name.Full != ""}
		},
	})
}

// nameable returns the JID and the username of a stored person. To save a new person, it also
// returns a JID whose number the network knows.
func (s *server) nameable(ctx context.Context, jid bridge.JID, isNew bool) (bridge.JID, *string, error) {
	contact, err := s.contact(ctx, jid)
	if bridge.CodeOf(err) != bridge.CodeNotFound || !isNew || jid.Server() != bridge.ServerUser || callers.Of(ctx).Chats != nil {
		return contact.JID, contact.Username, err
	}
	checks, err := s.Account.CheckNumbers(ctx, []string{jid.User()})
	switch {
	case err != nil:
		return "", nil, err
	case len(checks) == 0 || checks[0].JID == "":
		return "", nil, bridge.Fail(bridge.CodeNotOnNetwork, "the number is not on WhatsApp: check it with POST /api/contacts/check")
	}
	return checks[0].JID, nil, nil
}
