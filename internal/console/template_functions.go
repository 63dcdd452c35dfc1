package console

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	_ "time/tzdata" // zones, also on an image that has none
	"unicode"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"bridged/internal/bridge"
)

// functions returns what templates call.
func (v *views) functions() template.FuncMap {
	return template.FuncMap{
		"asset": v.assetPath, "icon": icon, "bytes": byteCount, "initial": initial, "hue": hue, "phone": phoneOf,
		"chatPath": chatPath, "mediaPath": mediaPath, "number": number, "dict": dict, "percent": percent, "chatName": nameOf, "lastLine": lastLine, "jids": jids, "whose": whose, "adPicture": adPicture, "adLink": adLink, "announced": announced,
		"blocks": blocks, "inline": inline,
		"timeOfDay": clock.timeOfDay, "exact": clock.exact, "when": clock.when, "on": clock.on, "ago": clock.ago,
	}
}

// byteCount returns a size as people write it.
func byteCount(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, prefix := float64(n)/unit, 0
	for size >= unit && prefix < len("kMGTPE")-1 {
		size /= unit
		prefix++
	}
	form := "%.1f %cB"
	if size >= 100 {
		form = "%.0f %cB"
	}
	return fmt.Sprintf(form, size, "kMGTPE"[prefix])
}

// number returns a count with its thousands apart.
func number(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// percent returns the part of the whole, in full percents.
func percent(part, whole int) int {
	if whole <= 0 {
		return 0
	}
	return min(100, part*100/whole)
}

// initial returns the letter that stands for somebody; empty where the name has
// none.
func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return ""
}

// hues is how many colours the style sheet has for people.
const hues = 8

// hue returns the number of the colour that stands for somebody.
func hue(jid bridge.JID) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(jid)) // a hash takes everything
	return int(h.Sum32() % hues)
}

// phoneOf returns a person as the apps show somebody without a name.
func phoneOf(jid bridge.JID) string {
	switch {
	case jid == "":
		return ""
	case jid.Server() == bridge.ServerUser:
		return "+" + jid.User()
	case jid.IsLID():
		return "hidden number " + jid.User()
	}
	return string(jid)
}

// nameOf returns the name of a chat, or what stands for one.
func nameOf(chat bridge.Chat) string {
	if name := strings.TrimSpace(chat.Name); name != "" {
		return name
	}
	return phoneOf(chat.JID)
}

// chatPath returns the page of a chat.
func chatPath(jid bridge.JID) string { return root + "/chats/" + jid.Escaped() }

// mediaPath returns the address of a message's file on the console.
func mediaPath(chat bridge.JID, id string) string {
	return root + "/media/" + chat.Escaped() + "/" + bridge.PathID(id)
}

// dict makes one value of several, for parts of templates.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict needs names and values")
	}
	values := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is not a name", pairs[i])
		}
		values[name] = pairs[i+1]
	}
	return values, nil
}

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

