package e2e

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
	"bridged/internal/simnet"
)

// readByLee sends read receipts.
func (s *soak) readByLee(phone *simnet.Phone, r *simnet.Received) {
	ctx, cancel := context.WithTimeout(context.Background(), testPatience)
	defer cancel()
	if err := phone.MarkRead(ctx, r); err != nil && s.t.Context().Err() == nil {
		s.t.Errorf("Lee marks a message as read: %v", err)
	}
}

// soakFiles records the hashes of Mia's files, by message id.
type soakFiles struct {
	url    string // the file that the API sends
	mu     sync.Mutex
	hashes map[string][sha256.Size]byte // guarded by mu
	read   int                          // complete downloads; guarded by mu
}

// exchangeFiles makes Mia send pictures, each of which is downloaded, together with
// an earlier one.
func (s *soak) exchangeFiles(ctx context.Context) {
	var ids []string
	s.files.hashes = map[string][sha256.Size]byte{}
	for pause(ctx, time.Duration(500+rand.IntN(1500))*time.Millisecond) == nil {
		data := bytes.Repeat([]byte(fmt.Sprint(rand.Uint64())), 1000+rand.IntN(10_000))
		id, err := s.mia.SendImage(context.WithoutCancel(ctx), s.owner.PN(), simnet.Media{Data: data, Mimetype: "image/png", Caption: "a file"})
		if err != nil {
			s.t.Errorf("Mia sends a picture: %v", err)
			return
		}
		s.files.mu.Lock()
		s.files.hashes[id] = sha256.Sum256(data)
		s.files.mu.Unlock()
		ids = append(ids, id)
		if err := s.device.WaitAcknowledged(ctx, id); err == nil {
			s.download(ctx, id)
		}
		s.download(ctx, ids[rand.IntN(len(ids)-min(1, len(ids)-1))])
	}
}

// download downloads one of Mia's files and compares it if it came.
func (s *soak) download(ctx context.Context, id string) {
	path := bridge.DownloadPath(bridge.PhoneJID(s.mia.Number()), id)
	req := s.calls.request(ctx, http.MethodGet, path, "")
	resp, err := s.calls.http.Do(req)
	if err != nil {
		return
	}
	var body bytes.Buffer
	_, err = body.ReadFrom(resp.Body)
	_ = resp.Body.Close() // it was read, or is broken
	if err != nil || ctx.Err() != nil || resp.StatusCode == http.StatusNotFound {
		return // 404: not acknowledged yet when the wait for it ended
	}
	s.calls.count(req, resp.StatusCode, body.Bytes())
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if resp.StatusCode == http.StatusOK {
		if sha256.Sum256(body.Bytes()) != s.files.hashes[id] {
			s.t.Errorf("the file of %s is another one (%d bytes)", id, body.Len())
		}
		s.files.read++
	}
}

// soakPolls records the owner's last choice in Mia's polls, by message id.
type soakPolls struct {
	mu     sync.Mutex
	chosen map[string]string // guarded by mu
}

// askAndVote makes Mia send polls, and the owner vote twice on the phone.
func (s *soak) askAndVote(ctx context.Context) {
	options := []string{"hills", "sea", "town"}
	s.polls.chosen = map[string]string{}
	for pause(ctx, time.Duration(1000+rand.IntN(3000))*time.Millisecond) == nil {
		id, err := s.mia.SendPoll(context.WithoutCancel(ctx), s.owner.PN(), "Where to?", options, 1)
		if err != nil {
			s.t.Errorf("Mia asks: %v", err)
			return
		}
		poll, err := s.owner.ReceivedID(ctx, id)
		for range 2 {
			if err != nil {
				break
			}
			choice := options[rand.IntN(len(options))]
			if _, err = s.owner.Vote(context.WithoutCancel(ctx), poll, []string{choice}); err == nil {
				s.polls.mu.Lock()
				s.polls.chosen[id] = choice
				s.polls.mu.Unlock()
			}
		}
		if err != nil && ctx.Err() == nil {
			s.t.Errorf("the owner votes: %v", err)
		}
	}
}
