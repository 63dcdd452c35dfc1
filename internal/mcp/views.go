package mcp

import (
	"cmp"

	"bridged/internal/bridge"
)

// Limits of a view, in characters of its JSON or in entries.
const (
	maxShort   = 2000 // of a text in a list
	maxExcerpt = 500  // of a text in a list with several chats
	maxLong    = 8000 // of the text of one message
	maxName    = 100
	maxQuote   = 200 // of a quoted message, a file's name or an address
	maxFew     = 12  // reactions, options and the like of one message
	maxCards   = 5   // contacts of one message, and numbers of one contact
)

type chatView struct {
	JID           bridge.JID   `json:"jid"`
	IsGroup       bool         `json:"isGroup"`
	Name          string       `json:"name"`
	Username      string       `json:"username,omitempty"`
	UnreadCount   int          `json:"unreadCount"`
	Archived      bool         `json:"archived,omitempty"`
	Labels        []string     `json:"labels,omitempty"` // their names
	LastMessageAt *bridge.Time `json:"lastMessageAt"`
	LastMessage   *lastView    `json:"lastMessage,omitempty"`
}

type lastView struct {
	MsgID       string `json:"msgId"`
	FromMe      bool   `json:"fromMe"`
	SenderName  string `json:"senderName,omitempty"`
	MessageType string `json:"messageType"`
	Text        string `json:"text"`
}

func chatOf(c bridge.Chat) chatView {
	shown := chatView{
		JID: c.JID, IsGroup: c.IsGroup, Name: capped(c.Name, maxName), Username: optional(c.Username), UnreadCount: c.UnreadCount, Archived: c.Archived,
		LastMessageAt: c.LastMessageAt,
	}
	if last := c.LastMessage; last != nil {
		shown.LastMessage = &lastView{
			capped(last.ID, maxName), last.FromMe, capped(last.PushName, maxName), capped(last.MessageType, maxName), capped(last.Content, maxQuote),
		}
	}
	return shown
}

func (c chatView) compact() []any {
	rest := notes{"unread": c.UnreadCount, "archived": c.Archived, "labels": c.Labels}
	if last := c.LastMessage; last != nil {
		rest["last"] = cmp.Or(last.Text, last.MessageType)
		rest["lastFrom"] = senderOf(last.FromMe, last.SenderName)
	}
	return rest.row(c.JID, c.Name, c.LastMessageAt)
}

func senderOf(fromMe bool, name string) string {
	if fromMe {
		return "me"
	}
	return name
}

func optional(name *string) string {
	if name == nil {
		return ""
	}
	return capped(*name, maxName)
}

type personView struct {
	JID      bridge.JID `json:"jid"`
	Phone    *string    `json:"phone"`
	Name     string     `json:"name"`
	PushName string     `json:"pushName,omitempty"`
	Username string     `json:"username,omitempty"`
	IsSaved  bool       `json:"isSaved"`
	ChatJID  bridge.JID `json:"chatJid"`
}

func personOf(p bridge.KnownContact) personView {
	return personView{
		p.JID, p.Phone, capped(cmp.Or(p.Name, p.BusinessName), maxName), capped(p.PushName, maxName), optional(p.Username), p.IsSaved, p.ChatJID,
	}
}

func (p personView) compact() []any {
	rest := notes{"username": p.Username, "hasNoChat": p.ChatJID == ""}
	if p.PushName != p.Name {
		rest["pushName"] = p.PushName
	}
	return rest.row(p.JID, p.Name)
}

type memberView struct {
	JID     bridge.JID `json:"jid"`
	Name    string     `json:"name"`
	IsAdmin bool       `json:"isAdmin"`
	Label   string     `json:"label,omitempty"`
}

func memberOf(p bridge.Participant) memberView {
	return memberView{p.JID, capped(p.DisplayName, maxName), p.IsAdmin || p.IsSuperAdmin, capped(p.Label, maxName)}
}

func (m memberView) compact() []any {
	return notes{"admin": m.IsAdmin, "label": m.Label}.row(m.JID, m.Name)
}

