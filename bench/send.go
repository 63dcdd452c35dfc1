package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

const (
	// sendCallers counts the concurrent senders.
	sendCallers = 4
	// laterSends counts the messages to a group after the first one.
	laterSends = 10
)

// notSlower allows sends at most 1.3 times whatsmeow's time.
var notSlower = Goal{Times: 1 / 1.3}

// sends measures how fast both sides of a stage send. The recipients are switched
// off, so that decryption does not take up the same processors.
type sends struct {
	*stage
	people  int // created so far
	drawing sync.Mutex
}

// text generates a text. It may be called concurrently.
func (s *sends) text(language int) string {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	return s.corpus.text(language)
}

// sendTimes holds the times of both sides.
type sendTimes struct{ bridge, bare []time.Duration }

// measureSends measures messages to one person and to groups, the first and later
// ones, until the network has acknowledged them: over the bridge's API and with
// whatsmeow's SendMessage, in turn.
func (b *bench) measureSends(ctx context.Context) (err error) {
	stage, err := b.newStage(ctx, "ENABLE_SEND=true")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.close()) }()
	s := &sends{stage: stage}
	if err := s.toOne(ctx); err != nil {
		return fmt.Errorf("to one person: %w", err)
	}
	for _, members := range s.options.members {
		if err := s.toGroups(ctx, members); err != nil {
			return fmt.Errorf("to %d members: %w", members, err)
		}
	}
	if err := s.throughput(ctx); err != nil {
		return fmt.Errorf("from several callers: %w", err)
	}
	return s.receiveMeanwhile(ctx)
}

// crowd creates people, each with a phone that is switched off.
func (s *sends) crowd(people int) (*simnet.Crowd, error) {
	first := numberAfter(15553000000, s.people)
	s.people += people
	return s.network.NewCrowd(simnet.CrowdOptions{FirstNumber: first, People: people})
}

// overBridge sends a text over the API.
func (s *sends) overBridge(ctx context.Context, to simnet.JID, text string) error {
	_, err := s.server.api.Send(ctx, client.Text{To: bridge.JID(to.String()), Text: text}, "")
	return err
}

// time sends a text with both, one after the other, and records both times.
func (s *sends) time(ctx context.Context, times *sendTimes, toBridges, toBares simnet.JID) error {
	text := s.text(0)
	for _, way := range []struct {
		send  func(context.Context, simnet.JID, string) error
		to    simnet.JID
		times *[]time.Duration
	}{{s.plain.SendText, toBares, &times.bare}, {s.overBridge, toBridges, &times.bridge}} {
		began := time.Now()
		if err := way.send(ctx, way.to, text); err != nil {
			return err
		}
		*way.times = append(*way.times, time.Since(began))
	}
	return nil
}

// record adds the times of both to the report.
func (s *sends) record(name string, goal Goal, times sendTimes) {
	s.report.add(task{part: "send", name: name, goal: goal}, s.corpus.messages, times.bridge, times.bare)
}

func (s *sends) toOne(ctx context.Context) error {
	crowd, err := s.crowd(max(1, s.options.requests/5))
	if err != nil {
		return err
	}
	var first, later sendTimes
	for _, person := range crowd.PNs() {
		if err := s.time(ctx, &first, person, person); err != nil {
			return err
		}
	}
	people := crowd.PNs()
	for n := range s.options.requests {
		person := people[n%len(people)]
		if err := s.time(ctx, &later, person, person); err != nil {
			return err
		}
	}
	s.record("to one person, the first", notSlower, first)
	s.record("to one person, later ones", notSlower, later)
	return nil
}

// toGroups sends to new groups of one size.
func (s *sends) toGroups(ctx context.Context, members int) error {
	var first, later sendTimes
	for range s.rounds() {
		toBridges, toBares, err := s.newGroups(ctx, members)
		if err != nil {
			return err
		}
		if err := s.time(ctx, &first, toBridges, toBares); err != nil {
			return err
		}
		for range laterSends {
			if err := s.time(ctx, &later, toBridges, toBares); err != nil {
				return err
			}
		}
	}
	s.record(fmt.Sprintf("to %s members, the first", number(float64(members))), notSlower, first)
	s.record(fmt.Sprintf("to %s members, later ones", number(float64(members))), notSlower, later)
	return nil
}

