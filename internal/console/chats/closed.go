package chats

import (
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
)

// closed says why nobody can write in a chat. The zero value means that one can.
type closed struct {
	Chat    bridge.JID
	Why     string
	Blocked bool // by the account, which can unblock the person
}

// closedTo returns why the visitor cannot write in a chat.
func closedTo(req *frame.Request, chat bridge.Chat) (c closed, err error) {
	c.Chat = chat.JID
	switch {
	case chat.JID.IsImport():
		c.Why = "This chat comes from an export. You can only read it."
	case chat.JID.IsInterop():
		c.Why = "This person is on another messenger. Answer them on your phone."
	case !req.Sends():
		c.Why = req.NoSending()
	case chat.IsGroup:
		c.Why, err = closedGroup(req, chat.JID)
	case chat.JID.IsPerson():
		contact, err := req.API.Contact(req.Context(), chat.JID)
		if err == nil && contact.IsBlocked {
			c.Why, c.Blocked = "You blocked this contact.", true
		}
		return c, passed(err)
	}
	return c, passed(err)
}

// passed returns an error unless it means that the visitor cannot know: sending says it then.
func passed(err error) error {
	if code := bridge.CodeOf(err); code == bridge.CodeNotFound || code == bridge.CodeForbidden {
		return nil
	}
	return err
}

// place is a stored group, and whether the account is in it and an admin of it.
type place struct {
	bridge.Group
	isKnown, isMember, isAdmin bool
}

// placeIn returns the account's place in a group.
func placeIn(req *frame.Request, jid bridge.JID) (p place, err error) {
	stored, err := req.API.StoredGroup(req.Context(), jid)
	if err != nil {
		return p, err
	}
	p.Group = stored.Group
	me, err := names.Me(req)
	if err != nil || me == "" || len(p.Participants) == 0 {
		return p, err
	}
	p.isKnown = true
	if i := slices.IndexFunc(p.Participants, func(m bridge.Participant) bool { return m.JID == me }); i >= 0 {
		p.isMember, p.isAdmin = true, p.Participants[i].IsAdmin || p.Participants[i].IsSuperAdmin
	}
	return p, nil
}

// closedGroup returns why the account cannot write in a group.
func closedGroup(req *frame.Request, jid bridge.JID) (string, error) {
	p, err := placeIn(req, jid)
	switch {
	case err != nil || !p.isKnown:
		return "", err
	case !p.isMember:
		return "You’re no longer in this group.", nil
	case p.IsAnnounce && !p.isAdmin:
		return "Only admins can send messages here.", nil
	}
	return "", nil
}

// pinsIn reports whether the visitor may pin messages in a chat. In groups that only admins may change, only they may.
func pinsIn(req *frame.Request, chat bridge.JID) (bool, error) {
	if !req.Sends() || !chat.IsGroup() {
		return req.Sends(), nil
	}
	p, err := placeIn(req, chat)
	return !p.isKnown || p.isAdmin || p.isMember && !p.IsLocked, passed(err)
}

// ShowClosed answers the script with why the visitor cannot write in a chat.
func ShowClosed(req *frame.Request) error {
	chat, _, err := chatOf(req, req.Chat)
	if err != nil {
		return err
	}
	c, err := closedTo(req, chat)
	if err != nil {
		return err
	}
	return req.PartOf("chat", "closed", c)
}