// messageView is a message, with its chat if the list has several chats.
type messageView struct {
	ChatJID     bridge.JID       `json:"chatJid,omitempty"`
	ChatName    string           `json:"chatName,omitempty"`
	MsgID       string           `json:"msgId"`
	FromMe      bool             `json:"fromMe"`
	SenderJID   bridge.JID       `json:"senderJid"`
	SenderName  string           `json:"senderName,omitempty"`
	Timestamp   bridge.Time      `json:"timestamp"`
	MessageType string           `json:"messageType"`
	Text        string           `json:"text"`
	Status      *bridge.Delivery `json:"status,omitempty"`
	IsEdited    bool             `json:"isEdited,omitempty"`
	IsDeleted   bool             `json:"isDeleted,omitempty"`
	IsForwarded bool             `json:"isForwarded,omitempty"`
	ReplyTo     *quoteView       `json:"replyTo,omitempty"`
	Mentions    []mentionView    `json:"mentions,omitempty"`
	File        *fileView        `json:"file,omitempty"`
	Transcript  string           `json:"transcript,omitempty"` // of File
	Poll        *pollView        `json:"poll,omitempty"`
	Location    *placeView       `json:"location,omitempty"`
	Contacts    []cardView       `json:"contacts,omitempty"`
	Event       *eventView       `json:"event,omitempty"`
	Referral    *referralView    `json:"referral,omitempty"`
	Reactions   []reactionView   `json:"reactions,omitempty"`
}

type quoteView struct {
	MsgID       string             `json:"msgId"`
	ChatJID     bridge.JID         `json:"chatJid"`
	FromMe      *bool              `json:"fromMe"`
	SenderJID   bridge.JID         `json:"senderJid"`
	SenderName  string             `json:"senderName,omitempty"`
	MessageType string             `json:"messageType"`
	Text        string             `json:"text"`
	Origin      bridge.QuoteOrigin `json:"origin"`
}

type mentionView struct {
	JID  bridge.JID `json:"jid"`
	Name string     `json:"name"`
}

type fileView struct {
	Type        bridge.MediaType `json:"type"`
	MimeType    string           `json:"mimetype"`
	Size        int64            `json:"size"`
	FileName    string           `json:"fileName,omitempty"`
	DurationSec int              `json:"durationSec,omitempty"`
}

type pollView struct {
	Name    string       `json:"name"`
	Options []optionView `json:"options"`
}

type optionView struct {
	Name  string `json:"name"`
	Votes int    `json:"votes"`
}

type placeView struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
}

type cardView struct {
	Name   string      `json:"name"`
	Phones []phoneView `json:"phones"`
	Emails []string    `json:"emails,omitempty"`
}

type phoneView struct {
	Number string     `json:"number"`
	JID    bridge.JID `json:"jid"`
}

type eventView struct {
	Name      string       `json:"name"`
	StartAt   *bridge.Time `json:"startAt"`
	EndAt     *bridge.Time `json:"endAt,omitempty"`
	Location  *placeView   `json:"location,omitempty"`
	Cancelled bool         `json:"cancelled,omitempty"`
}

// referralView is the ad that led a person to the chat.
type referralView struct {
	SourceType string `json:"sourceType"`
	SourceURL  string `json:"sourceUrl,omitempty"`
	Headline   string `json:"headline,omitempty"`
	Body       string `json:"body,omitempty"`
}

type reactionView struct {
	SenderJID bridge.JID `json:"senderJid"`
	Emoji     string     `json:"emoji"`
}

