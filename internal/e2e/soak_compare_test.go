package e2e

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

// compare compares the program's view with everything that people and callers did.
func (s *soak) compare(ctx context.Context) {
	for _, chat := range s.load.chats {
		chat.compare(s.t, s.bridge)
	}
	s.compareSends()
	stored := s.compareMia()
	for _, chat := range s.load.chats {
		for _, m := range chat.sent {
			stored = append(stored, m.id)
		}
	}
	s.compareReaders(ctx, stored)
}

// compareSends looks for the texts sent by the API on Lee's phone, and for their
// receipts in the store.
func (s *soak) compareSends() {
	arrived := map[string]map[string]bool{} // ids by text: a repeated id is one message
	for _, r := range s.lee.Messages() {
		if arrived[r.Text()] == nil {
			arrived[r.Text()] = map[string]bool{}
		}
		arrived[r.Text()][r.Info.ID] = true
	}
	for text, answered := range s.sends.sent {
		if n := len(arrived[text]); n > 1 || answered && n == 0 {
			s.t.Errorf("%q, answered with success %v, arrived %d times", text, answered, n)
		}
	}
	chat := trafficChat{jid: bridge.PhoneJID(s.lee.Number())}
	for _, m := range chat.read(s.t, s.bridge) {
		if m.Status == nil || *m.Status == bridge.DeliveryPending {
			s.t.Errorf("message %s to Lee is left pending", m.ID)
		}
	}
}

// compareMia looks for Mia's files and polls, and the votes of the owner.
func (s *soak) compareMia() (ids []string) {
	chat := trafficChat{jid: bridge.PhoneJID(s.mia.Number())}
	count := map[string]int{}
	for _, m := range chat.read(s.t, s.bridge) {
		count[m.ID]++
		if choice, isPoll := s.polls.chosen[m.ID]; isPoll {
			for _, option := range m.Poll.Options {
				if want := map[bool]int{true: 1}[option.Name == choice]; option.Votes != want {
					s.t.Errorf("option %s of poll %s has %d votes, want %d", option.Name, m.ID, option.Votes, want)
				}
			}
		}
	}
	for id := range s.files.hashes {
		ids = append(ids, id)
	}
	for id := range s.polls.chosen {
		ids = append(ids, id)
	}
	for _, id := range ids {
		if count[id] != 1 {
			s.t.Errorf("message %s of Mia is there %d times", id, count[id])
		}
	}
	return ids
}

// compareReaders waits until the stream and the webhook receiver have got every
// message: the stream once, the receiver at least once.
func (s *soak) compareReaders(ctx context.Context, stored []string) {
	s.followOnce(ctx, 3*time.Second)
	for _, id := range stored {
		if n := s.streams.told.of(id); n != 1 {
			s.t.Errorf("the streams had message %s %d times", id, n)
		}
	}
	const catchUp = 5 * time.Minute
	deadline := time.Now().Add(catchUp)
	for _, id := range stored {
		for s.posts.told.of(id) == 0 && pause(ctx, 50*time.Millisecond) == nil {
			if time.Now().After(deadline) {
				s.t.Fatalf("message %s was not posted within %v", id, catchUp)
			}
		}
	}
}

// tally returns the run's figures.
func (s *soak) tally() string {
	received := len(s.files.hashes) + len(s.polls.chosen)
	for _, chat := range s.load.chats {
		received += len(chat.sent)
	}
	answered := 0
	for _, sent := range s.sends.sent {
		if sent {
			answered++
		}
	}
	outcome := "nothing lost, nothing doubled"
	if s.t.Failed() {
		outcome = "NOT AS IT SHOULD BE"
	}
	return fmt.Sprintf("%s. %d messages received with %d reactions, edits and deletions and %d polls voted on, %d of %d texts sent, %d files sent and downloaded %d times, %d streams one after the other, %d webhooks refused",
		outcome, received, s.load.changes, len(s.polls.chosen), answered, len(s.sends.sent), len(s.files.hashes), s.files.read, s.streams.opened, s.posts.refused)
}
