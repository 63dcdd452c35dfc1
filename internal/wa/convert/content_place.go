package convert

import (
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

func readPlace(msg *waE2E.Message) shown {
	l := msg.GetLocationMessage()
	return shown{text: placeText(l.GetName(), l.GetAddress(), l.GetDegreesLatitude(), l.GetDegreesLongitude()), parts: bridge.Parts{Location: placeOf(l)}}
}

func readLivePlace(msg *waE2E.Message) shown {
	l := msg.GetLiveLocationMessage()
	return shown{text: placeText(l.GetCaption(), "", l.GetDegreesLatitude(), l.GetDegreesLongitude()), parts: bridge.Parts{Location: &bridge.Place{
		Latitude: l.GetDegreesLatitude(), Longitude: l.GetDegreesLongitude(), Name: l.GetCaption(), IsLive: true,
	}}}
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

// placeWords returns what a location within another message shows; nothing of
// none.
func placeWords(l *waE2E.LocationMessage) string {
	if l == nil {
		return ""
	}
	return placeText(l.GetName(), l.GetAddress(), l.GetDegreesLatitude(), l.GetDegreesLongitude())
}

func placeText(name, address string, latitude, longitude float64) string {
	switch {
	case name != "" && address != "":
		return name + ", " + address
	case name+address != "":
		return name + address
	}
	return strconv.FormatFloat(latitude, 'f', -1, 64) + "," + strconv.FormatFloat(longitude, 'f', -1, 64)
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
	return shown{text: lines(e.GetName(), e.GetDescription(), placeWords(e.GetLocation()), e.GetJoinLink()), parts: bridge.Parts{Event: &bridge.CalendarEvent{
		Name: e.GetName(), Description: e.GetDescription(), Location: placeOf(e.GetLocation()), StartAt: moment(e.GetStartTime()), EndAt: moment(e.GetEndTime()),
		Cancelled: e.GetIsCanceled(),
	}}}
}

// inMilliseconds is a number that no time in seconds reaches: the year 5138.
const inMilliseconds = 100_000_000_000

// moment reads a sender's time, which some write in seconds and some in
// milliseconds; nil without one.
func moment(n int64) *bridge.Time {
	switch {
	case n <= 0:
		return nil
	case n < inMilliseconds:
		return new(bridge.At(time.Unix(n, 0)))
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

// readChannelInvite reads the invitation to follow a channel, or to lead it.
func readChannelInvite(msg *waE2E.Message) shown {
	if invite := msg.GetNewsletterAdminInviteMessage(); invite != nil {
		return shown{text: lines(invite.GetNewsletterName(), invite.GetCaption())}
	}
	invite := msg.GetNewsletterFollowerInviteMessageV2()
	return shown{text: lines(invite.GetNewsletterName(), invite.GetCaption())}
}

func locationMessage(c bridge.Location) *waE2E.Message {
	return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
		DegreesLatitude: &c.Latitude, DegreesLongitude: &c.Longitude, Name: optional(c.Name), Address: optional(c.Address),
	}}
}
