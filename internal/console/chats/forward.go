package chats

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/people"
	"bridged/internal/console/view"
)

type forwardPage struct {
	Chat   bridge.JID // the message's chat
	Path   string
	From   bridge.JID
	Sender string
	Text   string // of the message, in one line
	Q      string
	Rows   []destination
	Key    string
	Fault  frame.Problem
	Curl   string
}

// destination is a chat that a message can be forwarded to.
type destination struct {
	JID    bridge.JID
	Name   string
	Line   string
	Chosen bool
}

// ShowForward shows the chats to forward a message to.
func ShowForward(req *frame.Request) error {
	return showForwardForm(req, http.StatusOK, req.URL.Query(), frame.Problem{})
}

// showForwardForm shows the chats to choose from: the chosen ones, then the chats whose names match,
// the newest first, then people without a chat.
func showForwardForm(req *frame.Request, status int, form url.Values, why frame.Problem) error {
	if !req.Sends() {
		return frame.ErrNotFound
	}
	ctx := req.Context()
	m, err := req.API.Message(ctx, req.Chat, req.ID)
	if err != nil {
		return err
	}
	n, err := names.OfMessages(req, nil, []bridge.Message{m})
	if err != nil {
		return err
	}
	page := forwardPage{
		Chat: m.Chat, Path: messagePath(m.Chat, m.ID) + "/forward", From: m.SenderJID, Sender: names.SenderOf(n.Of(m.SenderJID), m.SenderJID, m.FromMe), Text: view.Summary(m),
		Q: strings.TrimSpace(form.Get("q")), Key: cmp.Or(form.Get("key"), frame.NewKey()), Fault: why,
		Curl: req.Curl("POST", "/api/messages/forward", client.Forward{SourceChat: m.Chat, SourceMsgID: m.ID, To: m.Chat}),
	}
	if err := page.find(req, view.Typed[bridge.JID](form["to"])); err != nil {
		return err
	}
	return req.ShowAs(status, "forward", "Forward", page)
}

func (p *forwardPage) find(req *frame.Request, chosen []bridge.JID) error {
	chats, err := req.API.Chats(req.Context(), bridge.ChatQuery{Q: p.Q, Limit: pageOfChats})
	if err != nil {
		return err
	}
	n, err := names.Of(req, slices.Clone(chosen))
	if err != nil {
		return err
	}
	n.LearnChats(chats.Items)
	for _, jid := range chosen {
		row := destination{JID: jid, Name: n.Of(jid), Chosen: true}
		if jid.IsGroup() {
			chat, err := req.API.Chat(req.Context(), jid)
			if err != nil {
				return err
			}
			row.Name = view.ChatName(chat)
		}
		p.Rows = append(p.Rows, row)
	}
	for _, chat := range chats.Items {
		if chat.JID.IsImport() || chat.JID.IsInterop() {
			continue // read only
		}
		line := view.Phone(chat.JID)
		if chat.IsGroup {
			line = "Group"
		}
		p.add(destination{JID: chat.JID, Name: view.ChatName(chat), Line: line})
	}
	if p.Q == "" {
		return nil
	}
	contacts, err := req.API.Contacts(req.Context(), bridge.ContactQuery{Q: p.Q, Limit: people.PageOfPeople})
	for _, contact := range contacts.Items {
		row := people.RowOf(contact, "", "")
		p.add(destination{JID: row.JID, Name: row.Name, Line: row.Line})
	}
	return err
}

// add adds a destination, unless it is listed.
func (p *forwardPage) add(d destination) {
	if !slices.ContainsFunc(p.Rows, func(one destination) bool { return one.JID == d.JID }) {
		p.Rows = append(p.Rows, d)
	}
}

// maxForward limits the chats that a message is forwarded to at once, as in the apps.
const maxForward = 5

// Forward sends a message to the chosen chats. Each send has its own key, so a retry only
// reaches the chats that failed.
func Forward(req *frame.Request) error {
	form := req.PostForm
	chosen := view.Typed[bridge.JID](form["to"])
	if len(chosen) == 0 || len(chosen) > maxForward {
		return notForwarded(req, frame.Refused(http.StatusBadRequest, "Choose one to five chats."), form)
	}
	key := req.Key()
	var failed []bridge.JID
	var reasons []error
	for _, to := range chosen {
		_, err := req.API.Send(req.Context(), client.Forward{SourceChat: req.Chat, SourceMsgID: req.ID, To: to}, key+"-"+to.User())
		if err != nil {
			failed, reasons = append(failed, to), append(reasons, err)
		}
	}
	if len(failed) > 0 {
		return partlyForwarded(req, form, len(chosen), failed, reasons)
	}
	if len(chosen) == 1 {
		return req.Done(nil, "Forwarded", view.ChatPath(chosen[0]))
	}
	return req.Done(nil, "Forwarded to "+view.Number(len(chosen))+" chats", view.ChatPath(req.Chat))
}

// partlyForwarded lists the failed chats with their errors. They stay chosen.
func partlyForwarded(req *frame.Request, form url.Values, all int, failed []bridge.JID, reasons []error) error {
	var parts []string
	for i, to := range failed {
		shown := req.ProblemOf(reasons[i])
		if shown.Status == http.StatusUnauthorized || shown.Status == http.StatusInternalServerError {
			return reasons[i]
		}
		parts = append(parts, "Not sent to "+nameOfChat(req, to)+": "+shown.Text)
	}
	if sent := all - len(failed); sent > 0 {
		parts = append(parts, "It was sent to the others.")
	}
	form["to"] = nil
	for _, to := range failed {
		form.Add("to", string(to))
	}
	return notForwarded(req, frame.Titled(req.ProblemOf(reasons[0]).Status, frame.TitleOf(http.StatusBadRequest), strings.Join(parts, " ")), form)
}

func notForwarded(req *frame.Request, p frame.Problem, form url.Values) error {
	if req.WantsJSON() {
		return p
	}
	return showForwardForm(req, p.Status, form, p)
}

// nameOfChat returns the name of a chat, or its number if it has no name.
func nameOfChat(req *frame.Request, jid bridge.JID) string {
	chat, _, err := chatOf(req, jid)
	if err != nil {
		return view.Phone(jid)
	}
	return view.ChatName(chat)
}
