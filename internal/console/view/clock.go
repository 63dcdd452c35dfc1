package view

import (
	"fmt"
	"html/template"
	"strings"
	"time"
	_ "time/tzdata" // zones, also on an image without them

	"bridged/internal/bridge"
)

// Clock formats times in the zone of the visitor.
type Clock struct {
	Zone *time.Location
	Now  time.Time
}

// when formats a time for a row of a list: the time of today, else the day.
func (c Clock) when(t *bridge.Time) template.HTML {
	if t == nil {
		return ""
	}
	day := c.day(*t, "2 Jan")
	if day == today {
		day = c.timeOfDay(*t)
	}
	return c.element(*t, day)
}

// last formats the time of what happened last.
func (c Clock) last(t *bridge.Time) template.HTML {
	if t == nil {
		return "Not yet"
	}
	return c.on(*t)
}

// on formats a time on its own, such as Today, 17:29.
func (c Clock) on(t bridge.Time) template.HTML { return c.element(t, c.moment(t)) }

// at formats a time within a sentence, such as today at 17:29.
func (c Clock) at(t bridge.Time) template.HTML { return c.element(t, c.At(t)) }

// At formats a time within a sentence, such as today at 17:29.
func (c Clock) At(t bridge.Time) string { return c.Within(t) + " at " + c.timeOfDay(t) }

// Within formats the day of a time within a sentence, such as today or 2 January.
func (c Clock) Within(t bridge.Time) string {
	name := c.day(t, "2 January")
	if name == today || name == yesterday || name == tomorrow {
		return strings.ToLower(name)
	}
	return name
}

// Day formats a day for the line between messages.
func (c Clock) Day(t bridge.Time) string { return c.day(t, "2 January") }

const (
	today     = "Today"
	yesterday = "Yesterday"
	tomorrow  = "Tomorrow"
)

// day returns the name of a day that is less than a week away. It formats others with a layout, with the year if it is
// another one.
func (c Clock) day(t bridge.Time, layout string) string {
	switch days := c.daysAgo(t.Time); {
	case days == 0:
		return today
	case days == 1:
		return yesterday
	case days == -1:
		return tomorrow
	case days > -7 && days < 7:
		layout = "Monday"
	case t.In(c.Zone).Year() != c.Now.In(c.Zone).Year():
		layout += " 2006"
	}
	return t.In(c.Zone).Format(layout)
}

// Date returns the day of a time in the visitor's zone, as 2026-11-21.
func (c Clock) Date(t bridge.Time) string { return t.In(c.Zone).Format(time.DateOnly) }

// ParseDay reads a day such as 2026-11-21: its beginning, or its end if last. It returns nil
// for an empty text.
func (c Clock) ParseDay(text string, last bool) (*bridge.Time, error) {
	if text == "" {
		return nil, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, c.Zone)
	if err != nil {
		return nil, err
	}
	if last {
		day = day.AddDate(0, 0, 1).Add(-1)
	}
	return new(bridge.At(day)), nil
}

// moment formats a time on its own, as a text.
func (c Clock) moment(t bridge.Time) string { return c.day(t, "2 Jan") + ", " + c.timeOfDay(t) }

func (c Clock) timeOfDay(t bridge.Time) string { return t.In(c.Zone).Format("15:04") }

// exact formats a time with its seconds, without the day if it is today.
func (c Clock) exact(t bridge.Time) template.HTML {
	text := t.In(c.Zone).Format("15:04:05")
	if day := c.day(t, "2 Jan"); day != today {
		text = day + ", " + text
	}
	return c.element(t, text)
}

// duration formats seconds as players do.
func duration(seconds int) string {
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// daysAgo returns how many midnights have passed since a time.
func (c Clock) daysAgo(t time.Time) int {
	midnight := func(t time.Time) time.Time {
		year, month, day := t.In(c.Zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	return int(midnight(c.Now).Sub(midnight(t)).Hours() / 24)
}

// element returns a time element with the exact time in its attributes.
func (c Clock) element(t bridge.Time, text string) template.HTML {
	exact := t.In(c.Zone).Format("Monday, 2 January 2006, 15:04:05 MST")
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		t.String(), template.HTMLEscapeString(exact), template.HTMLEscapeString(text)))
}
