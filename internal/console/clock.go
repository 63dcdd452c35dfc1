package console

import (
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/html"
	"time"
	_ "time/tzdata" // zones, also on an image that has none

	"bridged/internal/bridge"
)

// clock shows times as the visitor's clock does.
type clock struct {
	Zone *time.Location
	now  time.Time
}

func (v *visit) clock() clock { return clock{v.session.zone.Load(), v.c.now()} }

// timeOfDay returns the time of the day.
func (c clock) timeOfDay(t bridge.Time) template.HTML { return c.formatted(t, "15:04") }

// exact returns the time of the day with seconds.
func (c clock) exact(t bridge.Time) template.HTML { return c.formatted(t, "15:04:05") }

// on returns day and time.
func (c clock) on(t bridge.Time) template.HTML { return c.formatted(t, "2 Jan 2006, 15:04:05") }

// when returns a time as a list shows it: the time of today, the day before
// that.
func (c clock) when(t *bridge.Time) template.HTML {
	if t == nil {
		return ""
	}
	switch days := c.daysAgo(t.Time); {
	case days <= 0:
		return c.timeOfDay(*t)
	case days == 1:
		return c.element(*t, "Yesterday")
	case days < 7:
		return c.formatted(*t, "Monday")
	}
	return c.formatted(*t, "2 Jan 2006")
}

// ago returns how long ago something was.
func (c clock) ago(t *bridge.Time) template.HTML {
	if t == nil {
		return "never"
	}
	return c.element(*t, ago(c.now.Sub(t.Time)))
}

// day returns a day as it stands between messages.
func (c clock) day(t bridge.Time) string {
	switch days := c.daysAgo(t.Time); {
	case days == 0:
		return "Today"
	case days == 1:
		return "Yesterday"
	case days > 0 && days < 7:
		return t.In(c.Zone).Format("Monday")
	}
	return t.In(c.Zone).Format("2 January 2006")
}

// daysAgo returns how many midnights have passed since a time.
func (c clock) daysAgo(t time.Time) int {
	midnight := func(t time.Time) time.Time {
		year, month, day := t.In(c.Zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	return int(midnight(c.now).Sub(midnight(t)).Hours() / 24)
}

func (c clock) formatted(t bridge.Time, layout string) template.HTML {
	return c.element(t, t.In(c.Zone).Format(layout))
}

// element returns a time with the exact one for machines and pointers.
func (c clock) element(t bridge.Time, text string) template.HTML {
	exact := t.In(c.Zone).Format("Monday, 2 January 2006, 15:04:05 MST")
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		t.String(), template.HTMLEscapeString(exact), template.HTMLEscapeString(text)))
}

// ago returns a duration in words.
func ago(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d seconds ago", int(d.Seconds()))
	case d < 2*time.Minute:
		return "a minute ago"
	case d < time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 2*time.Hour:
		return "an hour ago"
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
