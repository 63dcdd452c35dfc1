package console

import (
	"slices"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// bubble describes a message as a chat shows it.
type bubble struct {
	bridge.Message
	ChatJID          bridge.JID
	Key              string // its name in the page
	Unread           int    // how many messages are unread from this one on; 0 but for the first of them
	Sender           string
	ShowName         bool
	First            bool // of a run of one person's
	Quote            *quote
	Text             []block
	IsLong           bool
	IsJumbo          bool // a few emoji and nothing else
	Votes            []vote
	Answers          []eventAnswer // to an event
	Pictures         []bubble      // of an album, and its videos
	Marks            []mark
	Tick             *tick
	Kind             string // in words, for messages that have nothing else to show
	Curl             string
	Actions          bool
	Exported         bool // nobody can answer or react to it
	Editable         bool // for everyone
	Deletable        bool // an own one, for everyone
	Transcribable    bool // on request
	IsLongTranscript bool
	Clock            clock
}

// Characters from which on a text, or a transcript, is folded.
const (
	longText       = 1500
	longTranscript = 400
)

// quote is the message that another one answers.
type quote struct {
	JID    bridge.JID
	Sender string
	Text   string
	Path   string // of its place in the chat; empty if the chat does not have it
	Claim  string // that only the sender of the answer says what was quoted; empty if the chat has it
}

type vote struct {
	Name       string
	Votes, Max int
	Voters     string
	AddedBy    string // empty for one that the poll was made with
}

type mark struct {
	Emoji string
	Count int
	Who   string
	Own   bool
}

// tick shows the delivery of an own message.
type tick struct{ Icon, Text, Tone string }

// bubbles returns messages as a chat shows them, the oldest first, with what is unread.
func (v *visit) bubbles(chat bridge.Chat, chats []bridge.Chat, messages []bridge.Message, unread unread) ([]bubble, error) {
	n, err := v.names(append(slices.Clone(chats), chat), messages)
	if err != nil {
		return nil, err
	}
	messages, parts := gather(messages)
	shown, clock := make([]bubble, len(messages)), v.clock()
	for i, m := range messages {
		b := v.actionable(newBubble(m, n, clock), chat.JID)
		for _, part := range parts[m.ID] {
			b.Pictures = append(b.Pictures, v.actionable(newBubble(part, n, clock), chat.JID))
		}
		b.Quote = quoteOf(chat.JID, m, n)
		if m.ID == unread.First || slices.ContainsFunc(parts[m.ID], func(part bridge.Message) bool { return part.ID == unread.First }) {
			b.Unread = unread.Count
		}
		before := messages[max(i-1, 0)]
		b.First = i == 0 || b.Unread > 0 || clock.date(before.Timestamp) != clock.date(m.Timestamp) ||
			before.SenderJID != m.SenderJID || before.FromMe != m.FromMe || m.Timestamp.Sub(before.Timestamp.Time).Minutes() > 10
		b.ShowName = b.First && (chat.IsGroup || chat.JID.IsImport()) && !m.FromMe
		shown[i] = b
	}
	return shown, nil
}

// actionable returns a bubble of a chat with the actions on its message.
func (v *visit) actionable(b bubble, chat bridge.JID) bubble {
	b.ChatJID, b.Actions, b.Exported = chat, v.sends() && b.DeletedAt == nil, b.IsExported()
	b.Editable = b.Actions && b.Message.Editable(v.c.now(), bridge.EditTime) == nil
	b.Deletable = b.Actions && b.FromMe && b.Message.Deletable(v.c.now(), false) == nil
	b.Transcribable = v.transcribes() && b.Media != nil && b.Media.Type == bridge.MediaAudio && b.Message.Transcribable() == nil && b.Transcript == nil
	b.Curl = curl("GET", "/api/chats/"+chat.Escaped()+"/messages/"+bridge.PathID(b.ID), nil)
	return b
}

func newBubble(m bridge.Message, n names, c clock) bubble {
	b := bubble{Message: m, Key: "m-" + bridge.PathID(m.ID), Sender: n.of(m.SenderJID), Clock: c, Kind: kindOf(m)}
	b.IsLong = utf8.RuneCountInString(m.Content) > longText
	b.IsLongTranscript = m.Transcript != nil && utf8.RuneCountInString(m.Transcript.Text) > longTranscript
	if showsContent(m) {
		b.Text = blocksOf(m.Content, mentionsOf(m, n))
		b.IsJumbo = isJumbo(m.Content)
	}
	if m.Status != nil {
		tick := ticks[*m.Status]
		b.Tick = &tick
	}
	b.Marks, b.Votes, b.Answers = marksOf(m.Reactions, n), votesOf(m.Poll, n), responsesOf(m.Event, n)
	return b
}

// showsContent reports whether a message's content is shown: other kinds repeat their card.
func showsContent(m bridge.Message) bool {
	return m.Poll == nil && m.Location == nil && len(m.Contacts) == 0 && m.Event == nil && m.DeletedAt == nil
}

// quoteOf returns the message that another one answers; nil for none.
func quoteOf(chat bridge.JID, m bridge.Message, n names) *quote {
	q := m.Quoted
	if q == nil || m.DeletedAt != nil {
		return nil
	}
	n.learn(q.SenderJID, q.PushName)
	shown := &quote{JID: q.SenderJID, Sender: n.of(q.SenderJID), Text: quotedLine(*q)}
	switch {
	case !q.IsClaim():
		shown.Path = jump(chat, q.MsgID)
	case q.MessageType == bridge.TypeUnknown && q.Content == "":
		shown.Text = "A message that is not stored here"
	default:
		shown.Claim = claimOf(*q, chat)
	}
	if q.SenderJID == "" {
		shown.Sender = ""
	}
	return shown
}

// claimOf returns whose words an embedded quote is, and where the message is said to be.
func claimOf(q bridge.Quoted, chat bridge.JID) string {
	switch {
	case q.ChatJID.Server() == bridge.ServerBroadcast:
		return "from a status, as quoted by the sender"
	case q.ChatJID.IsGroup() && q.ChatJID != chat:
		return "from a group, as quoted by the sender"
	case q.ChatJID != chat:
		return "from another chat, as quoted by the sender"
	}
	return "not stored here, as quoted by the sender"
}

var ticks = map[bridge.Delivery]tick{
	bridge.DeliveryPending:   {"clock", "not sent yet", ""},
	bridge.DeliverySent:      {"check", "sent", ""},
	bridge.DeliveryDelivered: {"checks", "delivered", ""},
	bridge.DeliveryRead:      {"checks", "read", "read"},
	bridge.DeliveryPlayed:    {"checks", "played", "read"},
	bridge.DeliveryFailed:    {"warning", "not sent", "failed"},
}

// marksOf counts reactions by emoji, in the order in which they were given.
func marksOf(reactions []bridge.MessageReaction, n names) (marks []mark) {
	for _, r := range reactions {
		who := n.of(r.SenderJID)
		i := slices.IndexFunc(marks, func(m mark) bool { return m.Emoji == r.Emoji })
		if i < 0 {
			marks = append(marks, mark{Emoji: r.Emoji, Who: who, Count: 1, Own: r.SenderJID == n.me})
			continue
		}
		marks[i].Count++
		marks[i].Who += ", " + who
		marks[i].Own = marks[i].Own || r.SenderJID == n.me
	}
	return marks
}

func votesOf(poll *bridge.PollTally, n names) (votes []vote) {
	if poll == nil {
		return nil
	}
	most := 1
	for _, option := range poll.Options {
		most = max(most, option.Votes)
	}
	for _, option := range poll.Options {
		shown := vote{Name: option.Name, Votes: option.Votes, Max: most, Voters: n.all(option.Voters)}
		if option.AddedBy != "" {
			shown.AddedBy = n.of(option.AddedBy)
		}
		votes = append(votes, shown)
	}
	return votes
}
