package traffic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// ReadByLee sends read receipts.
func (s *Soak) ReadByLee(phone *simnet.Phone, r *simnet.Received) {
	ctx, cancel := context.WithTimeout(context.Background(), TestTimeout)
	defer cancel()
	if err := phone.MarkRead(ctx, r); err != nil && s.T.Context().Err() == nil {
		s.T.Errorf("Lee marks a message as read: %v", err)
	}
}

// soakFiles records the hashes of Mia's files, by message id.
type soakFiles struct {
	URL    string // the file that the API sends
	mu     sync.Mutex
	Hashes map[string][sha256.Size]byte // guarded by mu
	read   int                          // complete downloads; guarded by mu
}

// ExchangeFiles makes Mia send pictures, each of which is downloaded, together with
// an earlier one.
func (s *Soak) ExchangeFiles(ctx context.Context) {
	var ids []string
	s.Files.Hashes = map[string][sha256.Size]byte{}
	for Pause(ctx, time.Duration(500+rand.IntN(1500))*time.Millisecond) == nil {
		data := bytes.Repeat([]byte(fmt.Sprint(rand.Uint64())), 1000+rand.IntN(10_000))
		id, err := s.Mia.SendImage(context.WithoutCancel(ctx), s.Owner.PN(), simnet.Media{Data: data, Mimetype: "image/png", Caption: "a file"})
		if err != nil {
			s.T.Errorf("Mia sends a picture: %v", err)
			return
		}
		s.Files.mu.Lock()
		s.Files.Hashes[id] = sha256.Sum256(data)
		s.Files.mu.Unlock()
		ids = append(ids, id)
		if err := s.Device.WaitAcknowledged(ctx, id); err == nil {
			s.Download(ctx, id)
		}
		s.Download(ctx, ids[rand.IntN(len(ids)-min(1, len(ids)-1))])
	}
}

// Download downloads one of Mia's files and compares it if it came.
func (s *Soak) Download(ctx context.Context, id string) {
	path := bridge.DownloadPath(bridge.PhoneJID(s.Mia.Number()), id)
	req := s.Calls.request(ctx, http.MethodGet, path, "")
	resp, err := s.Calls.http.Do(req)
	if err != nil {
		return
	}
	var body bytes.Buffer
	_, err = body.ReadFrom(resp.Body)
	_ = resp.Body.Close() // it was read, or is broken
	if err != nil || ctx.Err() != nil || resp.StatusCode == http.StatusNotFound {
		return // 404: not acknowledged yet when the wait for it ended
	}
	s.Calls.count(req, resp.StatusCode, body.Bytes())
	s.Files.mu.Lock()
	defer s.Files.mu.Unlock()
	if resp.StatusCode == http.StatusOK {
		if sha256.Sum256(body.Bytes()) != s.Files.Hashes[id] {
			s.T.Errorf("the file of %s is another one (%d bytes)", id, body.Len())
		}
		s.Files.read++
	}
}

// soakPolls records the owner's last choice in Mia's polls, by message id.
type soakPolls struct {
	mu     sync.Mutex
	chosen map[string]string // guarded by mu
}

// AskAndVote makes Mia send polls, and the owner vote twice on the phone.
func (s *Soak) AskAndVote(ctx context.Context) {
	options := []string{"hills", "sea", "town"}
	s.polls.chosen = map[string]string{}
	for Pause(ctx, time.Duration(1000+rand.IntN(3000))*time.Millisecond) == nil {
		id, err := s.Mia.SendPoll(context.WithoutCancel(ctx), s.Owner.PN(), "Where to?", options, 1)
		if err != nil {
			s.T.Errorf("Mia asks: %v", err)
			return
		}
		poll, err := s.Owner.ReceivedID(ctx, id)
		for range 2 {
			if err != nil {
				break
			}
			choice := options[rand.IntN(len(options))]
			if _, err = s.Owner.Vote(context.WithoutCancel(ctx), poll, []string{choice}); err == nil {
				s.polls.mu.Lock()
				s.polls.chosen[id] = choice
				s.polls.mu.Unlock()
			}
		}
		if err != nil && ctx.Err() == nil {
			s.T.Errorf("the owner votes: %v", err)
		}
	}
}
