package convert

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// readEvent reads events and invitations to them.
func readEvent(msg *waE2E.Message) shown {
	if invite := msg.GetEventInviteMessage(); invite != nil {
		return shown{text: lines(invite.GetEventTitle(), invite.GetCaption(), invite.GetCallLink()), parts: bridge.Parts{Event: &bridge.CalendarEvent{
			Name: invite.GetEventTitle(), Description: invite.GetCaption(), StartAt: moment(invite.GetStartTime()), EndAt: moment(invite.GetEndTime()),
			Cancelled: invite.GetIsCanceled()}}}
	}
	e := msg.GetEventMessage()
	return shown{text: lines(e.GetName(), e.GetDescription(), placeWords(e.GetLocation()), e.GetJoinLink()), parts: bridge.Parts{Event: &bridge.CalendarEvent{
		Name: e.GetName(), Description: e.GetDescription(), Location: placeOf(e.GetLocation()), StartAt: moment(e.GetStartTime()), EndAt: moment(e.GetEndTime()),
		Cancelled: e.GetIsCanceled()}}}
}

// inMilliseconds is a number that no time in seconds reaches: the year 5138.
const inMilliseconds = 100_000_000_000

// moment reads a sender's time, which some write in seconds and some in
// milliseconds; nil without one.
func moment(n int64) *bridge.Time {
	var at bridge.Time
	switch {
	case n <= 0:
		return nil
	case n < inMilliseconds:
		at = bridge.At(time.Unix(n, 0))
	default:
		at = bridge.Millis(n)
	}
	return &at
}

// responseFact returns a person's answer to an event.
func responseFact(r *waE2E.EventResponseMessage, chat bridge.JID, event string, by bridge.JID, at bridge.Time) bridge.EventResponse {
	return bridge.EventResponse{Chat: chat, Target: event, Sender: by, Answer: bridge.EventAnswer(r.GetResponse()), Guests: int(r.GetExtraGuestCount()),
		Timestamp: claimed(r.GetTimestampMS(), at)}
}
