package chats

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/markup"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
	"bridged/internal/folding"
)

// bubble describes a message as a chat shows it.
type bubble struct {
	bridge.Message
	ChatJID          bridge.JID
	Key              string // its id in the page
	Unread           int    // on the first unread message: the number of unread messages
	Sender           string
	ShowName         bool
	First            bool // of several messages of one person
	Quote            *quote
	Text             []markup.Block
	IsLong           bool
	IsJumbo          bool // a few emoji and nothing else
	Votes            []vote
	Answers          []eventAnswer // to an event
	Pictures         []bubble      // the pictures and videos of an album
	InAlbum          bool
	More             int      // of the pictures, which the album shows once one asks for them
	Can              string   // what keys do with it: reply, react, edit
	Choices          *choices // of a business
	Marks            []mark
	Chips            []bridge.Label
	Tick             *Tick
	Kind             string // in words, for messages without other content
	Curl             string
	Actions          bool
	Exported         bool // imported; it cannot be answered or reacted to
	Editable         bool // for everyone
	Deletable        bool // for everyone; own messages only
	DeletableHere    bool // on the account's own devices
	Starrable        bool
	Pinnable         bool // set for the menu alone, as the next
	Labelable        bool
	Votable          bool
	Joinable         bool // an invitation to a group
	Transcribable    bool // on request
	IsLongTranscript bool
	TranscriptParts  []folding.Part // with searched words marked; nil if none
	Clock            view.Clock
}

// shownParts is the number of pictures of an album that are shown at first.
const shownParts = 4

// Longer texts and transcripts are folded. In characters.
const (
	longText       = 1500
	longTranscript = 400
)

// quote is the message that another one answers.
type quote struct {
	JID    bridge.JID
	Sender string
	Text   string
	Path   string // of the quoted message; empty if it is not stored
	Claim  string // why the quoted text is unconfirmed; empty if the quoted message is stored
}

type vote struct {
	Name       string
	Own        bool
	Votes, Max int
	Voters     string
	AddedBy    string // empty for the original options
}

type mark struct {
	Emoji string
	Count int
	Who   string
	Own   bool
}

// Tick shows the delivery of an own message.
type Tick struct{ Icon, Text, Tone string }

// bubbles returns messages as a chat shows them, the oldest first. It marks the first unread one.
func bubbles(req *frame.Request, chat bridge.Chat, chats []bridge.Chat, messages []bridge.Message, unread unread) ([]bubble, error) {
	n, err := names.OfMessages(req, append(slices.Clone(chats), chat), messages)
	if err != nil {
		return nil, err
	}
	labels, err := labelsFor(req, messages)
	if err != nil {
		return nil, err
	}
	messages, parts := gather(messages)
	shown, clock := make([]bubble, len(messages)), req.Clock()
	for i, m := range messages {
		b := actionable(req, newBubble(m, n, clock), chat.JID)
		b.Chips = labels.Of(m.Labels)
		for _, part := range parts[m.ID] {
			shown := actionable(req, newBubble(part, n, clock), chat.JID)
			shown.InAlbum, shown.Chips = true, labels.Of(part.Labels)
			b.Pictures = append(b.Pictures, shown)
			if part.Status != nil && *part.Status == bridge.DeliveryFailed {
				b.Tick = shown.Tick // the album was not sent whole
			}
		}
		b.More = max(0, len(b.Pictures)-shownParts)
		b.Quote = quoteOf(chat.JID, m, n)
		if m.ID == unread.First || slices.ContainsFunc(parts[m.ID], func(part bridge.Message) bool { return part.ID == unread.First }) {
			b.Unread = unread.Count
		}
		before := messages[max(i-1, 0)]
		b.First = i == 0 || b.Unread > 0 || clock.Date(before.Timestamp) != clock.Date(m.Timestamp) ||
			before.SenderJID != m.SenderJID || before.FromMe != m.FromMe || m.Timestamp.Sub(before.Timestamp.Time).Minutes() > 10
		b.ShowName = b.First && (chat.IsGroup || chat.JID.IsImport()) && !m.FromMe
		shown[i] = b
	}
	return shown, nil
}

