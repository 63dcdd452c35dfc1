// Package chats has the pages of chats: the list, the messages with the composer, search, media
// and forwarding.
package chats

import (
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

const (
	pageOfMessages = 50 // messages of a chat
	inPlace        = 30 // messages of a chat that takes another one's place: fewer are shown sooner, and windows show fewer still
	around         = 25 // messages on each side of the requested one
)

type chatPage struct {
	List         chatList
	Chat         bridge.Chat
	Name         string
	Days         []dayPart
	Unread       unread
	Older, Newer string // the addresses of the messages before and after; empty for none
	At           string // the requested message
	AsksPhone    bool   // whether to offer asking the phone for older messages
	From         bool   // from a message that the script has; there are older ones
	IsNew        bool   // not stored yet
	Composer     composer
	Bar          pinBar
	Change       *change   // the form of the requested change; nil for none
	Waiting      []waiting // the scheduled messages, below the newest one
	Transcribes  bool      // whether voice notes can be transcribed
	Curl         string
}

// partChat asks for a chat without the list of chats, to take the place of the open one.
const partChat = "chat"

// ShowChat shows a part of a chat: its newest messages, the messages around one (at), or a page
// before or after a cursor (older, newer). The script asks for the chat without the list (part=chat), for its name (part=who)
// or its scheduled messages (part=waiting), or for the messages alone (part), from one that it has (since) or of one that has
// changed (at, near).
func ShowChat(req *frame.Request) (err error) {
	query := req.URL.Query()
	page := chatPage{At: query.Get("at")}
	if page.Chat, page.IsNew, err = chatOf(req, req.Chat); err != nil {
		return err
	}
	page.Name = view.ChatName(page.Chat)
	part := query.Get("part")
	switch {
	case part == "who":
		return req.PartOf("chat", "who", page)
	case part == "waiting":
		return page.showWaiting(req)
	case part == partChat:
		page.List, err = newList(req, query, page.Chat.JID)
	case !query.Has("part"):
		page.List, err = listChats(req, query, page.Chat.JID)
	}
	if err != nil {
		return err
	}
	if err := page.readHistory(req, query); err != nil {
		return err
	}
	data := map[string]any{"Page": &page, "Clock": req.Clock(), "CSRF": req.CSRF()}
	if query.Has("part") && part != partChat {
		return req.PartOf("chat", "history", data)
	}
	if err := page.readRest(req); err != nil {
		return err
	}
	if part == partChat {
		return req.PartOf("chat", "open-chat", data)
	}
	if req.Sends() { // voice notes, here or in a chat that is opened in place of this one
		req.W.Header().Set("Permissions-Policy", frame.Permissions("self"))
	}
	return req.Show("chat", page.Name, page)
}

// readHistory reads the messages of a page, and the lines between them.
func (p *chatPage) readHistory(req *frame.Request, query url.Values) error {
	messages, err := p.read(req, query)
	if err != nil {
		return err
	}
	bubbles, err := bubbles(req, p.Chat, p.List.Items, messages, p.Unread)
	if err != nil {
		return err
	}
	markHits(bubbles, query)
	if p.AsksPhone, err = p.canAskPhone(req, query, messages); err != nil {
		return err
	}
	lines, err := p.linesOf(req, messages)
	p.Days = inDays(bubbles, lines, req.Clock())
	return err
}

// readRest reads what a page has around its messages.
func (p *chatPage) readRest(req *frame.Request) (err error) {
	p.Transcribes, p.Curl = req.Transcribes(), req.Curl("GET", client.HistoryPath(p.Chat.JID)+"?limit=50", nil)
	if p.Composer, err = composerOf(req, p.Chat); err != nil {
		return err
	}
	if p.Change, err = changeOf(req, p.Chat.JID); err != nil {
		return err
	}
	if p.Bar, err = p.pinned(req); err != nil {
		return err
	}
	return p.readWaiting(req)
}

// readWaiting reads the scheduled messages below the newest one.
func (p *chatPage) readWaiting(req *frame.Request) (err error) {
	if p.Newer == "" && !p.IsNew && !p.Chat.JID.IsImport() {
		p.Waiting, err = waitingIn(req, p.Chat.JID)
	}
	return err
}

// showWaiting answers the script with the scheduled messages.
func (p *chatPage) showWaiting(req *frame.Request) error {
	p.Composer.On = req.Sends()
	if err := p.readWaiting(req); err != nil {
		return err
	}
	return req.PartOf("chat", "waiting-list", map[string]any{"Page": p, "Clock": req.Clock(), "CSRF": req.CSRF()})
}

// chatOf returns a chat. With a known contact it may be new: then it is not stored yet.
func chatOf(req *frame.Request, jid bridge.JID) (chat bridge.Chat, isNew bool, err error) {
	chat, err = req.API.Chat(req.Context(), jid)
	if bridge.CodeOf(err) != bridge.CodeNotFound || !jid.IsPerson() {
		return chat, false, err
	}
	contact, unknown := req.API.Contact(req.Context(), jid)
	if bridge.CodeOf(unknown) == bridge.CodeNotFound && jid.Server() == bridge.ServerUser {
		return checkedChat(req, jid, err)
	}
	if unknown != nil {
		return chat, false, err
	}
	return bridge.Chat{JID: contact.JID, LID: contact.LID, Username: contact.Username, Name: view.ContactName(contact), Participants: 2}, true, nil
}

// checkedChat returns a new chat with a number, after asking the network about it. The API caches
// the answer for a day.
func checkedChat(req *frame.Request, jid bridge.JID, unknown error) (chat bridge.Chat, isNew bool, err error) {
	check, err := req.API.CheckNumber(req.Context(), jid.User())
	if err != nil || check.JID == "" {
		return chat, false, unknown
	}
	return bridge.Chat{JID: check.JID, Participants: 2}, true, nil
}

// pinned returns the pinned messages of the page's chat.
func (p *chatPage) pinned(req *frame.Request) (pinBar, error) {
	if p.IsNew || p.Chat.JID.IsImport() {
		return pinBar{Chat: p.Chat.JID}, nil
	}
	return pinBarOf(req, p.Chat)
}
