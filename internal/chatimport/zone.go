package chatimport

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/chatimport/match"
)

// zone returns the time zone for reading the export and its source. If the zone has to be detected, it returns UTC and no source.
func (j *job) zone() (*time.Location, bridge.ZoneSource) {
	switch {
	case j.r.Zone != nil:
		return j.r.Zone, bridge.ZoneGiven
	case j.i.o.Zone != nil:
		return j.i.o.Zone, bridge.ZoneEnvironment
	}
	return time.UTC, ""
}

// findZone sets the offset at which the texts of the export match stored messages. The error is
// [bridge.CodeAmbiguousTimezone] if there is no such offset.
func (j *job) findZone(ctx context.Context) error {
	const widest = 15 * time.Hour // more than the offset of any zone
	offsets := match.NewOffsets()
	err := j.i.o.Store.TextsBetween(ctx, j.state.ChatJID, j.first.Add(-widest), j.last.Add(widest), func(text string, at time.Time) { offsets.AddStored(text, at) })
	if err != nil {
		return err
	}
	for m, err := range j.archive.Messages(new(chatexport.Notes)) {
		if err != nil {
			return err
		}
		if m.Kind == chatexport.Text {
			offsets.AddExported(m.Text, m.At)
		}
	}
	offset, ok := offsets.Offset()
	if !ok {
		return bridge.Fail(bridge.CodeAmbiguousTimezone, "the time zone of the export is not known, and its texts match no stored messages at a constant offset: give the zone of the phone as timezone, such as Europe/Berlin or +02:00, or set TZ where the bridge runs")
	}
	zone := offsetZone(offset)
	j.archive.SetZone(zone)
	j.first, j.last = j.first.Add(-offset), j.last.Add(-offset)
	j.setZone(zone, bridge.ZoneMatched)
	return nil
}

// setZone sets the zone of the import, and the times of the first and the last message in it.
func (j *job) setZone(zone *time.Location, from bridge.ZoneSource) {
	j.state.Timezone, j.state.TimezoneFrom = zone.String(), from
	if j.first.IsZero() {
		return
	}
	j.state.FirstAt, j.state.LastAt = new(j.first.In(zone).Format(time.RFC3339)), new(j.last.In(zone).Format(time.RFC3339))
}

// offsetZone returns the zone of an offset from UTC, without summer time.
func offsetZone(offset time.Duration) *time.Location {
	sign, minutes := '+', int(offset.Minutes())
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return time.FixedZone(fmt.Sprintf("%c%02d:%02d", sign, minutes/60, minutes%60), int(offset.Seconds()))
}

// ParseZone returns the zone with a name of the IANA database or an offset like +02:00.
func ParseZone(text string) (*time.Location, error) {
	if at, err := time.Parse("-07:00", text); err == nil {
		_, seconds := at.Zone()
		return offsetZone(time.Duration(seconds) * time.Second), nil
	}
	return time.LoadLocation(text)
}
