package match

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// Stored is a stored message that is compared with messages of an export.
type Stored struct {
	*store.ChatMessage
	content  Text   // the text with its mentions
	fileName string // normalised
	poll     *string
}

// NewStored returns a stored message for comparisons. It normalises the message's text.
func NewStored(m *store.ChatMessage) *Stored {
	m.Text = normalise(m.Text)
	for i := range m.Mentions {
		m.Mentions[i] = normalise(m.Mentions[i])
	}
	return &Stored{ChatMessage: m, content: NewText(m.Text, m.Mentions...), fileName: normalise(m.FileName)}
}

// AsExported returns a stored message as one of an export by a sender.
func (s *Stored) AsExported(sender bridge.JID, isMe bool) *Message {
	m := &Message{Sender: sender, Caption: s.Text, FileName: s.FileName, ExportedMessage: &store.ExportedMessage{
		Message:     bridge.Message{SenderJID: sender, FromMe: isMe, Timestamp: s.At, MessageType: s.Kind, Content: s.Text},
		Placeholder: s.Sender, SHA256: s.Ref.FileSHA256,
	}}
	switch {
	case s.Deleted:
		m.DeletedAt = &s.At
	case s.Kind == "locationMessage":
		m.Location = new(bridge.Place)
	case s.isFile() && !s.HasFile: // the text may be the file's name
		m.FileName = s.Text
	}
	return m
}

// Message is a message of an export. [Minute.Match] sets its match.
type Message struct {
	*store.ExportedMessage
	Sender bridge.JID // canonical
	// Previous lists people that the sender's messages were attributed to before.
	Previous []bridge.JID
	FileName string // also of a file that the export omits
	Caption  string
	Found    *Stored // the stored message that it is; nil if it is not stored

	text string // the caption, normalised
}

// isBy reports whether a stored message is by the sender of an exported one.
func (m *Message) isBy(stored *Stored) bool {
	return m.FromMe && stored.FromMe || stored.Sender == m.Sender || stored.Sender == m.Placeholder
}

// wasBy reports whether a stored message comes from an export and is attributed to one of the sender's previous people.
func (m *Message) wasBy(stored *Stored) bool {
	return stored.Exported && slices.Contains(m.Previous, stored.Sender)
}

// Minute matches messages of one minute of a chat.
type Minute struct {
	Stored    []*Stored // messages without a match, the ones from exports last
	IsPartial bool      // the export may have only some of the minute's messages
	// Known lists the identified senders of the export. Deleted messages of other people may be by any
	// unidentified sender.
	Known []bridge.JID
	Now   time.Time

	ctx context.Context
}

// Match finds the stored messages that messages of an export are. It tries the most reliable rules first, and for each rule
// the sender's own messages before messages that were attributed to another person. It ends with ctx.
func (g *Minute) Match(ctx context.Context, all []*Message) error {
	g.ctx = ctx
	for _, m := range all {
		m.text = normalise(m.Caption)
	}
	slices.SortStableFunc(all, func(a, b *Message) int { return cmp.Compare(len(a.Previous), len(b.Previous)) })
	corrected := slices.DeleteFunc(slices.Clone(all), func(m *Message) bool { return len(m.Previous) == 0 })
	for _, same := range rules {
		g.matchBy(all, same, (*Message).isBy)
		g.matchBy(corrected, same, (*Message).wasBy)
	}
	for _, same := range exactRules {
		for _, m := range corrected {
			if m.Found == nil {
				g.swap(m, all, same)
			}
		}
	}
	if !g.IsPartial {
		g.matchBy(all, deletedAfterStoring, (*Message).isBy)
		g.findDuplicates(corrected)
	}
	g.matchDeletedByOthers(all)
	return ctx.Err()
}

// findDuplicates finds messages that were received and also imported under the wrong person.
func (g *Minute) findDuplicates(corrected []*Message) {
	for _, same := range exactRules {
		for _, m := range corrected {
			if m.Found == nil || m.Found.Exported || m.Duplicate != 0 {
				continue
			}
			if found := g.take(m, same, (*Message).wasBy); found != nil {
				m.Duplicate = found.Seq
			}
		}
	}
}

