package bridge

// PageBytes is how many bytes of JSON the elements of one page take at most. A
// page that has only one element may be larger.
const PageBytes = 4 << 20

// What an element takes beside its texts, at most: names of fields, JIDs, moments
// and numbers.
const (
	messageFrame  = 1400
	matchFrame    = 700
	chatFrame     = 1000
	eventFrame    = 1000
	memberFrame   = 250
	mediaFrame    = 500
	mentionFrame  = 200
	quotedFrame   = 4500 // with its texts, which are short
	reactionFrame = 150
	optionFrame   = 120
	voterSize     = 48
)

// TextSize returns how many bytes a text takes as a JSON string, quotes included.
// It is exact for valid text.
func TextSize(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= ' ' && c != '"' && c != '\\' && c != 0xE2:
		case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
			n++
		case c == 0xE2: // of U+2028 and U+2029, which are escaped, and of others
			n += 3
		default:
			n += 5
		}
	}
	return n
}

// Size returns how many bytes m takes as JSON, at most. What a poll's voters and
// the reactions take is counted for those that m has.
func (m *Message) Size() int {
	n := messageFrame + TextSize(m.ID) + TextSize(m.PushName) + TextSize(m.MessageType) + TextSize(m.Content) + m.Media.size()
	for i := range m.Reactions {
		n += reactionFrame + TextSize(m.Reactions[i].Emoji)
	}
	if p := m.Poll; p != nil {
		n += TextSize(p.Name)
		for i := range p.Options {
			n += optionFrame + TextSize(p.Options[i].Name) + len(p.Options[i].Voters)*voterSize
		}
	}
	if c := m.ContextInfo; c != nil {
		n += c.size()
	}
	if !m.Parts.IsZero() {
		n += jsonSize(&m.Parts)
	}
	return n
}

func (c *ContextInfo) size() int {
	n := 0
	if c.QuotedMsgID != nil {
		n = TextSize(*c.QuotedMsgID) + quotedFrame
	}
	for i := range c.Mentions {
		n += mentionFrame + TextSize(c.Mentions[i].Name)
		if token := c.Mentions[i].Token; token != nil {
			n += TextSize(*token)
		}
	}
	return n + len(c.MentionedJID)*voterSize
}

func (m *Media) size() int {
	if m == nil {
		return 0
	}
	return mediaFrame + TextSize(m.MimeType) + TextSize(m.FileName) + TextSize(m.Caption) + TextSize(m.DownloadURL)
}

// Size returns how many bytes m takes as JSON, at most.
func (m *Match) Size() int {
	return matchFrame + TextSize(m.ChatName) + TextSize(m.MsgID) + TextSize(m.PushName) + TextSize(m.MessageType) +
		TextSize(m.Content) + m.Media.size()
}

// Size returns how many bytes e takes as JSON, at most.
func (e *Event) Size() int {
	n := eventFrame
	if e.Message != nil {
		n += e.Message.Size()
	}
	if c := e.Chat; c != nil {
		n += chatFrame + TextSize(c.Name)
		if last := c.LastMessage; last != nil {
			n += TextSize(last.ID) + TextSize(last.PushName) + TextSize(last.MessageType) + TextSize(last.Content)
		}
	}
	if g := e.Group; g != nil {
		n += chatFrame + TextSize(g.Name) + TextSize(g.Topic)
		for i := range g.Participants {
			n += memberFrame + TextSize(g.Participants[i].DisplayName)
		}
	}
	if e.Status != nil {
		n += jsonSize(e.Status)
	}
	return n
}

// jsonSize returns how many bytes a value takes as JSON; 0 for what cannot be
// JSON, which shows when it is answered.
func jsonSize(v any) int {
	text, err := EncodeJSON(v)
	if err != nil {
		return 0
	}
	return len(text)
}
