package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// changed is the stored message that a call changes for everybody. The change is no
// message of its own: its key tells when the network took it.
type changed struct {
	msgID    string // in the answer; empty for the change's own id
	repeated bool   // an earlier call with this key ended without an answer
}

// again has a change leave once more as an earlier call sent it.
func (c *changed) again(key *bridge.SendKey, earlier bridge.SendKey) {
	c.repeated = true
	key.MsgID, key.ChangedAt = earlier.MsgID, earlier.ChangedAt
}

// answer returns what callers are told of a change that was sent.
func (c *changed) answer(sent bridge.Sent) bridge.Sent {
	if c != nil && c.msgID != "" {
		sent.ID = c.msgID
	}
	return sent
}

// pathMessage returns the chat and the message that the path names.
func pathMessage(r *http.Request) (reference, error) {
	chat, err := pathChat(r, "jid")
	if err != nil {
		return reference{}, err
	}
	id, err := pathMessageID(r)
	return reference{chat, id}, err
}

// editMessage replaces the text or the caption of an own message.
func (s *server) editMessage(w http.ResponseWriter, r *http.Request) error {
	at, err := pathMessage(r)
	if err != nil {
		return err
	}
	req := struct {
		Text     string    `json:"text"`
		Mentions *[]string `json:"mentions" max:"1024"`
	}{}
	body, err := s.bodies.decodeStrict(w, r, &req)
	if err != nil {
		return err
	}
	if n := utf8.RuneCountInString(req.Text); n < 1 || n > maxText {
		return bridge.Invalid("text must have 1 to %d characters", maxText)
	}
	d := draft{about: &changed{msgID: at.id}}
	d.To = at.chat
	if req.Mentions != nil {
		if d.Mentions, d.Strangers, err = s.parsePeople(r.Context(), "mentions", *req.Mentions); err != nil {
			return err
		}
	}
	d.lookUp = func(ctx context.Context) (bridge.Content, error) {
		m, err := s.message(ctx, at.chat, at.id)
		if err == nil {
			err = m.Editable(s.now(), d.about.editTime())
		}
		if err != nil {
			return nil, err
		}
		edit := bridge.TextEdit{Target: m, Text: req.Text, Mentions: d.Mentions, Strangers: d.Strangers}
		if req.Mentions == nil {
			edit.Mentions = stillMentioned(m, req.Text)
			edit.Strangers, err = s.outsiders(ctx, edit.Mentions...)
		}
		return edit, err
	}
	return s.sendOnce(w, r, body, d)
}

// editTime returns until when after a message its edit is sent.
func (c *changed) editTime() time.Duration {
	if c.repeated {
		return bridge.EditTimeTaken
	}
	return bridge.EditTime
}

// stillMentioned returns the people whom a message mentions and whose word stands in
// a new text, too.
func stillMentioned(m bridge.Message, text string) (people []bridge.JID) {
	if m.ContextInfo == nil {
		return nil
	}
	for _, mention := range m.ContextInfo.Mentions {
		if mention.Token != nil && hasWord(text, *mention.Token) && !slices.Contains(people, mention.JID) {
			people = append(people, mention.JID)
		}
	}
	return people
}

// hasWord reports whether a text has an @user that is not the beginning of another.
func hasWord(text, word string) bool {
	for {
		_, rest, found := strings.Cut(text, word)
		if !found {
			return false
		}
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			return true
		}
		text = rest
	}
}

// deleteMessage deletes a message for everybody: an own one, or as an admin of the
// group somebody else's.
func (s *server) deleteMessage(w http.ResponseWriter, r *http.Request) error {
	at, err := pathMessage(r)
	if err != nil {
		return err
	}
	body, err := s.bodies.decodeStrictOptional(w, r, &struct{}{})
	if err != nil {
		return err
	}
	d := draft{about: &changed{msgID: at.id}}
	d.To = at.chat
	d.lookUp = func(ctx context.Context) (bridge.Content, error) {
		m, err := s.message(ctx, at.chat, at.id)
		if err != nil {
			return nil, err
		}
		asAdmin := false
		if !m.FromMe && m.Chat.IsGroup() {
			if asAdmin, err = s.administers(ctx, m.Chat); err != nil {
				return nil, err
			}
		}
		return bridge.Revocation{Target: m}, m.Deletable(s.now(), asAdmin)
	}
	return s.sendOnce(w, r, body, d)
}

// administers reports whether the account is an admin of a group. Where its members
// are not known yet, nobody can tell.
func (s *server) administers(ctx context.Context, jid bridge.JID) (bool, error) {
	user := s.account.Status().User
	if user == nil {
		return false, nil
	}
	group, err := s.store.Group(ctx, jid)
	if err != nil {
		return false, err
	}
	if len(group.Participants) == 0 {
		return false, bridge.NotConnected("the members of the group are not known yet: try again in a moment")
	}
	return slices.ContainsFunc(group.Participants, func(p bridge.Participant) bool {
		return p.JID == s.canonical(user.JID) && (p.IsAdmin || p.IsSuperAdmin)
	}), nil
}
