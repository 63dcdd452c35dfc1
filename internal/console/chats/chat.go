// Package chats has the pages of chats: the list, the messages with the composer, search, media
// and forwarding.
package chats

import (
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

const (
	pageOfMessages = 50 // messages of a chat
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
	IsNew        bool   // not stored yet
	Composer     composer
	Bar          pinBar
	Change       *change   // the form of the requested change; nil for none
	Waiting      []waiting // the scheduled messages, below the newest one
	Transcribes  bool      // whether voice notes can be transcribed
	Curl         string
}

// ShowChat shows a part of a chat: its newest messages, the messages around one (at), or a page
// before or after a cursor (older, newer).
func ShowChat(req *frame.Request) (err error) {
	query := req.URL.Query()
	page := chatPage{At: query.Get("at")}
	if page.Chat, page.IsNew, err = chatOf(req, req.Chat); err != nil {
		return err
	}
	page.Name, page.Transcribes, page.Curl = view.ChatName(page.Chat), req.Transcribes(), view.Curl("GET", client.HistoryPath(page.Chat.JID)+"?limit=50", nil)
	if page.List, err = listChats(req, query, page.Chat.JID); err != nil {
		return err
	}
	messages, err := page.read(req, query)
	if err != nil {
		return err
	}
	bubbles, err := bubbles(req, page.Chat, page.List.Items, messages, page.Unread)
	if err != nil {
		return err
	}
	markHits(bubbles, query)
	lines, err := page.linesOf(req, messages)
	if err != nil {
		return err
	}
	page.Days = inDays(bubbles, lines, req.Clock())
	if page.Composer, err = composerOf(req, page.Chat); err != nil {
		return err
	}
	if page.Change, err = changeOf(req, page.Chat.JID); err != nil {
		return err
	}
	if page.Bar, err = page.pinned(req); err != nil {
		return err
	}
	if page.Newer == "" && !page.IsNew && !page.Chat.JID.IsImport() {
		if page.Waiting, err = waitingIn(req, page.Chat.JID); err != nil {
			return err
		}
	}
	if page.Composer.On {
		req.W.Header().Set("Permissions-Policy", frame.Permissions("self"))
	}
	return req.Show("chat", page.Name, page)
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
		return pinBar{Chat: p.Chat.JID, Sends: req.Sends()}, nil
	}
	return pinBarOf(req, p.Chat)
}
