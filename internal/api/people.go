package api

import (
	"context"
	"fmt"

	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/api/download"
	"bridged/internal/bridge"
)

const (
	maxChecked = 50
)

func listContacts(in *input) (any, error) {
	return answerPage(in, "contacts", bridge.ContactQuery{
		Q: in.text("q"), Among: in.queryChats("jid"), Saved: in.choice("saved"), Blocked: in.choice("blocked"), Limit: in.limit(maxPage), Cursor: in.text("cursor"), Only: in.caller().Chats,
	}, in.Store.Contacts)
}

func getContact(in *input) (any, error) { return pathContact(in) }

// pathContact returns the person in the path, if the caller may see their chat.
func pathContact(in *input) (bridge.KnownContact, error) {
	jid := in.pathPerson()
	if in.err != nil {
		return bridge.KnownContact{}, in.err
	}
	return in.contact(in.ctx(), jid)
}

// contact returns a stored person whose chat the caller may see.
func (s *server) contact(ctx context.Context, jid bridge.JID) (bridge.KnownContact, error) {
	if chats := callers.Of(ctx).Chats; chats != nil && !s.isAmong(jid, chats) {
		return bridge.KnownContact{}, bridge.NoContact(jid)
	}
	return s.Store.Contact(ctx, jid)
}

func blockContact(in *input) (any, error) { return setBlocked(in, true) }

func unblockContact(in *input) (any, error) { return setBlocked(in, false) }

// setBlocked blocks a person, or unblocks them. The account itself cannot be blocked.
func setBlocked(in *input, block bool) (any, error) {
	jid := in.pathPerson()
	body := in.body(&struct{}{}, optional)
	if user := in.Account.Status().User; in.err == nil && user != nil && in.isAmong(jid, []bridge.JID{user.JID}) {
		in.refuse("the account cannot block itself: name another person")
	}
	var person bridge.KnownContact
	return actOnce(in, body, act{
		change: true,
		lookUp: func(ctx context.Context) (err error) {
			person, err = in.contact(ctx, jid)
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{Chat: person.JID, Timestamp: bridge.At(in.Now())}, in.Account.Block(ctx, person.JID, block)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK        bool       `json:"ok"`
				JID       bridge.JID `json:"jid"`
				IsBlocked bool       `json:"isBlocked"`
			}{true, in.canonical(done.Chat), block}
		},
	})
}

// checkNumbers answers which phone numbers the network knows, in the order of the request.
func checkNumbers(in *input) (any, error) {
	var req struct {
		Phones []string `json:"phones"`
	}
	in.body(&req, strict)
	if len(req.Phones) < 1 || len(req.Phones) > maxChecked {
		in.refuse("phones must hold 1 to %d numbers", maxChecked)
	}
	if in.err != nil {
		return nil, in.err
	}
	caller := in.caller()
	phones := make([]string, len(req.Phones))
	for i, written := range req.Phones {
		phone, err := content.ParsePhone(fmt.Sprintf("phones[%d]", i), written)
		if err != nil {
			return nil, err
		}
		if caller.Chats != nil && !in.reaches(caller, phone) {
			return nil, bridge.NoContact(bridge.PhoneJID(phone))
		}
		phones[i] = phone
	}
	results, err := in.Account.CheckNumbers(in.ctx(), phones)
	return struct {
		Results []bridge.NumberCheck `json:"results"`
	}{bridge.NotNil(results)}, err
}

// reaches reports whether the token has a chat with a number, in any of its forms.
func (s *server) reaches(caller bridge.Token, phone string) bool {
	for _, spelling := range append([]string{phone}, bridge.PhoneAliases(phone)...) {
		if s.isAmong(bridge.PhoneJID(spelling), caller.Chats) {
			return true
		}
	}
	return false
}

func getContactPicture(in *input) (any, error) {
	contact, err := pathContact(in)
	if err != nil {
		return nil, err
	}
	return answerPicture(in, contact.JID)
}

func getGroupPicture(in *input) (any, error) {
	jid := in.pathGroup()
	if in.err != nil {
		return nil, in.err
	}
	group, err := in.chat(in.ctx(), jid)
	if err != nil {
		return nil, err
	}
	return answerPicture(in, group.JID)
}

func answerPicture(in *input, of bridge.JID) (any, error) {
	size := bridge.PictureSize(in.oneOf("size", string(bridge.PicturePreview), string(bridge.PicturePreview), string(bridge.PictureFull)))
	if in.err != nil {
		return nil, in.err
	}
	file, err := in.Pictures.Open(in.ctx(), of, size)
	if err != nil {
		return nil, err
	}
	return nil, download.ServePicture(in.w, in.r, file, size)
}

// updateContact saves a person's name in the account's address book, or removes the person from it,
// on all devices. A number that is not stored is looked up first.
func updateContact(in *input) (any, error) {
	jid := in.pathPerson()
	var req content.SavedName
	body := in.body(&req, strict)
	name, err := req.Entry()
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
