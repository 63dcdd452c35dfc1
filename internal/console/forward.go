package console

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

type forwardPage struct {
	Chat   bridge.JID // that the message is in
	Path   string
	From   bridge.JID
	Sender string
	Text   string // of the message, in one line
	Q      string
	Rows   []destination
	Key    string
	Fault  string
	Curl   string
}

// destination is a chat that a message can be forwarded to.
type destination struct {
	JID    bridge.JID
	Name   string
	Line   string
	Chosen bool
}

func (c *Console) showForward(v *visit) error {
	return v.showForwardForm(http.StatusOK, v.r.URL.Query(), "")
}

// showForwardForm answers the chats to choose from: the chosen ones, then those with a text
// in their name, the newest first, then people without a chat.
func (v *visit) showForwardForm(status int, form url.Values, why string) error {
	if !v.sends() {
		return errUnknown
	}
	ctx := v.r.Context()
	m, err := v.api.Message(ctx, v.chat, v.id)
	if err != nil {
		return err
	}
	n, err := v.names(nil, []bridge.Message{m})
	if err != nil {
		return err
	}
	page := forwardPage{
		Chat: m.Chat, Path: messagePath(m.Chat, m.ID) + "/forward", From: m.SenderJID, Sender: senderOf(n.of(m.SenderJID), m.SenderJID, m.FromMe), Text: summary(m),
		Q: strings.TrimSpace(form.Get("q")), Key: cmp.Or(form.Get("key"), newKey()), Fault: why,
		Curl: curl("POST", "/api/messages/forward", client.Forward{SourceChat: m.Chat, SourceMsgID: m.ID, To: m.Chat}),
	}
	if err := page.find(ctx, v, typed[bridge.JID](form["to"])); err != nil {
		return err
	}
	return v.showAs(status, "forward", "Forward", page)
}

func (p *forwardPage) find(ctx context.Context, v *visit, chosen []bridge.JID) error {
	chats, err := v.api.Chats(ctx, bridge.ChatQuery{Q: p.Q, Limit: pageOfChats})
	if err != nil {
		return err
	}
	n, err := v.namesOf(slices.Clone(chosen))
	if err != nil {
		return err
	}
	n.learnChats(chats.Items)
	for _, jid := range chosen {
		row := destination{JID: jid, Name: n.of(jid), Chosen: true}
		if jid.IsGroup() {
			chat, err := v.api.Chat(ctx, jid)
			if err != nil {
				return err
			}
			row.Name = nameOf(chat)
		}
		p.Rows = append(p.Rows, row)
	}
	for _, chat := range chats.Items {
		if chat.JID.IsImport() || chat.JID.IsInterop() {
			continue // it is for reading
		}
		line := phoneOf(chat.JID)
		if chat.IsGroup {
			line = "Group"
		}
		p.add(destination{JID: chat.JID, Name: nameOf(chat), Line: line})
	}
	if p.Q == "" {
		return nil
	}
	people, err := v.api.Contacts(ctx, bridge.ContactQuery{Q: p.Q, Limit: pageOfPeople})
	for _, contact := range people.Items {
		row := rowOf(contact, "", "")
		p.add(destination{JID: row.JID, Name: row.Name, Line: row.Line})
	}
	return err
}

// add shows a destination once.
func (p *forwardPage) add(d destination) {
	if !slices.ContainsFunc(p.Rows, func(one destination) bool { return one.JID == d.JID }) {
		p.Rows = append(p.Rows, d)
	}
}

// maxForward limits the chats that a message is forwarded to at once, as in the apps.
const maxForward = 5

// forward sends a message to the chosen chats. Each send has a key of its own, so that
// trying again reaches those alone where it failed.
func (c *Console) forward(v *visit) error {
	form := v.r.PostForm
	chosen := typed[bridge.JID](form["to"])
	if form.Has("find") {
		return v.showForwardForm(http.StatusOK, form, "")
	}
	if len(chosen) == 0 || len(chosen) > maxForward {
		return v.notForwarded(problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "Choose one to five chats.", ""}, form)
	}
	key := v.key()
	var failed []bridge.JID
	var reasons []error
	for _, to := range chosen {
		_, err := v.api.Send(v.r.Context(), client.Forward{SourceChat: v.chat, SourceMsgID: v.id, To: to}, key+"-"+to.User())
		if err != nil {
			failed, reasons = append(failed, to), append(reasons, err)
		}
	}
	if len(failed) > 0 {
		return v.partlyForwarded(form, len(chosen), failed, reasons)
	}
	if len(chosen) == 1 {
		return v.done(nil, "Forwarded.", chatPath(chosen[0]))
	}
	return v.done(nil, "Forwarded to "+number(len(chosen))+" chats.", chatPath(v.chat))
}

// partlyForwarded says where a message could not be sent and why. Those chats stay chosen.
func (v *visit) partlyForwarded(form url.Values, all int, failed []bridge.JID, reasons []error) error {
	var parts []string
	for i, to := range failed {
		shown := problemOf(reasons[i])
		if shown.Status == http.StatusUnauthorized || shown.Status == http.StatusInternalServerError {
			return reasons[i]
		}
		parts = append(parts, "Not sent to "+v.nameOfChat(to)+": "+sentence(shown.Text))
	}
	if sent := all - len(failed); sent > 0 {
		parts = append(parts, "It was sent to the others.")
	}
	form["to"] = nil
	for _, to := range failed {
		form.Add("to", string(to))
	}
	return v.notForwarded(problem{problemOf(reasons[0]).Status, titleOf(http.StatusBadRequest), strings.Join(parts, " "), ""}, form)
}

func (v *visit) notForwarded(p problem, form url.Values) error {
	if wantsJSON(v.r) {
		return p
	}
	return v.showForwardForm(p.Status, form, p.Text)
}

// nameOfChat returns the name of a chat, or its number where there is none yet.
func (v *visit) nameOfChat(jid bridge.JID) string {
	chat, _, err := v.chatOf(v.r.Context(), jid)
	if err != nil {
		return phoneOf(jid)
	}
	return nameOf(chat)
}
