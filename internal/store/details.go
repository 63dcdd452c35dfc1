package store

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"bridged/internal/store/people"

	"bridged/internal/bridge"
)

// details is the JSON column of what few messages have. Names are short: there may be
// millions of them.
type details struct {
	Context *contextDetails `json:"c,omitempty"`
	Media   *mediaDetails   `json:"m,omitempty"`
	Poll    *pollDetails    `json:"p,omitempty"`
	Parts   *partsDetails   `json:"x,omitempty"`

	Transcript *bridge.Transcript `json:"w,omitempty"` // of Media

	Forwarded  bool   `json:"f,omitempty"`
	Expiration uint32 `json:"e,omitempty"` // in seconds

	Pin  *pinDetails  `json:"n,omitempty"`
	Keep *keepDetails `json:"k,omitempty"`
}

// pinDetails records the last pin of a message.
type pinDetails struct {
	Until int64 `json:"u,omitempty"` // 0 where it was unpinned
	At    int64 `json:"t"`
}

// keepDetails records the last decision that counts whether a message is kept.
type keepDetails struct {
	Kept     bool  `json:"k,omitempty"`
	ByAuthor bool  `json:"a,omitempty"`
	At       int64 `json:"t"`
}

// partsDetails is [bridge.Parts] with short names.
type partsDetails struct {
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

type contextDetails struct {
	QuotedID     *string      `json:"q,omitempty"`
	QuotedSender bridge.JID   `json:"s,omitempty"`
	QuotedChat   *string      `json:"j,omitempty"` // nil for the message's own, empty if it has no JID here
	QuotedCopy   *quotedCopy  `json:"e,omitempty"`
	Mentioned    []bridge.JID `json:"m,omitempty"`
	MentionsAll  bool         `json:"a,omitempty"`
}

// mediaDetails is [bridge.Media] without the method that writes it for the API. DownloadURL and
// Ref are empty.
type mediaDetails bridge.Media

type pollDetails struct {
	Name       string        `json:"n"`
	Options    []string      `json:"o"`
	Votes      []int         `json:"v,omitempty"` // of a poll that was held elsewhere
	Selectable int           `json:"s,omitempty"`
	Added      []addedOption `json:"a,omitempty"` // later, by time
	Extensible bool          `json:"x,omitempty"`
}

type addedOption struct {
	Name string     `json:"n"`
	By   bridge.JID `json:"b"`
	At   int64      `json:"t"`
}

// pack returns the column, nil for no details.
func (t *writeTx) pack(d details) any {
	if d == (details{}) {
		return nil
	}
	return t.Encode(d)
}

// packRef returns the column that says where a message's file lies.
func (t *writeTx) packRef(m bridge.Message) any {
	if m.Media == nil {
		return nil
	}
	return t.Encode(m.Media.Ref)
}

func detailsOf(m bridge.Message) details {
	d := details{Forwarded: m.IsForwarded, Expiration: m.Expiration}
	if !m.Parts.IsZero() {
		d.Parts = new(partsDetails(m.Parts))
	}
	if c := m.ContextInfo; c != nil {
		d.Context = &contextDetails{QuotedID: c.QuotedMsgID, QuotedSender: c.QuotedSenderJID, Mentioned: c.MentionedJID, MentionsAll: c.MentionsAll}
		d.Context.setCopy(m)
	}
	if f := m.Media; f != nil {
		d.Media = new(mediaDetails(*f))
		d.Media.DownloadURL = ""
	}
	if p := m.Poll; p != nil {
		d.Poll = &pollDetails{Name: p.Name, Selectable: p.SelectableCount, Extensible: p.Extensible}
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

// hasLink reports whether a message with these details and a text has the address of a page.
func (d details) hasLink(text string) bool {
	return d.Parts != nil && d.Parts.LinkPreview != nil || bridge.HasAddress(text)
}

// unpack fills the fields of m that the column has.
func (s *Store) unpack(column []byte, m *bridge.Message, find people.Finder) error {
	if len(column) == 0 {
		return nil
	}
	var d details
	if err := json.Unmarshal(column, &d); err != nil {
		return err
	}
	s.fill(m, d, find)
	return nil
}

// fill fills the fields of m that details have, with people as find knows them. The content
// is read already.
func (s *Store) fill(m *bridge.Message, d details, find people.Finder) {
	m.IsForwarded, m.Kept = d.Forwarded, d.Keep != nil && d.Keep.Kept
	if !m.Kept && d.Expiration > 0 {
		m.ExpiresAt = new(bridge.At(m.Timestamp.Add(time.Duration(d.Expiration) * time.Second)))
	}
	if d.Pin != nil && d.Pin.Until > s.now() {
		m.PinnedUntil = new(bridge.Millis(d.Pin.Until))
	}
	if d.Parts != nil {
		m.Parts = bridge.Parts(*d.Parts)
	}
	if c := d.Context; c != nil {
		m.ContextInfo = c.shown(find, m.Content)
		m.Quoted = s.embedded(c, m, find)
	}
	m.Media, m.Transcript = d.Media.shown(m.Chat, m.ID), d.Transcript
	if d.Poll != nil {
		m.Poll = s.pollOf(*d.Poll)
	}
}

// pollOf returns a poll without the votes that are stored.
func (s *Store) pollOf(p pollDetails) *bridge.PollTally {
	poll := &bridge.PollTally{
		Name: p.Name, SelectableCount: p.Selectable, Extensible: p.Extensible,
		Options: make([]bridge.PollOption, len(p.Options), len(p.Options)+len(p.Added)),
	}
	for i, name := range p.Options {
		poll.Options[i] = bridge.PollOption{Name: name, Voters: []bridge.JID{}}
		if i < len(p.Votes) {
			poll.Options[i].Votes = p.Votes[i]
		}
	}
	for _, added := range p.Added {
		poll.Options = append(poll.Options, bridge.PollOption{Name: added.Name, Voters: []bridge.JID{}, AddedBy: s.Canonical(added.By)})
	}
	return poll
}

// shown returns the media of a message; nil for none.
func (f *mediaDetails) shown(chat bridge.JID, id string) *bridge.Media {
	if f == nil {
		return nil
	}
	media := bridge.Media(*f)
	media.DownloadURL = bridge.DownloadPath(chat, id)
	return &media
}

// tally counts one person's vote: hashes are the SHA-256 of the names chosen.
func tally(p *bridge.PollTally, voter bridge.JID, hashes []byte) {
	chosen := make(map[[sha256.Size]byte]bool)
	for ; len(hashes) >= sha256.Size; hashes = hashes[sha256.Size:] {
		chosen[[sha256.Size]byte(hashes)] = true
	}
	for i := range p.Options {
		option := &p.Options[i]
		if chosen[sha256.Sum256([]byte(option.Name))] {
			option.Votes++
			option.Voters = append(option.Voters, voter)
		}
	}
}
