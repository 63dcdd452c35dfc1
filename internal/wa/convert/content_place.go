package convert

import (
	"strconv"

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
		Latitude: l.GetDegreesLatitude(), Longitude: l.GetDegreesLongitude(), Name: l.GetCaption(), IsLive: true}}}
}

// placeOf returns nil for nil.
func placeOf(l *waE2E.LocationMessage) *bridge.Place {
	if l == nil {
		return nil
	}
	return &bridge.Place{Latitude: l.GetDegreesLatitude(), Longitude: l.GetDegreesLongitude(), Name: l.GetName(), Address: l.GetAddress(),
		URL: l.GetURL(), IsLive: l.GetIsLive()}
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
