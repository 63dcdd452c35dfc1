package api

import (
	"context"
	"slices"
	"time"

	"bridged/internal/bridge"
)

// changed is the stored message that a call changes. The change has no row; the time at which the
// network accepted it is stored with its key.
type changed struct {
	msgID    string // for the answer; empty if the answer has the id of the change
	repeated bool   // an earlier call with this key ended without an answer
}

// again repeats a change with the id and the time of an earlier call.
func (c *changed) again(key *bridge.SendKey, earlier bridge.SendKey) {
	c.repeated = true
	key.MsgID, key.ChangedAt = earlier.MsgID, earlier.ChangedAt
}

// answer returns what a caller gets for a change that was sent.
func (c *changed) answer(sent bridge.Sent) bridge.Sent {
	if c != nil && c.msgID != "" {
		sent.ID = c.msgID
	}
	return sent
}

// editMessage replaces the text or the caption of a message of the account.
func editMessage(in *input) (any, error) {
	at := in.pathMessage("jid")
	var req struct {
		Text     string    `json:"text"`
		Mentions *[]string `json:"mentions"`
	}
	body := in.body(&req, strict)
	in.checkText(req.Text)
	d := draft{about: &changed{msgID: at.id}}
	d.To = at.chat
	if req.Mentions != nil {
		d.Mentions, d.Unseen = in.people("mentions", *req.Mentions)
	}
	d.lookUp = func(ctx context.Context, _ *draft) (bridge.Content, error) {
		m, err := in.message(ctx, at.chat, at.id)
		if err == nil {
			err = m.Editable(in.Now(), d.about.editTime())
		}
		if err != nil {
			return nil, err
		}
		edit := bridge.TextEdit{Target: m, Text: req.Text, Mentions: d.Mentions, Unseen: d.Unseen}
		if req.Mentions == nil {
			edit.Mentions = stillMentioned(m, req.Text)
			edit.Unseen, err = in.outsiders(ctx, edit.Mentions...)
		}
		return edit, err
	}
	return sendOnce(in, body, d)
}

func (c *changed) editTime() time.Duration {
	if c.repeated {
		return bridge.EditTimeTaken
	}
	return bridge.EditTime
}

// stillMentioned returns the mentioned people of a message that the new text still names.
func stillMentioned(m bridge.Message, text string) (people []bridge.JID) {
	if m.ContextInfo == nil {
		return nil
	}
	for _, mention := range m.ContextInfo.Mentions {
		if mention.Token != nil && bridge.HasWord(text, *mention.Token) && !slices.Contains(people, mention.JID) {
			people = append(people, mention.JID)
		}
	}
	return people
}

// deleteMessage deletes a message for everybody, or for the account only. Admins may delete messages of
// other members for everybody.
func deleteMessage(in *input) (any, error) {
	at, forMe := in.pathMessage("jid"), in.oneOf("for", "everyone", "everyone", "me") == "me"
	body := in.body(&struct{}{}, optional)
	if forMe { // which the key of a call is bound to
		return changeForAccount(in, at, append(body, "for=me"...), (*bridge.Message).DeletableForMe, in.Account.DeleteForMe)
	}
	return changeMessage(in, at, body, func(ctx context.Context, m bridge.Message) (_ bridge.Content, err error) {
		asAdmin := false
		if !m.FromMe && m.Chat.IsGroup() {
			if asAdmin, err = in.administers(ctx, m.Chat); err != nil {
				return nil, err
			}
		}
		return bridge.Revocation{Target: m}, m.Deletable(in.Now(), asAdmin)
	})
}

// changeMessage sends a change of a stored message.
func changeMessage(in *input, at reference, body []byte, change func(context.Context, bridge.Message) (bridge.Content, error)) (any, error) {
	d := draft{about: &changed{msgID: at.id}}
	d.To = at.chat
	d.lookUp = func(ctx context.Context, _ *draft) (bridge.Content, error) {
		m, err := in.message(ctx, at.chat, at.id)
		if err != nil {
			return nil, err
		}
		return change(ctx, m)
	}
	return sendOnce(in, body, d)
}

// administers reports whether the account is an admin of a group, whose members must be known.
func (s *server) administers(ctx context.Context, jid bridge.JID) (bool, error) {
	group, err := s.Store.Group(ctx, jid)
	if err == nil && len(group.Participants) == 0 {
		err = bridge.NotConnected("the members of the group are not known yet: try again in a moment")
	}
	p, _ := s.membership(group)
	return p.IsAdmin || p.IsSuperAdmin, err
}

// membership returns the account as a member of a group, and reports whether it is one.
func (s *server) membership(group bridge.StoredGroup) (p bridge.Participant, isMember bool) {
	user := s.Account.Status().User
	if user == nil {
		return p, false
	}
	i := slices.IndexFunc(group.Participants, func(p bridge.Participant) bool { return p.JID == s.canonical(user.JID) })
	if i < 0 {
		return p, false
	}
	return group.Participants[i], true
}
