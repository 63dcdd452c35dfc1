package chatimport

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatimport/match"
	"bridged/internal/store"
)

// Limits of the stored messages of a minute that are compared at once: their number, and the bytes of their texts. The others
// are compared after the first ones have been found in the export.
const (
	maxCompared      = 2000
	maxComparedBytes = 8 << 20
)

// maxMatched limits how many stored messages of an export are remembered, twice.
const maxMatched = 1 << 17

// matcher finds the stored messages that messages of an export are.
type matcher struct {
	store *store.Store
	run   *store.ExportRun
	known []bridge.JID // identified senders
	now   func() time.Time
	// Stored messages that were found in the export, so that each matches once. The older ones are forgotten first: the export
	// has passed their time.
	matched, older map[int64]bool
}

// match finds the stored message for each exported one: by the same sender, in the same minute, with the same file or text.
func (m *matcher) match(ctx context.Context, messages []*match.Message) error {
	for _, message := range messages {
		message.TakesFile = message.SHA256 != nil
	}
	if m.run.IsNew {
		return nil
	}
	byMinute := make(map[int64][]*match.Message)
	for _, message := range messages {
		m.identify(message)
		minute := message.Timestamp.Unix() / 60
		byMinute[minute] = append(byMinute[minute], message)
	}
	known := make([]bridge.JID, len(m.known))
	for i, jid := range m.known {
		known[i] = m.store.Canonical(jid)
	}
	return m.store.Minutes(ctx, m.run, maps.Keys(byMinute), func(at int64, stored iter.Seq[*store.ChatMessage]) error {
		minute := match.Minute{Stored: m.candidates(stored), IsPartial: slices.Contains(m.run.PartialMinutes, at), Known: known, Now: m.now()}
		err := minute.Match(ctx, byMinute[at])
		for _, message := range byMinute[at] {
			m.remember(message.Seq)
			m.remember(message.Duplicate)
		}
		return err
	})
}

// identify sets the people of a message to their current JIDs, which change if a number turns out to belong to a LID.
func (m *matcher) identify(message *match.Message) {
	message.Sender = m.store.Canonical(message.SenderJID)
	var previous []bridge.JID
	for _, jid := range message.Previous {
		if jid = m.store.Canonical(jid); jid != message.Sender && jid != message.Placeholder {
			previous = append(previous, jid)
		}
	}
	message.Previous = previous
}

// candidates returns the stored messages of a minute that have not been found in the export, those from exports last.
func (m *matcher) candidates(messages iter.Seq[*store.ChatMessage]) []*match.Stored {
	var received, exported []*match.Stored
	size := 0
	for message := range messages {
		if m.matched[message.Seq] || m.older[message.Seq] {
			continue
		}
		if stored := match.NewStored(message); stored.Exported {
			exported = append(exported, stored)
		} else {
			received = append(received, stored)
		}
		if size += len(message.Text); size >= maxComparedBytes || len(received)+len(exported) == maxCompared {
			break
		}
	}
	return append(received, exported...)
}

// remember records that a stored message was found in the export.
func (m *matcher) remember(seq int64) {
	if seq == 0 {
		return
	}
	if len(m.matched) == maxMatched {
		m.older, m.matched = m.matched, make(map[int64]bool)
	}
	m.matched[seq] = true
}

// attribute attributes the messages that are stored under a sender's placeholder to the person. It removes those that the
// chat also has from the person.
func (m *matcher) attribute(ctx context.Context, from sender) error {
	if err := m.store.LearnName(ctx, m.run, from.placeholder, from.jid); err != nil {
		return err
	}
	for {
		minutes, err := m.store.MinutesUnder(ctx, m.run.Chat, from.placeholder)
		if err != nil || len(minutes) == 0 {
			return err
		}
		var duplicates []int64
		err = m.store.Minutes(ctx, m.run, slices.Values(minutes), func(_ int64, messages iter.Seq[*store.ChatMessage]) error {
			minute := match.Minute{Now: m.now()}
			var under []*match.Message
			seqs := make(map[*match.Message]int64)
			for _, stored := range m.candidates(messages) {
				if stored.Sender != from.placeholder {
					minute.Stored = append(minute.Stored, stored)
					continue
				}
				message := stored.AsExported(from.jid, from.isMe)
				under, seqs[message] = append(under, message), stored.Seq
			}
			err := minute.Match(ctx, under)
			for _, message := range under {
				if message.Seq != 0 {
					duplicates = append(duplicates, seqs[message])
				}
			}
			return err
		})
		if err == nil {
			err = m.store.Attribute(ctx, m.run.Chat, from.placeholder, from.jid, from.isMe, minutes, duplicates)
		}
		if err != nil {
			return err
		}
	}
}
