package match

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// Stored is a stored message that may be one of an export. [Stored.Prepare] completes it.
type Stored struct {
	Seq, Sender int64
	FromMe      bool
	Deleted     bool // for everyone, and its text with it
	Kind, Text  string
	FileName    string
	ViewOnce    bool
	HasFile     bool
	Imported    bool
	Exported    bool // it comes from an export itself
	At          bridge.Time
	Ref         bridge.MediaRef

	text     Text
	fileName string // as texts are compared
	poll     *string
}

// Prepare completes a stored message. spellings lists what may follow the "@" where its text
// mentions people: see [NewText].
func (s *Stored) Prepare(spellings ...string) *Stored {
	s.Text, s.fileName = sameSpelling(s.Text), sameSpelling(s.FileName)
	for i := range spellings {
		spellings[i] = sameSpelling(spellings[i])
	}
	s.text = NewText(s.Text, spellings...)
	return s
}

// AsExported returns a stored message as one of an export by somebody.
func (s *Stored) AsExported(by bridge.Message) *bridge.ExportedMessage {
	by.Timestamp, by.MessageType, by.Content = s.At, s.Kind, s.Text
	e := &bridge.ExportedMessage{Message: by, Caption: s.Text, FileName: s.FileName, SHA256: s.Ref.FileSHA256}
	switch {
	case s.Deleted:
		e.DeletedAt = &s.At
	case s.Kind == "locationMessage":
		e.Location = new(bridge.Place)
	case s.isFile() && !s.HasFile: // its name may stand for it
		e.FileName = s.Text
	}
	return e
}

// Result says which stored message a message of an export is.
type Result struct {
	// Seq is the stored message, 0 for none.
	Seq int64
	// TakesFile reports whether its file is to be stored: that of a new message, and that of a
	// stored one that has none.
	TakesFile bool
	// Misnamed reports whether the stored one is attributed to a person whose name the sender's
	// was said to be before. Twice is another one that is.
	Misnamed bool
	Twice    int64
}

// Message is a message of an export whose stored one is looked for.
type Message struct {
	*bridge.ExportedMessage
	Result   *Result
	Senders  []int64 // rows of people who are its sender
	Formerly []int64 // rows of people to whom its sender's messages were attributed before

	text  string // as texts are compared
	found *Stored
}

// isBy reports whether a stored message is by the sender of an exported one.
func (m *Message) isBy(stored *Stored) bool {
	return m.FromMe && stored.FromMe || slices.Contains(m.Senders, stored.Sender)
}

// wasBy reports whether a stored message is from an export, and attributed to a person whose name
// the sender's was said to be before.
func (m *Message) wasBy(stored *Stored) bool {
	return stored.Exported && slices.Contains(m.Formerly, stored.Sender)
}

// Minute is a minute of a chat in which messages are matched.
type Minute struct {
	Stored []*Stored // which no message of the export is yet
	IsCut  bool      // the export may have only some of the minute's messages
	// Known lists the rows of people who are senders of the export under their names. Deleted
	// messages of others may be by any sender of whom only the name is known.
	Known []int64
	Now   time.Time

	ctx context.Context
}

// Match looks for the stored messages of all, by the surest rules first, and among these for those
// by the sender first. A sender whose name was corrected leaves messages to the others. Its error
// is that of ctx.
func (g *Minute) Match(ctx context.Context, all []*Message) error {
	g.ctx = ctx
	for _, m := range all {
		m.text = sameSpelling(m.Caption)
	}
	slices.SortStableFunc(all, func(a, b *Message) int { return cmp.Compare(len(a.Formerly), len(b.Formerly)) })
	misnamed := slices.DeleteFunc(slices.Clone(all), func(m *Message) bool { return len(m.Formerly) == 0 })
	for _, same := range sameness {
		g.matchBy(all, same, (*Message).isBy)
		g.matchBy(misnamed, same, (*Message).wasBy)
	}
	for _, same := range sure {
		for _, m := range misnamed {
			if m.found == nil {
				g.exchange(m, all, same)
			}
		}
	}
	if !g.IsCut {
		g.matchBy(all, deletedLater, (*Message).isBy)
		g.findTwice(misnamed)
	}
	g.matchDeletedByOthers(all)
	return ctx.Err()
}

// findTwice finds what came over the connection and was stored once more under a wrong name.
func (g *Minute) findTwice(misnamed []*Message) {
	for _, same := range sure {
		for _, m := range misnamed {
			if m.found == nil || m.found.Exported || m.Result.Twice != 0 {
				continue
			}
			if found := g.take(m, same, (*Message).wasBy); found != nil {
				m.Result.Twice = found.Seq
			}
		}
	}
}

