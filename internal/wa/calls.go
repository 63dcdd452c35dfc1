package wa

import (
	"context"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// ringTime is beyond what a phone rings: a call of which nothing more was told by
// then was missed.
const ringTime = 2 * time.Minute

// The reasons of an end that are told to devices which the call was not taken on.
const (
	reasonAcceptedElsewhere = "accepted_elsewhere"
	reasonRejectedElsewhere = "rejected_elsewhere"
)

// callFacts returns what an event tells of a call; nil for events of anything
// else, and for what goes on before and during a call.
func (l *link) callFacts(evt any) []bridge.Fact {
	switch e := evt.(type) {
	case *events.CallOffer:
		_, video := e.Data.GetOptionalChildByTag("video")
		return l.offeredFacts(e.BasicCallMeta, video, e.Data.AttrGetter().OptionalString("type") == "group")
	case *events.CallOfferNotice:
		return l.offeredFacts(e.BasicCallMeta, e.Media == "video", e.Type == "group")
	case *events.CallTerminate:
		switch e.Reason {
		case reasonAcceptedElsewhere:
			return endedFacts(e.BasicCallMeta, bridge.CallAnsweredElsewhere)
		case reasonRejectedElsewhere:
			return endedFacts(e.BasicCallMeta, bridge.CallRejected)
		}
		return endedFacts(e.BasicCallMeta, bridge.CallEnded)
	case *events.CallAccept:
		return l.answeredFacts(e.BasicCallMeta, bridge.CallAnsweredElsewhere)
	case *events.CallReject:
		return l.answeredFacts(e.BasicCallMeta, bridge.CallRejected)
	}
	return nil
}

// staleOffer is beyond how long a call may have rung before it is known here: the
// offer of an older one was delivered after an outage.
const staleOffer = ringTime + ringTime/looksAtRinging

// offeredFacts returns a call that begins to ring, or that has been missed by now.
func (l *link) offeredFacts(meta types.BasicCallMeta, video, ofGroup bool) []bridge.Fact {
	if meta.CallID == "" || len(meta.CallID) > maxWireID {
		return nil
	}
	call := bridge.Call{
		ID: idOf(meta.CallID), WireID: meta.CallID, ChatJID: toBridge(meta.GroupJID), FromJID: callerOf(meta),
		IsGroup: ofGroup || !meta.GroupJID.IsEmpty(), IsVideo: video, StartedAt: bridge.At(meta.Timestamp),
	}
	if at := meta.Timestamp; !at.IsZero() && l.m.opts.Clock.Now().Sub(at) > staleOffer {
		call.State = bridge.CallMissed
	}
	var facts []bridge.Fact
	if identity, ok := identityOf(meta.CallCreator, meta.CallCreatorAlt); ok {
		facts = append(facts, identity)
	}
	return append(facts, call)
}

func callerOf(meta types.BasicCallMeta) bridge.JID {
	if creator := toBridge(meta.CallCreator); creator != "" {
		return creator
	}
	return toBridge(meta.From)
}

func endedFacts(meta types.BasicCallMeta, state bridge.CallState) []bridge.Fact {
	return []bridge.Fact{bridge.CallChange{
		ID: idOf(meta.CallID), Caller: callerOf(meta), By: toBridge(meta.From), State: state, At: bridge.At(meta.Timestamp),
	}}
}

// answeredFacts returns what another device of the account did with a call. What
// other people of a group do with it is theirs.
func (l *link) answeredFacts(meta types.BasicCallMeta, state bridge.CallState) []bridge.Fact {
	pn, lid := l.m.own()
	if by := toBridge(meta.From); by != pn && by != lid {
		return nil
	}
	return endedFacts(meta, state)
}

// RejectCall has a call ring no more, on all devices of the account, and notes it.
// It fails with [bridge.CodeNotConnected] or [bridge.CodeSendTimeout].
func (m *Manager) RejectCall(ctx context.Context, call bridge.Call) error {
	l, err := m.open()
	if err != nil {
		return err
	}
	ctx, cancel := m.within(ctx, m.waits.answer)
	defer cancel()
	if err := l.rejectCall(ctx, call); err != nil {
		return err
	}
	own, _ := m.own()
	err = m.store.Save(context.WithoutCancel(ctx), bridge.CallChange{
		ID: call.ID, Caller: call.FromJID, By: own, State: bridge.CallRejected, At: bridge.At(time.Now()),
	})
	if err != nil {
		return fmt.Errorf("note that a call was rejected: %w", err)
	}
	return nil
}

// rejectCall asks the network, and waits until it has taken it: whatsmeow's own
// method does not.
func (l *link) rejectCall(ctx context.Context, call bridge.Call) error {
	caller := toWA(call.FromJID)
	if call.FromLID != "" {
		caller = toWA(call.FromLID)
	}
	id := l.cli.GenerateMessageID()
	answered := l.awaitResponse(id)
	err := l.sendNode(ctx, waBinary.Node{
		Tag: "call", Attrs: waBinary.Attrs{"id": id, "from": l.device.ToNonAD(), "to": caller},
		Content: []waBinary.Node{{Tag: "reject", Attrs: waBinary.Attrs{"call-id": call.WireID, "call-creator": caller, "count": "0"}}},
	})
	if err != nil {
		return bridge.NotConnected("the connection was lost before anything left: try again").Because(err)
	}
	if _, _, err = l.lateAnswer(ctx, answered, l.m.waits.answer); err == nil {
		return nil
	}
	if code := serverCode(err); code != 0 {
		return bridge.Fail(bridge.CodeSendRefused, "the network refused to reject the call (code %d)", code).Because(err)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm in time that the call was rejected").Because(err)
}

// missCalls makes missed calls of those that have been ringing for so long; 0 is
// all. It reports whether it could.
func (m *Manager) missCalls(ctx context.Context, ringing time.Duration) bool {
	err := m.store.Save(ctx, bridge.CallsMissed{Ringing: ringing})
	if err != nil && ctx.Err() == nil {
		m.log.Warn().Err(err).Msg("calls that ring no more were not noted; trying again")
	}
	return err == nil
}

// noteRinging has the calls among facts looked at until they ring no more.
func (m *Manager) noteRinging(facts []bridge.Fact) {
	for _, fact := range facts {
		if _, is := fact.(bridge.Call); is {
			select {
			case m.rang <- struct{}{}:
			default:
			}
		}
	}
}

// looksAtRinging is how often what rings is looked at in [ringTime].
const looksAtRinging = 4

// watchCalls makes missed calls of those of whose end nobody tells. It leaves the
// store alone while nothing rings.
func (m *Manager) watchCalls(ctx context.Context) {
	ticker := time.NewTicker(ringTime / looksAtRinging)
	defer ticker.Stop()
	for left := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-m.rang:
			left = looksAtRinging + 1
		case <-ticker.C:
			if left > 0 && m.missCalls(ctx, ringTime) {
				left--
			}
		}
	}
}