// icons are drawn for the console, on a square of 24 by 24.
var icons = map[string]string{
	"logo":     `<path d="M2.5 17.5c2.5-11.5 16.5-11.5 19 0M2.5 17.5V12m19 5.5V12M7.8 10.7v6.8m8.4-6.8v6.8M12 9v8.5"/>`,
	"home":     `<path d="M4 11l8-7 8 7v9h-5v-6H9v6H4z"/>`,
	"chats":    `<path d="M4 5h16v11H9l-5 4z"/>`,
	"calls":    `<path d="M5 4h4l1.5 5-2.5 1.5a12 12 0 005.5 5.5l1.5-2.5 5 1.5v4c0 1-.8 1.5-1.5 1.5C11 20 4 13 3.5 5.5 3.5 4.7 4 4 5 4z"/>`,
	"search":   `<circle cx="10.5" cy="10.5" r="6"/><path d="M15 15l5.5 5.5"/>`,
	"events":   `<path d="M3 12h4l3-8 4 16 3-8h4"/>`,
	"webhooks": `<path d="M4 12h11m-4-5l5 5-5 5M20 4v16"/>`,
	"hooks":    `<path d="M20 12H9m4-5l-5 5 5 5M4 4v16"/>`,
	"api":      `<path d="M8 7l-5 5 5 5m8-10l5 5-5 5M13.5 5l-3 14"/>`,
	"settings": `<path d="M4 7h9m5 0h2M4 17h2m5 0h9"/><circle cx="15.5" cy="7" r="2.3"/><circle cx="8.5" cy="17" r="2.3"/>`,
	"pair":     `<rect x="4" y="4" width="6" height="6"/><rect x="14" y="4" width="6" height="6"/><rect x="4" y="14" width="6" height="6"/><path d="M14 14h2v2m4-2v6h-6v-2"/>`,
	"group":    `<circle cx="9" cy="8.5" r="3.2"/><path d="M3 19c0-7 12-7 12 0M15.5 5.6a3.2 3.2 0 010 5.8M17.5 14.2c2.3.7 3.5 2.4 3.5 4.8"/>`,
	"person":   `<circle cx="12" cy="8.5" r="3.7"/><path d="M5 20c0-8 14-8 14 0"/>`,
	"back":     `<path d="M14.5 5l-7 7 7 7"/>`,
	"down":     `<path d="M5 9l7 7 7-7"/>`,
	"send":     `<path d="M4 4l17 8-17 8 3-8zM7 12h7"/>`,
	"attach":   `<path d="M12 5v14M5 12h14"/>`,
	"file":     `<path d="M6 3h8l4 4v14H6zM14 3v4h4"/>`,
	"place":    `<path d="M12 21c-5-6-6.5-8.5-6.5-11.5a6.5 6.5 0 0113 0c0 3-1.5 5.5-6.5 11.5z"/><circle cx="12" cy="9.5" r="2.3"/>`,
	"poll":     `<path d="M4 6h10M4 12h16M4 18h7"/>`,
	"contact":  `<rect x="3" y="5" width="18" height="14" rx="1.5"/><circle cx="9" cy="11" r="2"/><path d="M6 16c0-3.5 6-3.5 6 0M15 10h3m-3 4h3"/>`,
	"reply":    `<path d="M10 6l-6 5.5 6 5.5v-3.5c5 0 8 1 10 4.5 0-6-4-9-10-9z"/>`,
	"edit":     `<path d="M4 20l1-4.5L16.5 4 20 7.5 8.5 19zM14 6.5l3.5 3.5"/>`,
	"react":    `<circle cx="12" cy="12" r="8.5"/><path d="M8.5 14c1.7 2.6 5.3 2.6 7 0M9 9.5v.5m6-.5v.5"/>`,
	"copy":     `<rect x="8" y="8" width="12" height="12" rx="1.5"/><path d="M16 8V4H4v12h4"/>`,
	"code":     `<path d="M4 6l5 5-5 5m7 2h9"/>`,
	"download": `<path d="M12 4v11m-4.5-4L12 15.5 16.5 11M5 20h14"/>`,
	"clock":    `<circle cx="12" cy="12" r="8.5"/><path d="M12 7.5V12l3 2"/>`,
	"check":    `<path d="M5 12.5l4.5 4.5L19 7.5"/>`,
	"checks":   `<path d="M2.5 12.5L7 17l9-9.5m-4.5 9L12 17l9.5-9.5"/>`,
	"warning":  `<path d="M12 4l9 16H3zM12 10v4m0 2.5v.5"/>`,
	"close":    `<path d="M6 6l12 12M18 6L6 18"/>`,
	"pause":    `<path d="M9 6v12m6-12v12"/>`,
	"play":     `<path d="M8 5l11 7-11 7z"/>`,
	"mic":      `<rect x="9" y="3.5" width="6" height="11" rx="3"/><path d="M5.5 11.5c0 8.5 13 8.5 13 0M12 18v3"/>`,
	"more":     `<path d="M12 6v.1M12 12v.1M12 18v.1"/>`,
	"plus":     `<path d="M12 5v14M5 12h14"/>`,
	"deleted":  `<circle cx="12" cy="12" r="8.5"/><path d="M6 6l12 12"/>`,
	"lock":     `<rect x="5.5" y="11" width="13" height="9" rx="1.5"/><path d="M8.5 11V8a3.5 3.5 0 017 0v3"/>`,
	"refresh":  `<path d="M19.5 12a7.5 7.5 0 11-2.3-5.4L20 9m0-5v5h-5"/>`,
	"logout":   `<path d="M14 5H5v14h9M10 12h11m-4-4.5l4.5 4.5-4.5 4.5"/>`,
	"pin":      `<path d="M9 4h6l-.5 6 3 3.5h-11l3-3.5zM12 13.5V21"/>`,
	"mute":     `<path d="M4 9.5h3.5L12 5.5v13l-4.5-4H4zM16 9.5l5 5m0-5l-5 5"/>`,
	"keep":     `<path d="M7 4h10v16l-5-4-5 4z"/>`,
	"event":    `<rect x="4" y="5.5" width="16" height="14.5" rx="1.5"/><path d="M4 10h16M8.5 3.5v4m7-4v4"/>`,
	"forward":  `<path d="M14 6l6 5.5-6 5.5v-3.5c-5 0-8 1-10 4.5 0-6 4-9 10-9z"/>`,
	"timer":    `<circle cx="12" cy="13.5" r="7"/><path d="M12 9.5v4l2.5 1.5M10 3.5h4"/>`,
}

// icon returns a drawing. It says nothing to those who listen: there are words
// beside it, or in its button's label.
func icon(name string) (template.HTML, error) {
	drawing, known := icons[name]
	if !known {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">` + drawing + `</svg>`), nil
}