// newGroups creates two groups with the same members, who have no session with
// either account: one for the bridge's account, one for the plain client's.
func (s *sends) newGroups(ctx context.Context, members int) (toBridges, toBares simnet.JID, err error) {
	crowd, err := s.crowd(members)
	if err != nil {
		return toBridges, toBares, err
	}
	var groups []simnet.JID
	for _, side := range []*side{&s.bridge, &s.bare} {
		group, err := side.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: fmt.Sprint(members, " members"), Crowd: crowd})
		if err != nil {
			return toBridges, toBares, err
		}
		if err := side.device.WaitQuiet(ctx); err != nil {
			return toBridges, toBares, err
		}
		groups = append(groups, group.JID())
	}
	return groups[0], groups[1], nil
}

// throughput sends to several people at the same time, one caller for each.
func (s *sends) throughput(ctx context.Context) error {
	crowd, err := s.crowd(sendCallers)
	if err != nil {
		return err
	}
	var rates []float64
	for _, send := range []func(context.Context, simnet.JID, string) error{s.plain.SendText, s.overBridge} {
		rate, err := callAtOnce(sendCallers, s.options.period/3, func(caller int) error {
			return send(ctx, crowd.PNs()[caller], s.text(0))
		})
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	share := 100 * rates[1] / rates[0]
	for _, v := range []Value{
		{Name: fmt.Sprintf("whatsmeow alone, %d callers at once", sendCallers), Value: rates[0], Unit: "messages/s"},
		{Name: fmt.Sprintf("over the API, %d callers at once", sendCallers), Value: rates[1], Unit: "messages/s"},
		{Name: "the bridge's share", Value: share, Unit: "%", Goal: "≥ 77", Met: share >= 100*notSlower.Times},
	} {
		v.Part = "send"
		s.report.value(v)
	}
	return nil
}

// receiveMeanwhile measures the time to acknowledge a message while the account
// sends to its largest group without a pause. Each send holds the bridge's Signal
// lock, which whatsmeow alone does not have, while it encrypts for all members.
func (s *sends) receiveMeanwhile(ctx context.Context) error {
	most := slices.Max(s.options.members)
	toBridges, toBares, err := s.newGroups(ctx, most)
	if err != nil {
		return err
	}
	var busy, quiet sendTimes
	for _, way := range []struct {
		side        *side
		send        func(context.Context, simnet.JID, string) error
		to          simnet.JID
		busy, quiet *[]time.Duration
	}{
		{&s.bare, s.plain.SendText, toBares, &busy.bare, &quiet.bare},
		{&s.bridge, s.overBridge, toBridges, &busy.bridge, &quiet.bridge},
	} {
		if err := way.send(ctx, way.to, "the first begins the sessions"); err != nil {
			return err
		}
		if *way.quiet, err = s.receiveFor(ctx, way.side, nil); err != nil {
			return err
		}
		sendOne := func(ctx context.Context) error { return way.send(ctx, way.to, s.text(0)) }
		if *way.busy, err = s.receiveFor(ctx, way.side, sendOne); err != nil {
			return err
		}
	}
	s.record("a message received, nothing sent", Goal{}, quiet)
	s.record(fmt.Sprintf("a message received while %s members are sent to", number(float64(most))), Goal{}, busy)
	return nil
}

// receiveFor makes a contact write one message after the other for a period,
// while it calls sendOne, if set, again and again. It returns the time to
// acknowledge each message.
func (s *sends) receiveFor(ctx context.Context, side *side, sendOne func(context.Context) error) (times []time.Duration, err error) {
	ctx, stop := context.WithCancel(ctx)
	sent := make(chan error, 1)
	go func() {
		var err error
		for sendOne != nil && ctx.Err() == nil && err == nil {
			err = sendOne(context.WithoutCancel(ctx))
		}
		sent <- err
	}()
	defer func() {
		stop()
		err = errors.Join(err, <-sent)
	}()
	for began := time.Now(); time.Since(began) < s.options.period/2; {
		written := time.Now()
		id, err := s.contacts[0].SendText(ctx, side.phone.PN(), s.text(1))
		if err != nil {
			return nil, err
		}
		if err := side.device.WaitAcknowledged(ctx, id); err != nil {
			return nil, err
		}
		times = append(times, time.Since(written))
	}
	return times, nil
}
