package view

import (
	"fmt"
	"html/template"
	"time"
	_ "time/tzdata" // zones, also on an image that has none

	"bridged/internal/bridge"
)

// Clock formats times in the zone of the visitor.
type Clock struct {
	Zone *time.Location
	Now  time.Time
}

// when formats a time for a list: the time of today, else the day.
func (c Clock) when(t *bridge.Time) template.HTML {
	if t == nil {
		return ""
	}
	return c.element(*t, c.dayOf(*t, t.In(c.Zone).Format("15:04"), "2 Jan 2006"))
}

func (c Clock) ago(t *bridge.Time) template.HTML {
	if t == nil {
		return "Never"
	}
	return c.element(*t, ago(c.Now.Sub(t.Time)))
}

// Day formats a day for the line between messages.
func (c Clock) Day(t bridge.Time) string { return c.dayOf(t, "Today", "2 January 2006") }

// dayOf returns the name of a recent day; it formats others with a layout.
func (c Clock) dayOf(t bridge.Time, today, layout string) string {
	switch days := c.daysAgo(t.Time); {
	case days == 0:
		return today
	case days == 1:
		return "Yesterday"
	case days > 0 && days < 7:
		layout = "Monday"
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

// moment formats a time for a picture.
func (c Clock) moment(t bridge.Time) string {
	return c.Day(t) + ", " + t.In(c.Zone).Format("15:04")
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

func (c Clock) formatted(t bridge.Time, layout string) template.HTML {
	return c.element(t, t.In(c.Zone).Format(layout))
}

// element returns a time element with the exact time in its attributes.
func (c Clock) element(t bridge.Time, text string) template.HTML {
	exact := t.In(c.Zone).Format("Monday, 2 January 2006, 15:04:05 MST")
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		t.String(), template.HTMLEscapeString(exact), template.HTMLEscapeString(text)))
}

func ago(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "Just now"
	case d < time.Minute:
		return fmt.Sprintf("%d seconds ago", int(d.Seconds()))
	case d < 2*time.Minute:
		return "A minute ago"
	case d < time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 2*time.Hour:
		return "An hour ago"
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
