package convert

import (
	"cmp"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// RingTime is longer than a phone rings: a call without news by then was missed.
const RingTime = 2 * time.Minute

// LooksAtRinging counts the checks of ringing calls in [RingTime].
const LooksAtRinging = 4

// staleOffer is the age of an offer that was delivered after an outage: its call no
// longer rings.
const staleOffer = RingTime + RingTime/LooksAtRinging

// endReasons lists the reasons of an end for devices that the call was not taken on.
var endReasons = map[string]bridge.CallState{
	"accepted_elsewhere": bridge.CallAnsweredElsewhere, "rejected_elsewhere": bridge.CallRejected,
}

// CallFacts returns how a call begins or ends; nil for other events.
func CallFacts(evt any, now time.Time, own ...bridge.JID) []bridge.Fact {
	switch e := evt.(type) {
	case *events.CallOffer:
		_, video := e.Data.GetOptionalChildByTag("video")
		return offeredFacts(now, e.BasicCallMeta, video, e.Data.AttrGetter().OptionalString("type") == "group")
	case *events.CallOfferNotice:
		return offeredFacts(now, e.BasicCallMeta, e.Media == "video", e.Type == "group")
	case *events.CallTerminate:
		return endedFacts(e.BasicCallMeta, cmp.Or(endReasons[e.Reason], bridge.CallEnded))
	case *events.CallAccept:
		if slices.Contains(own, JID(e.From)) { // not by other members of a group
			return endedFacts(e.BasicCallMeta, bridge.CallAnsweredElsewhere)
		}
	case *events.CallReject:
		if slices.Contains(own, JID(e.From)) {
			return endedFacts(e.BasicCallMeta, bridge.CallRejected)
		}
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