// matchDeletedByOthers matches messages of senders without a known person with messages that were deleted for everyone, so
// that a deleted text is not stored again under a name.
func (g *Minute) matchDeletedByOthers(all []*Message) {
	unidentified := slices.DeleteFunc(slices.Clone(all), func(m *Message) bool { return m.SenderJID != m.Placeholder })
	for _, same := range []rule{sameContent, deletedAfterExport} {
		for _, m := range unidentified {
			if m.Found != nil {
				continue
			}
			found := g.take(m, same, func(m *Message, stored *Stored) bool {
				return stored.Deleted && !stored.FromMe && !slices.Contains(g.Known, stored.Sender) && stored.mayHaveBeen(m)
			})
			if found != nil {
				m.Found, m.Seq, m.TakesFile = found, found.Seq, false
			}
		}
	}
}

// mayHaveBeen reports whether a deleted message has a kind that a message of an export can have had.
func (s *Stored) mayHaveBeen(m *Message) bool {
	isText := s.Kind == bridge.TypeText || s.Kind == "extendedTextMessage"
	return m.DeletedAt != nil || !isText && !s.isFile() || s.isFile() == isFile(m.MessageType)
}

func (g *Minute) matchBy(all []*Message, same rule, by func(*Message, *Stored) bool) {
	for _, m := range all {
		if m.Found != nil {
			continue
		}
		if found := g.take(m, same, by); found != nil {
			m.set(found, g.Now)
		}
	}
}

// swap gives a message the match of another one, if that finds a message that was attributed to another person instead.
func (g *Minute) swap(m *Message, all []*Message, same rule) {
	isSame := same(m)
	for _, other := range all {
		if isSame == nil || g.ctx.Err() != nil || other.Found == nil || !m.isBy(other.Found) && !m.wasBy(other.Found) || !isSame(other.Found) {
			continue
		}
		if found := g.take(other, same, (*Message).wasBy); found != nil {
			m.set(other.Found, g.Now)
			other.set(found, g.Now)
			return
		}
	}
}

// take removes the first stored message that a rule matches from the minute and returns it; nil if there is none or the
// context has ended.
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

// set makes a stored message the match of a message.
func (m *Message) set(found *Stored, now time.Time) {
	m.Found, m.Seq, m.Reattributes = found, found.Seq, !m.isBy(found)
	m.TakesFile = m.SHA256 != nil && !found.Deleted && !found.Ref.IsImported && found.lacksFile(m.SHA256, now)
}

// networkRetention is how long WhatsApp's media servers store files, at least.
const networkRetention = 30 * 24 * time.Hour

// lacksFile reports whether a stored message can use a file with a hash: it has none, or the media servers have probably
// deleted that file.
func (s *Stored) lacksFile(sum []byte, now time.Time) bool {
	if !s.HasFile || len(s.Ref.MediaKey) == 0 {
		return s.Imported && !s.isContact()
	}
	return bytes.Equal(s.Ref.FileSHA256, sum) && now.Sub(s.At.Time) > networkRetention
}

func (s *Stored) isFile() bool { return s.HasFile || isFile(s.Kind) }

// hasOtherFile reports whether a stored message has an imported file with another hash.
func (s *Stored) hasOtherFile(sum []byte) bool {
	return s.Ref.IsImported && sum != nil && !bytes.Equal(sum, s.Ref.FileSHA256)
}

func (s *Stored) isContact() bool { return strings.HasPrefix(s.Kind, "contact") }

func (s *Stored) isPoll() bool { return strings.HasPrefix(s.Kind, "pollCreation") }

// pollOf returns the poll in the text of an imported message; see [pollOf].
func (s *Stored) pollOf() string {
	if s.poll == nil {
		s.poll = new(pollOf(s.Text))
	}
	return *s.poll
}
