package bridge

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON returns v as JSON on one line, in which <, > and & stand as they
// are: no browser takes what is application/json and nosniff for a page.
func EncodeJSON(v any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), err
}

// PageBytes bounds the JSON of the elements of one page, unless it has only one.
const PageBytes = 4 << 20

// What an element takes at most beside its texts.
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

// textSize returns how many bytes a valid text takes as a JSON string.
func textSize(s string) int {
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

// Size returns how many bytes m takes as JSON, at most.
func (m *Message) Size() int {
	n := messageFrame + textSize(m.ID) + textSize(m.PushName) + textSize(m.MessageType) + textSize(m.Content) + m.Media.size()
	for i := range m.Reactions {
		n += reactionFrame + textSize(m.Reactions[i].Emoji)
	}
	if p := m.Poll; p != nil {
		n += textSize(p.Name)
		for i := range p.Options {
			n += optionFrame + textSize(p.Options[i].Name) + len(p.Options[i].Voters)*voterSize
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
		n = textSize(*c.QuotedMsgID) + quotedFrame
	}
	for i := range c.Mentions {
		n += mentionFrame + textSize(c.Mentions[i].Name)
		if token := c.Mentions[i].Token; token != nil {
			n += textSize(*token)
		}
	}
	return n + len(c.MentionedJID)*voterSize
}

func (m *Media) size() int {
	if m == nil {
		return 0
	}
	return mediaFrame + textSize(m.MimeType) + textSize(m.FileName) + textSize(m.Caption) + textSize(m.DownloadURL)
}

// Size returns how many bytes m takes as JSON, at most.
func (m *Match) Size() int {
	return matchFrame + textSize(m.ChatName) + textSize(m.MsgID) + textSize(m.PushName) + textSize(m.MessageType) +
		textSize(m.Content) + m.Media.size()
}

// Size returns how many bytes e takes as JSON, at most.
func (e *Event) Size() int {
	n := eventFrame
	if e.Message != nil {
		n += e.Message.Size()
	}
	if c := e.Chat; c != nil {
		n += chatFrame + textSize(c.Name)
		if last := c.LastMessage; last != nil {
			n += textSize(last.ID) + textSize(last.PushName) + textSize(last.MessageType) + textSize(last.Content)
		}
	}
	if g := e.Group; g != nil {
		n += chatFrame + textSize(g.Name) + textSize(g.Topic)
		for i := range g.Participants {
			n += memberFrame + textSize(g.Participants[i].DisplayName)
		}
	}
	if e.Status != nil {
		n += jsonSize(e.Status)
	}
	return n
}

// jsonSize returns how many bytes a value takes as JSON.
func jsonSize(v any) int {
	text, _ := EncodeJSON(v) // a fault shows when it is answered
	return len(text)
}
