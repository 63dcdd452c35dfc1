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
	pageMessages   = 50 // messages of a page
	openMessages   = 30 // newest messages of a chat that the script opens without a new page: they fill a window, and come sooner than 50
	messagesAround = 25 // messages before and after the requested one
)

type chatPage struct {
	List         chatList // the chats in the first column
	Chat         bridge.Chat
	Name         string
	Days         []dayPart
	Unread       unread
	Older, Newer string // the addresses of the messages before and after; empty if none
	At           string // the requested message
	AsksPhone    bool   // whether to offer to ask the phone for older messages
	From         bool   // Days starts with a message that the script already has, so older ones exist
	IsNew        bool   // the chat is not stored yet
	Composer     composer
	Bar          pinBar    // the pinned messages
	Change       *change   // the form of the requested change; nil if none
	Waiting      []waiting // the scheduled messages, under the newest message
	Transcribes  bool      // whether voice notes can be transcribed
	Curl         string    // the API call that lists the messages
}

// partChat is the value of the parameter part that asks for a chat without the list of chats: the script replaces the
// open chat with it.
const partChat = "chat"

// ShowChat shows messages of a chat: the newest ones, those around one message (at), or a page before or after a cursor
// (older, newer). The script can also ask for parts of the page: the chat without the list of chats (part=chat), its name
// (part=who), its scheduled messages (part=waiting), or only messages (part), namely those since one that the script has
// (since), or one that has changed with its neighbours (at and near).
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
	if err := page.readSurroundings(req); err != nil {
		return err
	}
	if part == partChat {
		return req.PartOf("chat", "open-chat", data)
	}
	if req.Sends() { // the microphone for voice notes, here or in the chats that replace this one
		req.W.Header().Set("Permissions-Policy", frame.Permissions("self"))
	}
	return req.Show("chat", page.Name, page)
}

// readHistory reads the messages of a page, and the calls and changes of the group between them.
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

// readSurroundings reads the composer, the requested change, and the pinned and scheduled messages.
func (p *chatPage) readSurroundings(req *frame.Request) (err error) {
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

// readWaiting reads the scheduled messages, unless the page does not end with the newest message.
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

// chatOf returns a chat. A chat with a known contact, or with a number that the network knows, may be new: it is not
// stored yet.
func chatOf(req *frame.Request, jid bridge.JID) (chat bridge.Chat, isNew bool, err error) {
	chat, err = req.API.Chat(req.Context(), jid)
	if bridge.CodeOf(err) != bridge.CodeNotFound || !jid.IsPerson() {
		return chat, false, err
	}
	contact, unknown := req.API.Contact(req.Context(), jid)
	if bridge.CodeOf(unknown) == bridge.CodeNotFound && jid.Server() == bridge.ServerUser {
		return newChatWith(req, jid, err)
	}
	if unknown != nil {
		return chat, false, err
	}
	return bridge.Chat{JID: contact.JID, LID: contact.LID, Username: contact.Username, Name: view.ContactName(contact), Participants: 2}, true, nil
}

// newChatWith returns a new chat with a number if the network knows the number, and otherwise the error unknown. The API
// caches the network's answer for a day.
func newChatWith(req *frame.Request, jid bridge.JID, unknown error) (chat bridge.Chat, isNew bool, err error) {
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