// actionable adds the actions on a message to its bubble.
func actionable(req *frame.Request, b bubble, chat bridge.JID) bubble {
	b.ChatJID, b.Actions, b.Exported = chat, req.Sends() && b.DeletedAt == nil, b.IsExported()
	b.Editable = b.Actions && b.Message.Editable(req.Now(), bridge.EditTime) == nil
	b.Deletable = b.Actions && b.FromMe && b.Message.Deletable(req.Now(), false) == nil
	b.DeletableHere = b.Actions && b.DeletableForMe() == nil
	b.Starrable = b.Actions && b.Markable("pinned") == nil
	b.Votable = b.Poll != nil && b.Actions && b.Message.Votable(nil) == nil
	b.Joinable = b.Actions && req.Token.Chats == nil && b.Message.Joinable(req.Now()) == nil
	b.Transcribable = req.Transcribes() && b.Media != nil && b.Media.Type == bridge.MediaAudio && b.Message.Transcribable() == nil && b.Transcript == nil
	var can []string
	if b.Actions && !b.Exported {
		can = append(can, "reply", "react")
	}
	if b.Editable {
		can = append(can, "edit")
	}
	b.Can = strings.Join(can, " ")
	return b
}

func newBubble(m bridge.Message, n names.Names, c view.Clock) bubble {
	b := bubble{Message: m, Key: "m-" + bridge.PathID(m.ID), Sender: n.Of(m.SenderJID), Clock: c, Kind: view.KindOf(m)}
	if m.ViewOnce { // the phone shows it
		b.Media, b.Content, b.Transcript = nil, "", nil
		m = b.Message
	}
	b.IsLong = utf8.RuneCountInString(m.Content) > longText
	b.IsLongTranscript = m.Transcript != nil && utf8.RuneCountInString(m.Transcript.Text) > longTranscript
	if showsContent(m) {
		choices, text := choicesOf(m)
		b.Choices, b.Text = choices, markup.Blocks(text, mentionsOf(m, n))
		b.IsJumbo = markup.IsJumbo(m.Content)
	}
	if m.Status != nil {
		tick := ticks[*m.Status]
		b.Tick = &tick
	}
	b.Marks, b.Votes, b.Answers = marksOf(m.Reactions, n), votesOf(m.Poll, n), responsesOf(m.Event, n)
	return b
}

// showsContent reports whether a message's content is shown. Other kinds show a card instead.
func showsContent(m bridge.Message) bool {
	return m.Poll == nil && m.Location == nil && len(m.Contacts) == 0 && m.Event == nil && m.DeletedAt == nil
}

// quoteOf returns the message that another one answers; nil if none.
func quoteOf(chat bridge.JID, m bridge.Message, n names.Names) *quote {
	q := m.Quoted
	if q == nil || m.DeletedAt != nil {
		return nil
	}
	n.Learn(q.SenderJID, q.PushName)
	shown := &quote{JID: q.SenderJID, Sender: n.Of(q.SenderJID), Text: view.QuotedLine(*q)}
	switch {
	case !q.IsClaim():
		shown.Path = jump(chat, q.MsgID)
	case q.MessageType == bridge.TypeUnknown && q.Content == "":
		shown.Text = "Original message isn’t available"
	default:
		shown.Claim = claimOf(*q, chat)
	}
	if q.SenderJID == "" {
		shown.Sender = ""
	}
	return shown
}

// claimOf says that an embedded quote is the claim of its sender, and which chat it names.
func claimOf(q bridge.Quoted, chat bridge.JID) string {
	switch {
	case q.ChatJID.Server() == bridge.ServerBroadcast:
		return "From a status, as the sender quotes it"
	case q.ChatJID.IsGroup() && q.ChatJID != chat:
		return "From a group, as the sender quotes it"
	case q.ChatJID != chat:
		return "From another chat, as the sender quotes it"
	}
	return "Original message isn’t available"
}

