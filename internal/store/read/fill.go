package read

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
)

// unpack fills the fields of m that the column has.
func (s *Reader) unpack(column []byte, m *bridge.Message, find people.Finder) error {
	if len(column) == 0 {
		return nil
	}
	var d columns.Details
	if err := json.Unmarshal(column, &d); err != nil {
		return err
	}
	s.Fill(m, d, find)
	return nil
}

// Fill fills the fields of m that details have, with people as find knows them. The content
// is read already.
func (s *Reader) Fill(m *bridge.Message, d columns.Details, find people.Finder) {
	m.Labels = d.LabelIDs()
	m.IsForwarded, m.ViewOnce, m.Kept = d.Forwarded, d.ViewOnce, d.Keep != nil && d.Keep.Kept
	if !m.Kept && d.Expiration > 0 {
		m.ExpiresAt = new(bridge.At(m.Timestamp.Add(time.Duration(d.Expiration) * time.Second)))
	}
	if d.Pin != nil && d.Pin.Until > s.o.Now() {
		m.PinnedUntil = new(bridge.Millis(d.Pin.Until))
	}
	if d.Parts != nil {
		m.Parts = bridge.Parts(*d.Parts)
	}
	if c := d.Context; c != nil {
		m.ContextInfo = contextOf(c, find, m.Content)
		m.Quoted = s.embedded(c, m, find)
	}
	m.Media, m.Transcript = d.Media.Shown(m.Chat, m.ID), d.Transcript
	if d.Poll != nil {
		m.Poll = s.pollOf(*d.Poll)
	}
}

// pollOf returns a poll without the votes that are stored.
func (s *Reader) pollOf(p columns.Poll) *bridge.PollTally {
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
