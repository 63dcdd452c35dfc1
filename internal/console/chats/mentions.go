package chats

import (
	"net/http"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// mentionable is a member of a group, as the composer suggests it.
type mentionable struct {
	JID    bridge.JID `json:"jid"`
	Token  string     `json:"token"` // names them in a text
	Name   string     `json:"name"`
	Number string     `json:"number,omitempty"` // empty if it is the name
	Hue    int        `json:"hue"`
}

// ListMentions answers the script with the members of a group except the account itself.
func ListMentions(req *frame.Request) error {
	if !req.Chat.IsGroup() || !req.Sends() {
		return frame.ErrNotFound
	}
	group, err := req.API.StoredGroup(req.Context(), req.Chat)
	if err != nil {
		return err
	}
	n, err := names.OfMessages(req, nil, nil)
	if err != nil {
		return err
	}
	people := make([]bridge.JID, 0, len(group.Participants))
	for _, member := range group.Participants {
		people = append(people, member.JID)
	}
	if err := n.LookUp(req, people); err != nil {
		return err
	}
	members := []mentionable{}
	for _, member := range group.Participants {
		if member.JID != n.Me {
			n.Learn(member.JID, member.DisplayName)
			members = append(members, mentionableOf(member.JID, n))
		}
	}
	frame.WriteJSON(req.W, http.StatusOK, map[string]any{"members": members})
	return nil
}

func mentionableOf(jid bridge.JID, n names.Names) mentionable {
	m := mentionable{JID: jid, Token: "@" + jid.User(), Name: n.Of(jid), Hue: view.Hue(jid)}
	if number := view.Phone(jid); m.Name != number {
		m.Number = number
	}
	return m
}

// mentionsIn returns the mentions of an edited text: new ones, and old ones that the text still
// contains. It returns nil if the form adds none; then the API finds the old ones.
func mentionsIn(req *frame.Request, text string) ([]bridge.JID, error) {
	added := view.Typed[bridge.JID](req.PostForm["mention"])
	if len(added) == 0 {
		return nil, nil
	}
	m, err := req.API.Message(req.Context(), req.Chat, req.ID)
	if err != nil || m.ContextInfo == nil {
		return added, err
	}
	for _, mention := range m.ContextInfo.Mentions {
		if mention.Token != nil && strings.Contains(text, *mention.Token) {
			added = append(added, mention.JID)
		}
	}
	return added, nil
}

// mentionsOf returns the mentions of a message by their tokens in its text.
func mentionsOf(m bridge.Message, n names.Names) map[string]bridge.Mention {
	if m.ContextInfo == nil {
		return nil
	}
	found := make(map[string]bridge.Mention)
	for _, mention := range m.ContextInfo.Mentions {
		if mention.Token != nil {
			mention.Name = n.Of(mention.JID)
			found[*mention.Token] = mention
		}
	}
	return found
}