var ticks = map[bridge.Delivery]Tick{
	bridge.DeliveryPending:   {"clock", "not sent yet", ""},
	bridge.DeliverySent:      {"check", "sent", ""},
	bridge.DeliveryDelivered: {"checks", "delivered", ""},
	bridge.DeliveryRead:      {"checks", "read", "read"},
	bridge.DeliveryPlayed:    {"checks", "played", "read"},
	bridge.DeliveryFailed:    {"warning", "not sent", "failed"},
}

// marksOf counts reactions by emoji, the earliest first.
func marksOf(reactions []bridge.MessageReaction, n names.Names) (marks []mark) {
	for _, r := range reactions {
		who := n.Of(r.SenderJID)
		i := slices.IndexFunc(marks, func(m mark) bool { return m.Emoji == r.Emoji })
		if i < 0 {
			marks = append(marks, mark{Emoji: r.Emoji, Who: who, Count: 1, Own: r.SenderJID == n.Me})
			continue
		}
		marks[i].Count++
		marks[i].Who += ", " + who
		marks[i].Own = marks[i].Own || r.SenderJID == n.Me
	}
	return marks
}

func votesOf(poll *bridge.PollTally, n names.Names) (votes []vote) {
	if poll == nil {
		return nil
	}
	most := 1
	for _, option := range poll.Options {
		most = max(most, option.Votes)
	}
	for _, option := range poll.Options {
		shown := vote{Name: option.Name, Own: slices.Contains(option.Voters, n.Me), Votes: option.Votes, Max: most, Voters: n.All(option.Voters)}
		if option.AddedBy != "" {
			shown.AddedBy = n.Of(option.AddedBy)
		}
		votes = append(votes, shown)
	}
	return votes
}

// Functions are functions for the templates of chats.
var Functions = template.FuncMap{
	"lastTick": lastTick, "adPicture": adPicture, "adLink": adLink, "announced": announced, "digitsOf": digitsOf, "emojis": func() []string { return quickEmojis },
}

type eventAnswer struct {
	Answer string
	Who    string
	Count  int
	Guests int
}

func responsesOf(event *bridge.CalendarEvent, n names.Names) (given []eventAnswer) {
	if event == nil || event.Responses == nil {
		return nil
	}
	r := event.Responses
	for _, group := range []struct {
		answer string
		people []bridge.JID
		guests int
	}{{"Going", r.Going, r.Guests}, {"Maybe", r.Maybe, 0}, {"Not going", r.NotGoing, 0}} {
		if len(group.people) > 0 {
			given = append(given, eventAnswer{Answer: group.answer, Who: n.All(group.people), Count: len(group.people), Guests: group.guests})
		}
	}
	return given
}

// dataPicture matches data URLs of pictures, which contain no scripts.
var dataPicture = regexp.MustCompile(`^data:image/(jpeg|png|webp);base64,`)

// adPicture returns the picture of an ad as a data URL; empty for any other address.
func adPicture(url *string) template.URL {
	if url == nil || !dataPicture.MatchString(*url) {
		return ""
	}
	return template.URL(*url) //nolint:gosec // a picture
}

// adLink returns the address of an ad; empty if it is not http or https.
func adLink(address string) string {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return ""
	}
	return address
}

// announced returns the number of pictures and videos that an album declares.
func announced(a bridge.Album) int { return a.Images + a.Videos }

// digitsOf returns the number of a contact card with its country code; empty if the card has no
// country code.
func digitsOf(phone bridge.SharedPhone) string {
	if phone.JID.Server() == bridge.ServerUser {
		return phone.JID.User()
	}
	number, international := strings.CutPrefix(strings.TrimSpace(phone.Number), "+")
	if !international {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}
