// Package columns encodes and decodes the columns of messages and events that contain
// JSON or the number of a kind. The numbers and the names in the JSON are stored, so they never change
// their meaning.
package columns

import (
	"cmp"
	"slices"

	"bridged/internal/bridge"
)

// Details is the JSON column of what few messages have. Names are short: there may be
// millions of them.
type Details struct {
	Context *MessageContext `json:"c,omitempty"`
	Media   *Media          `json:"m,omitempty"`
	Poll    *Poll           `json:"p,omitempty"`
	Parts   *Parts          `json:"x,omitempty"`

	Transcript *bridge.Transcript `json:"w,omitempty"` // of Media

	Forwarded  bool   `json:"f,omitempty"`
	ViewOnce   bool   `json:"1,omitempty"`
	Expiration uint32 `json:"e,omitempty"` // in seconds

	Pin  *Pin  `json:"n,omitempty"`
	Keep *Keep `json:"k,omitempty"`

	Labels *Labels `json:"l,omitempty"`
}

// Labels has the times of the last changes of a message's labels, by id: negative if the label was
// removed.
type Labels map[string]int64

// SetLabel changes a label, unless a later change is known.
func (d *Details) SetLabel(id string, at int64) {
	if !Later(d.LabelAt(id), at) {
		return
	}
	if d.Labels == nil {
		d.Labels = new(Labels{})
	}
	(*d.Labels)[id] = at
}

// LabelAt returns the time of the last change of a label, or 0.
func (d Details) LabelAt(id string) int64 {
	if d.Labels == nil {
		return 0
	}
	return (*d.Labels)[id]
}

