package people

import (
	"cmp"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
)

// profile is what a person shows about themselves.
type profile struct {
	bridge.Profile
	Hours []openingHours
}

// openingHours are the hours of a business on one day.
type openingHours struct{ Day, Text string }

var weekdays = []struct{ key, name string }{
	{"mon", "Monday"}, {"tue", "Tuesday"}, {"wed", "Wednesday"}, {"thu", "Thursday"}, {"fri", "Friday"}, {"sat", "Saturday"}, {"sun", "Sunday"},
}

// ShowProfile answers the script with a person's profile. The network is asked, so the page does not wait for it.
func ShowProfile(req *frame.Request) error {
	found, err := req.API.Profile(req.Context(), req.Chat)
	var shown *profile // nil without an answer of the network, which the page does not miss
	if err == nil {
		shown = &profile{found, hoursOf(found.Business)}
	}
	return req.PartOf("person", "profile", map[string]any{"Of": shown})
}

// hoursOf returns the opening hours of a business for each day of the week; nil if it gives none.
func hoursOf(business *bridge.BusinessProfile) (week []openingHours) {
	if business == nil || business.Hours == nil {
		return nil
	}
	for _, day := range weekdays {
		var parts []string
		for _, part := range business.Hours.Days {
			switch {
			case part.Day != day.key:
			case part.Opens != nil && part.Closes != nil:
				parts = append(parts, *part.Opens+" – "+*part.Closes)
			case part.Mode == bridge.OpenAllDay:
				parts = append(parts, "Open all day")
			default:
				parts = append(parts, "By appointment")
			}
		}
		week = append(week, openingHours{day.name, cmp.Or(strings.Join(parts, ", "), "Closed")})
	}
	return week
}
