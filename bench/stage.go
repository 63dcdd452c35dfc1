package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"

	"bridged/internal/simnet"
)

const (
	// storedAtMost limits the messages that the bridge of a stage starts with.
	storedAtMost = 100_000
	// senders write to the account concurrently; one message in onePerGroup goes to
	// a group.
	senders     = 4
	onePerGroup = 10
)

// stage connects accounts with the same contacts to one network: a bridge, a
// plain client that keeps the same guarantees without handling anything, and the
// other build.
type stage struct {
	*bench
	network  *simnet.Network
	server   *server
	plain    *simnet.Bare
	contacts []*simnet.Phone
	corpus   *corpus
	written  int // by the contacts, so far
	bare     side
	bridge   side
	other    *side // the other build, if any
}

// side holds one of these accounts.
type side struct {
	phone  *simnet.Phone
	device *simnet.Device
	chats  [2]simnet.JID // the account, and a group
	live   []float64     // messages a second in each round
	queued []float64
	// reconnect dials again at once after a lost socket.
	reconnect func(context.Context) error
}

// sides returns all sides, the plain client first.
func (s *stage) sides() []*side {
	if s.other == nil {
		return []*side{&s.bare, &s.bridge}
	}
	return []*side{&s.bare, &s.bridge, s.other}
}

// rounds returns the number of rounds.
func (s *stage) rounds() int { return max(1, s.options.requests/60) }

// newStage fills a store of its own, because incoming messages would change a
// kept one, and pairs both sides. The variables are added to the bridge's
// environment.
func (b *bench) newStage(ctx context.Context, variables ...string) (*stage, error) {
	filled, err := b.filledIn(ctx, filepath.Join(b.temp, "stage"), min(b.options.messages, storedAtMost), b.options.chats)
	if err != nil {
		return nil, err
	}
	server, err := b.serve(ctx, filled, variables...)
	if err != nil {
		return nil, err
	}
	s := &stage{bench: b, network: server.network, server: server, corpus: filled.corpus}
	if err := s.setUp(ctx); err != nil {
		return nil, fmt.Errorf("set up the network: %w", errors.Join(err, s.close()))
	}
	return s, nil
}

// close disconnects the plain client, stops the bridge and removes its store,
// which incoming messages have changed.
func (s *stage) close() error {
	var errs []error
	if s.plain != nil {
		errs = append(errs, s.plain.Close())
	}
	errs = append(errs, s.server.stop())
	return errors.Join(append(errs, s.forget(s.server.filledStore))...)
}

// setUp pairs both sides and makes all contacts begin a session with them.
func (s *stage) setUp(ctx context.Context) error {
	for n := range senders {
		phone, err := s.network.NewPhone(ctx, simnet.PhoneOptions{Number: numberAfter(15550100910, n), Name: fmt.Sprint("Contact ", n)})
		if err != nil {
			return err
		}
		s.contacts = append(s.contacts, phone)
	}
	if err := errors.Join(s.account(ctx, &s.bare, "15550100901"), s.account(ctx, &s.bridge, ownerNumber)); err != nil {
		return err
	}
	bare, err := s.bare.phone.LinkBare(ctx, filepath.Join(s.server.dir, "bare.db"))
	if err != nil {
		return err
	}
	s.plain, s.bare.device, s.bare.reconnect = bare, bare.Device, bare.Reconnect
	s.bridge.reconnect = s.server.api.Reconnect
	if s.bridge.device, err = s.server.child.pair(ctx, s.bridge.phone); err != nil {
		return err
	}
	if other := s.server.other; other != nil {
		s.other = &side{reconnect: other.client.Reconnect}
		if err := s.account(ctx, s.other, otherNumber); err != nil {
			return err
		}
		if s.other.device, err = other.pair(ctx, s.other.phone); err != nil {
			return err
		}
	}
	for _, side := range s.sides() {
		if err := s.begin(ctx, side); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) begin(ctx context.Context, side *side) error {
	if err := side.device.WaitSynced(ctx); err != nil {
		return err
	}
	if _, err := s.write(ctx, side, 4*senders); err != nil {
		return err
	}
	return side.device.WaitQuiet(ctx)
}

// account creates one side's account, and its group with the contacts.
func (s *stage) account(ctx context.Context, side *side, number string) (err error) {
	if side.phone, err = s.network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: "Owner"}); err != nil {
		return err
	}
	group, err := side.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "Everybody", Members: s.contacts})
	if err != nil {
		return err
	}
	side.chats = [2]simnet.JID{side.phone.PN(), group.JID()}
	return nil
}

// numberAfter returns the n-th phone number after the first.
func numberAfter(first int64, n int) string { return strconv.FormatInt(first+int64(n), 10) }

// pair pairs the bridge through its API.
func (c *child) pair(ctx context.Context, owner *simnet.Phone) (*simnet.Device, error) {
	code, err := c.client.Pair(ctx, "")
	if err != nil {
		return nil, err
	}
	return owner.EnterPairingCode(ctx, code.Code)
}

// write makes the contacts write messages to one side, some of them to its group.
func (s *stage) write(ctx context.Context, side *side, count int) ([]string, error) {
	texts := make([]string, count)
	r := rand.New(rand.NewPCG(s.corpus.seed, uint64(s.written)))
	for n := range texts {
		texts[n] = s.corpus.text(r.IntN(len(languages)))
	}
	s.written += count
	grouped := max(senders, count/onePerGroup)
	var all []string
	for n, share := range [][]string{texts[grouped:], texts[:grouped]} {
		ids, err := simnet.Burst(ctx, s.contacts, side.chats[n], len(share), func(n int) string { return share[n] })
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	return all, nil
}
