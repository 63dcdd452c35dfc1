package traffic

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

// Compare compares the program's view with everything that people and callers did.
func (s *Soak) Compare(ctx context.Context) {
	for _, chat := range s.Load.Chats {
		chat.Compare(s.T, s.Bridge)
	}
	s.CompareSends()
	stored := s.CompareMia()
	for _, chat := range s.Load.Chats {
		for _, m := range chat.Sent {
			stored = append(stored, m.id)
		}
	}
	s.compareReaders(ctx, stored)
}

// CompareSends looks for the texts sent by the API on Lee's phone, and for their
// receipts in the store.
func (s *Soak) CompareSends() {
	arrived := map[string]map[string]bool{} // ids by text: a repeated id is one message
	for _, r := range s.Lee.Messages() {
		if arrived[r.Text()] == nil {
			arrived[r.Text()] = map[string]bool{}
		}
		arrived[r.Text()][r.Info.ID] = true
	}
	for text, answered := range s.Sends.Sent {
		if n := len(arrived[text]); n > 1 || answered && n == 0 {
			s.T.Errorf("%q, answered with success %v, arrived %d times", text, answered, n)
		}
	}
	chat := TrafficChat{JID: bridge.PhoneJID(s.Lee.Number())}
	for _, m := range chat.read(s.T, s.Bridge) {
		if m.Status == nil || *m.Status == bridge.DeliveryPending {
			s.T.Errorf("message %s to Lee is left pending", m.ID)
		}
	}
}

// CompareMia looks for Mia's files and polls, and the votes of the owner.
func (s *Soak) CompareMia() (ids []string) {
	chat := TrafficChat{JID: bridge.PhoneJID(s.Mia.Number())}
	count := map[string]int{}
	for _, m := range chat.read(s.T, s.Bridge) {
		count[m.ID]++
		if choice, isPoll := s.polls.chosen[m.ID]; isPoll {
			for _, option := range m.Poll.Options {
				if want := map[bool]int{true: 1}[option.Name == choice]; option.Votes != want {
					s.T.Errorf("option %s of poll %s has %d votes, want %d", option.Name, m.ID, option.Votes, want)
				}
			}
		}
	}
	for id := range s.Files.Hashes {
		ids = append(ids, id)
	}
	for id := range s.polls.chosen {
		ids = append(ids, id)
	}
	for _, id := range ids {
		if count[id] != 1 {
			s.T.Errorf("message %s of Mia is there %d times", id, count[id])
		}
	}
	return ids
}

// compareReaders waits until the stream and the webhook receiver have got every
// message: the stream once, the receiver at least once.
func (s *Soak) compareReaders(ctx context.Context, stored []string) {
	s.followOnce(ctx, 3*time.Second)
	for _, id := range stored {
		if n := s.streams.told.of(id); n != 1 {
			s.T.Errorf("the streams had message %s %d times", id, n)
		}
	}
	const catchUp = 5 * time.Minute
	deadline := time.Now().Add(catchUp)
	for _, id := range stored {
		for s.Posts.told.of(id) == 0 && Pause(ctx, 50*time.Millisecond) == nil {
			if time.Now().After(deadline) {
				s.T.Fatalf("message %s was not posted within %v", id, catchUp)
			}
		}
	}
}

// Tally returns the run's figures.
func (s *Soak) Tally() string {
	received := len(s.Files.Hashes) + len(s.polls.chosen)
	for _, chat := range s.Load.Chats {
		received += len(chat.Sent)
	}
	answered := 0
	for _, sent := range s.Sends.Sent {
		if sent {
			answered++
		}
	}
	outcome := "nothing lost, nothing doubled"
	if s.T.Failed() {
		outcome = "NOT AS IT SHOULD BE"
	}
	return fmt.Sprintf("%s. %d messages received with %d reactions, edits and deletions and %d polls voted on, %d of %d texts sent, %d files sent and downloaded %d times, %d streams one after the other, %d webhooks refused",
		outcome, received, s.Load.Changes, len(s.polls.chosen), answered, len(s.Sends.Sent), len(s.Files.Hashes), s.Files.read, s.streams.opened, s.Posts.refused)
}
