package console

import (
	"net/http"
	"strings"

	"bridged/internal/bridge"
)

// mentionable is a member of a group, as the composer suggests them.
type mentionable struct {
	JID    bridge.JID `json:"jid"`
	Token  string     `json:"token"` // that names them in a text
	Name   string     `json:"name"`
	Number string     `json:"number,omitempty"` // where the name is another one
	Hue    int        `json:"hue"`
}

// listMentions answers the members of a group, without the account itself, to the script.
func (c *Console) listMentions(v *visit) error {
	if !v.chat.IsGroup() || !v.sends() {
		return errUnknown
	}
	detail, err := v.api.Group(v.r.Context(), v.chat)
	if err != nil {
		return err
	}
	n, err := v.names(nil, nil)
	if err != nil {
		return err
	}
	people := make([]bridge.JID, 0, len(detail.Stored.Participants))
	for _, member := range detail.Stored.Participants {
		people = append(people, member.JID)
	}
	if err := n.lookUp(v.r.Context(), v, people); err != nil {
		return err
	}
	members := []mentionable{}
	for _, member := range detail.Stored.Participants {
		if member.JID != n.me {
			n.learn(member.JID, member.DisplayName)
			members = append(members, mentionableOf(member.JID, n))
		}
	}
	writeJSON(v.w, http.StatusOK, map[string]any{"members": members})
	return nil
}

func mentionableOf(jid bridge.JID, n names) mentionable {
	m := mentionable{JID: jid, Token: "@" + jid.User(), Name: n.of(jid), Hue: hue(jid)}
	if number := phoneOf(jid); m.Name != number {
		m.Number = number
	}
	return m
}

// mentionsIn returns the people whom an edited text mentions: those that the form adds, and
// those of the message whom the text still names. Nil, where the form adds none, leaves
// that to the API.
func (v *visit) mentionsIn(text string) ([]bridge.JID, error) {
	added := typed[bridge.JID](v.r.PostForm["mention"])
	if len(added) == 0 {
		return nil, nil
	}
	m, err := v.api.Message(v.r.Context(), v.chat, v.id)
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