// matchDeletedByOthers matches messages of senders of whom only the name is known with messages
// that were deleted for everyone: what was deleted must not come back under a name.
func (g *Minute) matchDeletedByOthers(all []*Message) {
	unnamed := slices.DeleteFunc(slices.Clone(all), func(m *Message) bool { return m.SenderJID != m.Nobody })
	for _, same := range []rule{sameContent, deletedSince} {
		for _, m := range unnamed {
			if m.found != nil {
				continue
			}
			found := g.take(m, same, func(m *Message, stored *Stored) bool {
				return stored.Deleted && !stored.FromMe && !slices.Contains(g.Known, stored.Sender) && stored.mayHaveBeen(m)
			})
			if found != nil {
				m.found, m.Result.Seq, m.Result.TakesFile = found, found.Seq, false
			}
		}
	}
}

// mayHaveBeen reports whether a deleted message, whose kind is all that is left, may have been a
// message of an export.
func (s *Stored) mayHaveBeen(m *Message) bool {
	isText := s.Kind == bridge.TypeText || s.Kind == "extendedTextMessage"
	return m.DeletedAt != nil || !isText && !s.isFile() || s.isFile() == isFile(m.MessageType)
}

func (g *Minute) matchBy(all []*Message, same rule, by func(*Message, *Stored) bool) {
	for _, m := range all {
		if m.found != nil {
			continue
		}
		if found := g.take(m, same, by); found != nil {
			m.is(found, g.Now)
		}
	}
}

// exchange gives a message the stored one that another was given, if that finds one under a wrong
// name instead.
func (g *Minute) exchange(m *Message, all []*Message, same rule) {
	isSame := same(m)
	for _, other := range all {
		if isSame == nil || g.ctx.Err() != nil || other.found == nil || !m.isBy(other.found) && !m.wasBy(other.found) || !isSame(other.found) {
			continue
		}
		if found := g.take(other, same, (*Message).wasBy); found != nil {
			m.is(other.found, g.Now)
			other.is(found, g.Now)
			return
		}
	}
}

// take returns the first stored message that is the same by a rule, and removes it from the minute;
// nil if there is none, or once the context has ended.
func (g *Minute) take(m *Message, same rule, by func(*Message, *Stored) bool) *Stored {
	isSame := same(m)
	if isSame == nil || g.ctx.Err() != nil {
		return nil
	}
	i := slices.IndexFunc(g.Stored, func(stored *Stored) bool { return by(m, stored) && isSame(stored) })
	if i < 0 {
		return nil
	}
	found := g.Stored[i]
	g.Stored = slices.Delete(g.Stored, i, i+1)
	return found
}

// is notes that a message is a stored one.
func (m *Message) is(found *Stored, now time.Time) {
	m.found, m.Result.Seq, m.Result.Misnamed = found, found.Seq, !m.isBy(found)
	m.Result.TakesFile = m.SHA256 != nil && !found.Deleted && !found.Ref.Kept && found.lacksFile(m.ExportedMessage, now)
}

// networkKeeps is for how long the network keeps files, at least.
const networkKeeps = 30 * 24 * time.Hour

// lacksFile reports whether a stored message has no file that could be opened: none at all, or
// the same one at the network, for too long.
func (s *Stored) lacksFile(exported *bridge.ExportedMessage, now time.Time) bool {
	if !s.HasFile || len(s.Ref.MediaKey) == 0 {
		return s.Imported && !s.isContact()
	}
	return bytes.Equal(s.Ref.FileSHA256, exported.SHA256) && now.Sub(s.At.Time) > networkKeeps
}

func (s *Stored) isFile() bool { return s.HasFile || isFile(s.Kind) }

// keepsOther reports whether a stored message has a file from an export, which is not the one
// with a hash.
func (s *Stored) keepsOther(sum []byte) bool {
	return s.Ref.Kept && sum != nil && !bytes.Equal(sum, s.Ref.FileSHA256)
}

func (s *Stored) isContact() bool { return strings.HasPrefix(s.Kind, "contact") }

func (s *Stored) isPoll() bool { return strings.HasPrefix(s.Kind, "pollCreation") }

// pollOf returns the poll that the text of a stored message from an export is; see [pollOf].
func (s *Stored) pollOf() string {
	if s.poll == nil {
		s.poll = new(pollOf(s.Text))
	}
	return *s.poll
}
