package convert

import (
	"cmp"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// RingTime is beyond what a phone rings: a call of which nothing more was told by
// then was missed.
const RingTime = 2 * time.Minute

// LooksAtRinging is how often what rings is looked at in [RingTime].
const LooksAtRinging = 4

// staleOffer is beyond how long a call may have rung before it is known here: the
// offer of an older one was delivered after an outage.
const staleOffer = RingTime + RingTime/LooksAtRinging

// The reasons of an end that are told to devices which the call was not taken on.
const (
	reasonAcceptedElsewhere = "accepted_elsewhere"
	reasonRejectedElsewhere = "rejected_elsewhere"
)

// CallFacts returns what an event tells of a call; nil for events of anything
// else, and for what goes on before and during a call.
func CallFacts(evt any, now time.Time, own ...bridge.JID) []bridge.Fact {
	switch e := evt.(type) {
	case *events.CallOffer:
		_, video := e.Data.GetOptionalChildByTag("video")
		return offeredFacts(now, e.BasicCallMeta, video, e.Data.AttrGetter().OptionalString("type") == "group")
	case *events.CallOfferNotice:
		return offeredFacts(now, e.BasicCallMeta, e.Media == "video", e.Type == "group")
	case *events.CallTerminate:
		switch e.Reason {
		case reasonAcceptedElsewhere:
			return endedFacts(e.BasicCallMeta, bridge.CallAnsweredElsewhere)
		case reasonRejectedElsewhere:
			return endedFacts(e.BasicCallMeta, bridge.CallRejected)
		}
		return endedFacts(e.BasicCallMeta, bridge.CallEnded)
	case *events.CallAccept:
		return answeredFacts(e.BasicCallMeta, bridge.CallAnsweredElsewhere, own)
	case *events.CallReject:
		return answeredFacts(e.BasicCallMeta, bridge.CallRejected, own)
	}
	return nil
}

// offeredFacts returns a call that begins to ring, or that has been missed by now.
func offeredFacts(now time.Time, meta types.BasicCallMeta, video, ofGroup bool) []bridge.Fact {
	if meta.CallID == "" || len(meta.CallID) > maxWireID {
		return nil
	}
	call := bridge.Call{
		ID: ID(meta.CallID), WireID: meta.CallID, ChatJID: JID(meta.GroupJID), FromJID: callerOf(meta),
		IsGroup: ofGroup || !meta.GroupJID.IsEmpty(), IsVideo: video, StartedAt: bridge.At(meta.Timestamp),
	}
	if at := meta.Timestamp; !at.IsZero() && now.Sub(at) > staleOffer {
		call.State = bridge.CallMissed
	}
	return append(identityFacts(meta.CallCreator, meta.CallCreatorAlt), call)
}

func callerOf(meta types.BasicCallMeta) bridge.JID {
	return cmp.Or(JID(meta.CallCreator), JID(meta.From))
}

func endedFacts(meta types.BasicCallMeta, state bridge.CallState) []bridge.Fact {
	return []bridge.Fact{bridge.CallChange{
		ID: ID(meta.CallID), Caller: callerOf(meta), By: JID(meta.From), State: state, At: bridge.At(meta.Timestamp),
	}}
}

// answeredFacts returns what another device of the account did with a call. What
// other people of a group do with it is theirs.
func answeredFacts(meta types.BasicCallMeta, state bridge.CallState, own []bridge.JID) []bridge.Fact {
	if !slices.Contains(own, JID(meta.From)) {
		return nil
	}
	return endedFacts(meta, state)
}
