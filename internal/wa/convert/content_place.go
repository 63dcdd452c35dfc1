package convert

import (
	"strconv"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

func readPlace(msg *waE2E.Message) shown {
	place := placeOf(msg.GetLocationMessage())
	return shown{text: placeText(place), parts: bridge.Parts{Location: place}}
}

func readLivePlace(msg *waE2E.Message) shown {
	l := msg.GetLiveLocationMessage()
	place := &bridge.Place{Latitude: l.GetDegreesLatitude(), Longitude: l.GetDegreesLongitude(), Name: l.GetCaption(), IsLive: true}
	return shown{text: placeText(place), parts: bridge.Parts{Location: place}}
}

// placeOf returns nil for nil.
func placeOf(l *waE2E.LocationMessage) *bridge.Place {
	if l == nil {
		return nil
	}
	return &bridge.Place{
		Latitude: l.GetDegreesLatitude(), Longitude: l.GetDegreesLongitude(), Name: l.GetName(), Address: l.GetAddress(),
		URL: l.GetURL(), IsLive: l.GetIsLive(),
	}
}

// placeText returns the text of a location, "" for nil.
func placeText(place *bridge.Place) string {
	switch {
	case place == nil:
		return ""
	case place.Name != "" && place.Address != "":
		return place.Name + ", " + place.Address
	case place.Name+place.Address != "":
		return place.Name + place.Address
	}
	return strconv.FormatFloat(place.Latitude, 'f', -1, 64) + "," + strconv.FormatFloat(place.Longitude, 'f', -1, 64)
}

// readEvent reads events and invitations to them.
func readEvent(msg *waE2E.Message) shown {
	if invite := msg.GetEventInviteMessage(); invite != nil {
		return shown{text: lines(invite.GetEventTitle(), invite.GetCaption(), invite.GetCallLink()), parts: bridge.Parts{Event: &bridge.CalendarEvent{
			Name: invite.GetEventTitle(), Description: invite.GetCaption(), StartAt: moment(invite.GetStartTime()), EndAt: moment(invite.GetEndTime()),
			Cancelled: invite.GetIsCanceled(),
		}}}
	}
	e := msg.GetEventMessage()
	place := placeOf(e.GetLocation())
	return shown{text: lines(e.GetName(), e.GetDescription(), placeText(place), e.GetJoinLink()), parts: bridge.Parts{Event: &bridge.CalendarEvent{
		Name: e.GetName(), Description: e.GetDescription(), Location: place, StartAt: moment(e.GetStartTime()), EndAt: moment(e.GetEndTime()),
		Cancelled: e.GetIsCanceled(),
	}}}
}

// moment reads a sender's time, which some write in seconds and some in
// milliseconds; nil without one.
func moment(n int64) *bridge.Time {
	if n <= 0 {
		return nil
	}
	if n < 100_000_000_000 { // in seconds that is the year 5138
		n *= 1000
	}
	return new(bridge.Millis(n))
}

// responseFact returns a person's answer to an event.
func responseFact(r *waE2E.EventResponseMessage, chat bridge.JID, event string, by bridge.JID, at bridge.Time) bridge.EventResponse {
	return bridge.EventResponse{
		Chat: chat, Target: event, Sender: by, Answer: bridge.EventAnswer(r.GetResponse()), Guests: int(r.GetExtraGuestCount()),
		Timestamp: claimed(r.GetTimestampMS(), at),
	}
}

func readGroupInvite(msg *waE2E.Message) shown {
	invite := msg.GetGroupInviteMessage()
	group := ParseJID(invite.GetGroupJID())
	if !group.IsGroup() {
		group = ""
	}
	return shown{text: lines(invite.GetGroupName(), invite.GetCaption()), parts: bridge.Parts{GroupInvite: &bridge.GroupInvite{
		JID: group, Name: invite.GetGroupName(), Code: invite.GetInviteCode(), ExpiresAt: moment(invite.GetInviteExpiration()),
	}}}
}

func locationMessage(c bridge.Location) *waE2E.Message {
	return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
		DegreesLatitude: &c.Latitude, DegreesLongitude: &c.Longitude, Name: optional(c.Name), Address: optional(c.Address),
	}}
}