// LabelIDs returns the ids of the labels that the message has, in order; nil if none.
func (d Details) LabelIDs() (ids []string) {
	if d.Labels == nil {
		return nil
	}
	for id, at := range *d.Labels {
		if at > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Later reports whether the time of one change replaces another. Both are negative if they removed
// something.
func Later(before, after int64) bool { return max(after, -after) > max(before, -before) }

// Pin records the last pin of a message.
type Pin struct {
	Until int64 `json:"u,omitempty"` // 0 if it was unpinned
	At    int64 `json:"t"`
}

// Keep records the decision that counts about a disappearing message: keep it in the chat, or not.
type Keep struct {
	Kept     bool  `json:"k,omitempty"`
	ByAuthor bool  `json:"a,omitempty"`
	At       int64 `json:"t"`
}

// Parts is [bridge.Parts] with short names.
type Parts struct {
	Location    *bridge.Place          `json:"l,omitempty"`
	Contacts    []bridge.SharedContact `json:"c,omitempty"`
	Interactive *bridge.Interactive    `json:"i,omitempty"`
	Event       *bridge.CalendarEvent  `json:"e,omitempty"`
	GroupInvite *bridge.GroupInvite    `json:"g,omitempty"`
	Order       *bridge.ShopOrder      `json:"o,omitempty"`
	Product     *bridge.Product        `json:"p,omitempty"`
	LinkPreview *bridge.LinkPreview    `json:"u,omitempty"`
	Referral    *bridge.Referral       `json:"r,omitempty"`
	Album       *bridge.Album          `json:"b,omitempty"`
	AlbumID     *string                `json:"a,omitempty"`
}

type MessageContext struct {
	QuotedID     *string      `json:"q,omitempty"`
	QuotedSender bridge.JID   `json:"s,omitempty"`
	QuotedChat   *string      `json:"j,omitempty"` // nil for the message's own, empty if it has no JID here
	QuotedCopy   *quotedCopy  `json:"e,omitempty"`
	Mentioned    []bridge.JID `json:"m,omitempty"`
	MentionsAll  bool         `json:"a,omitempty"`
}

// Media is [bridge.Media] without the method that writes it for the API. DownloadURL and
// Ref are empty.
type Media bridge.Media

type Poll struct {
	Name       string        `json:"n"`
	Options    []string      `json:"o"`
	Votes      []int         `json:"v,omitempty"` // of a poll that was held elsewhere
	Selectable int           `json:"s,omitempty"`
	Added      []AddedOption `json:"a,omitempty"` // later, by time
	Extensible bool          `json:"x,omitempty"`
}

type AddedOption struct {
	Name string     `json:"n"`
	By   bridge.JID `json:"b"`
	At   int64      `json:"t"`
}

func DetailsOf(m bridge.Message) Details {
	d := Details{Forwarded: m.IsForwarded, ViewOnce: m.ViewOnce, Expiration: m.Expiration}
	if !m.Parts.IsZero() {
		d.Parts = new(Parts(m.Parts))
	}
	if c := m.ContextInfo; c != nil {
		d.Context = &MessageContext{QuotedID: c.QuotedMsgID, QuotedSender: c.QuotedSenderJID, Mentioned: c.MentionedJID, MentionsAll: c.MentionsAll}
		d.Context.setCopy(m)
	}
	if f := m.Media; f != nil {
		d.Media = new(Media(*f))
		d.Media.DownloadURL = ""
	}
	if p := m.Poll; p != nil {
		d.Poll = &Poll{Name: p.Name, Selectable: p.SelectableCount, Extensible: p.Extensible}
		for _, option := range p.Options {
			d.Poll.Options = append(d.Poll.Options, option.Name)
			d.Poll.Votes = append(d.Poll.Votes, option.Votes)
		}
		if len(d.Poll.Votes) > 0 && slices.Max(d.Poll.Votes) == 0 {
			d.Poll.Votes = nil
		}
	}
	return d
}

// HasLink reports whether a message with these details and a text has the address of a page.
func (d Details) HasLink(text string) bool {
	return d.Parts != nil && d.Parts.LinkPreview != nil || bridge.HasAddress(text)
}

// Shown returns the media of a message; nil if none.
func (f *Media) Shown(chat bridge.JID, id string) *bridge.Media {
	if f == nil {
		return nil
	}
	media := bridge.Media(*f)
	media.DownloadURL = bridge.DownloadPath(chat, id)
	return &media
}

// quotedCopy is the copy of a quoted message in the message that quotes it.
type quotedCopy struct {
	Type     string `json:"t"`
	Content  string `json:"c,omitempty"` // of at most [bridge.MaxPreview] characters
	FileName string `json:"f,omitempty"`
}

// setCopy sets the chat and the copy of the message that m quotes.
func (c *MessageContext) setCopy(m bridge.Message) {
	q := m.Quoted
	if !q.IsClaim() || c.QuotedID == nil || q.MsgID != *c.QuotedID {
		return
	}
	if q.ChatJID != m.Chat {
		c.QuotedChat = new(string(q.ChatJID))
	}
	if q.MessageType != bridge.TypeUnknown || q.Content != "" {
		c.QuotedCopy = &quotedCopy{q.MessageType, q.Content, q.FileName}
	}
}

// KeepCopy copies the quoted message from before, if the edit quotes the same one without a copy.
func (d *Details) KeepCopy(before Details) {
	if d.Context == nil || before.Context == nil || d.Context.QuotedID == nil || d.Context.QuotedCopy != nil {
		return
	}
	if was := before.Context; was.QuotedID != nil && *was.QuotedID == *d.Context.QuotedID {
		d.Context.QuotedChat, d.Context.QuotedCopy = was.QuotedChat, was.QuotedCopy
	}
}

// Replaces reports whether a decision counts instead of another; nil if none.
func (k Keep) Replaces(before *Keep) bool {
	switch {
	case before == nil:
		return true
	case k == *before:
		return false
	case k.ByAuthor != before.ByAuthor && (k.isFinal() || before.isFinal()):
		return k.isFinal()
	}
	return k.At >= before.At
}

// isFinal reports whether only the author can change it.
func (k Keep) isFinal() bool { return k.ByAuthor && !k.Kept }

// Add adds an option and reports whether it is new. Added options are ordered by time.
func (p *Poll) Add(option AddedOption) bool {
	if slices.Contains(p.Options, option.Name) || len(p.Options)+len(p.Added) >= bridge.MaxPollOptions ||
		slices.ContainsFunc(p.Added, func(o AddedOption) bool { return o.Name == option.Name }) {
		return false
	}
	p.Added = append(p.Added, option)
	slices.SortStableFunc(p.Added, func(a, b AddedOption) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Name, b.Name)) })
	return true
}

// KeepMarks copies details that neither an edit nor the real message of a placeholder has:
// pins, labels, added options, how the message came to the chat.
func (d *Details) KeepMarks(before Details) {
	d.Pin, d.Keep = before.Pin, before.Keep
	if before.Labels != nil {
		for id, at := range *before.Labels {
			d.SetLabel(id, at)
		}
	}
	if d.Poll != nil && before.Poll != nil {
		d.Poll.Extensible = d.Poll.Extensible || before.Poll.Extensible
		for _, option := range before.Poll.Added {
			d.Poll.Add(option)
		}
	}
	if before.Parts == nil || before.Parts.Referral == nil && before.Parts.AlbumID == nil {
		return
	}
	parts := *cmp.Or(d.Parts, new(Parts))
	parts.Referral, parts.AlbumID = cmp.Or(parts.Referral, before.Parts.Referral), cmp.Or(parts.AlbumID, before.Parts.AlbumID)
	d.Parts = &parts
}