// messageOf returns the view of a message, with at most the given number of characters of its text
// and transcript together.
func messageOf(m bridge.Message, most int) messageView {
	shown := messageView{
		MsgID: capped(m.ID, maxName), FromMe: m.FromMe, SenderJID: m.SenderJID, SenderName: capped(m.PushName, maxName), Timestamp: m.Timestamp,
		MessageType: capped(m.MessageType, maxName), Text: capped(m.Content, most), Status: m.Status, IsEdited: m.EditedAt != nil,
		IsDeleted: m.DeletedAt != nil, IsForwarded: m.IsForwarded, ReplyTo: quoteOf(m), Location: placeOf(m.Location), Event: eventOf(m.Event),
	}
	if m.Media != nil {
		shown.File = new(fileOf(*m.Media))
	}
	if m.Transcript != nil {
		shown.Transcript = capped(m.Transcript.Text, max(most-jsonLength(shown.Text), 0))
	}
	if m.ContextInfo != nil {
		shown.Mentions = few(m.ContextInfo.Mentions, maxFew, func(p bridge.Mention) mentionView { return mentionView{p.JID, capped(p.Name, maxName)} })
	}
	if m.Poll != nil {
		shown.Poll = &pollView{capped(m.Poll.Name, maxName), few(m.Poll.Options, maxFew, func(o bridge.PollOption) optionView { return optionView{capped(o.Name, maxName), o.Votes} })}
	}
	if r := m.Referral; r != nil {
		shown.Referral = &referralView{capped(r.SourceType, maxName), capped(r.SourceURL, maxQuote), capped(r.Headline, maxQuote), capped(r.Body, maxQuote)}
	}
	shown.Contacts = few(m.Contacts, maxCards, cardOf)
	shown.Reactions = few(m.Reactions, maxFew, func(r bridge.MessageReaction) reactionView {
		return reactionView{r.SenderJID, capped(r.Emoji, maxName)}
	})
	return shown
}

func quoteOf(m bridge.Message) *quoteView {
	q := m.Quoted
	if q == nil {
		return nil
	}
	return &quoteView{
		MsgID: capped(q.MsgID, maxName), ChatJID: q.ChatJID, FromMe: q.FromMe, SenderJID: q.SenderJID, SenderName: capped(q.PushName, maxName),
		MessageType: capped(q.MessageType, maxName), Text: capped(cmp.Or(q.Content, q.FileName), maxQuote), Origin: q.Origin,
	}
}

func fileOf(m bridge.Media) fileView {
	return fileView{m.Type, capped(m.MimeType, maxName), m.Size, capped(m.FileName, maxQuote), m.DurationSec}
}

func placeOf(p *bridge.Place) *placeView {
	if p == nil {
		return nil
	}
	return &placeView{p.Latitude, p.Longitude, capped(p.Name, maxName), capped(p.Address, maxQuote)}
}

func cardOf(c bridge.SharedContact) cardView {
	return cardView{
		capped(c.DisplayName, maxName), few(c.Phones, maxCards, func(p bridge.SharedPhone) phoneView { return phoneView{capped(p.Number, maxName), p.JID} }),
		few(c.Emails, maxCards, func(email string) string { return capped(email, maxName) }),
	}
}

func eventOf(e *bridge.CalendarEvent) *eventView {
	if e == nil {
		return nil
	}
	return &eventView{capped(e.Name, maxName), e.StartAt, e.EndAt, placeOf(e.Location), e.Cancelled}
}

// few applies show to the first entries of a list.
func few[T, S any](list []T, most int, show func(T) S) []S {
	return each(list[:min(len(list), most)], show)
}

func each[T, S any](list []T, show func(T) S) []S {
	shown := make([]S, len(list))
	for i, one := range list {
		shown[i] = show(one)
	}
	return shown
}

func messagesOf(list []bridge.Message) []messageView {
	return each(list, func(m bridge.Message) messageView { return messageOf(m, maxShort) })
}

func (m messageView) compact() []any {
	rest := notes{"edited": m.IsEdited, "deleted": m.IsDeleted, "replyTo": m.ReplyTo, "file": m.File, "transcript": m.Transcript, "poll": m.Poll, "location": m.Location, "event": m.Event, "referral": m.Referral}
	if len(m.Contacts) > 0 {
		rest["contacts"] = m.Contacts
	}
	if len(m.Mentions) > 0 {
		rest["mentions"] = m.Mentions
	}
	if len(m.Reactions) > 0 {
		rest["reactions"] = each(m.Reactions, func(r reactionView) string { return r.Emoji })
	}
	if m.ChatJID != "" {
		rest["chatJid"], rest["chat"] = m.ChatJID, m.ChatName
	}
	if m.Text == "" && m.File == nil {
		rest["type"] = m.MessageType
	}
	from := any("me")
	if !m.FromMe {
		from = m.SenderJID
	}
	return rest.row(m.Timestamp, from, senderOf(false, m.SenderName), m.MsgID, m.Text)
}
