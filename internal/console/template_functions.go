package console

import (
	"cmp"
	_ "embed"
	"fmt"
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones, also on an image that has none
	"unicode"
	"unicode/utf8"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"bridged/internal/bridge"
)

var functions = template.FuncMap{
	"asset": assetPath, "scripts": scripts, "icon": icon, "bytes": byteCount, "initial": initial, "hue": hue, "phone": phoneOf,
	"chatPath": chatPath, "mediaPath": mediaPath, "number": number, "dict": dict, "chatName": nameOf, "lastLine": lastLine, "lastIcon": lastIcon, "lastTick": lastTick, "fileKind": fileKind, "platform": platform, "whose": whose, "formatName": formatName, "webhookFormats": bridge.WebhookFormats,
	"adPicture": adPicture, "adLink": adLink, "announced": announced, "blocks": blocks, "inline": inline,
	"scopes": bridge.Scopes, "sentence": sentence, "scopeWords": func(s bridge.Scope) any { return scopeWords[s] }, "permits": slices.Contains[[]bridge.Scope],
	"eventTypes": bridge.EventTypes, "chosen": slices.Contains[[]bridge.EventType],
	"hookTemplates": func() []hookTemplate { return hookTemplates }, "emojis": func() []string { return quickEmojis },
	"picturePath": picturePath, "infoPath": infoPath, "isGroup": bridge.JID.IsGroup, "isImport": bridge.JID.IsImport, "dateOrders": func() []bridge.DateOrder { return bridge.DateOrders }, "orderWords": func(o bridge.DateOrder) string { return orderWords[o] }, "dateInWords": dateInWords, "wallTime": wallTime, "importField": importField,
	"when": clock.when, "ago": clock.ago, "moment": clock.moment, "duration": duration, "beginning": oneLine, "digitsOf": digitsOf, "pathID": bridge.PathID,
	"timeOfDay": func(c clock, t bridge.Time) template.HTML { return c.formatted(t, "15:04") },
	"exact":     func(c clock, t bridge.Time) template.HTML { return c.formatted(t, "15:04:05") },
	"date":      func(c clock, t bridge.Time) template.HTML { return c.formatted(t, "2 January 2006") },
	"on":        func(c clock, t bridge.Time) template.HTML { return c.formatted(t, "2 Jan 2006, 15:04:05") },
}

// byteCount returns a size as people write it, with powers of 1000.
func byteCount(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size := float64(n)
	for _, prefix := range "kMGTPE" {
		if size /= 1000; size < 100 {
			return fmt.Sprintf("%.1f %cB", size, prefix)
		} else if size < 1000 {
			return fmt.Sprintf("%.0f %cB", size, prefix)
		}
	}
	return ""
}

// number returns a count with its thousands apart.
func number(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// initial returns the first letter of a name; empty where it has none.
func initial(name string) string {
	if i := strings.IndexFunc(name, unicode.IsLetter); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return string(unicode.ToUpper(r))
	}
	return ""
}

// fileKind returns what a file is in a word: the ending of its name, or of its type.
func fileKind(file *bridge.Media) string {
	kind := strings.TrimPrefix(path.Ext(file.FileName), ".")
	if kind == "" || len(kind) > 5 {
		_, kind, _ = strings.Cut(file.MimeType, "/")
	}
	if kind == "" || len(kind) > 5 || strings.ContainsFunc(kind, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return "File"
	}
	return strings.ToUpper(kind)
}

// platform returns a phone's platform as its maker writes it.
func platform(name string) string {
	return cmp.Or(map[string]string{"android": "Android", "iphone": "iPhone", "smba": "Android, WhatsApp Business", "smbi": "iPhone, WhatsApp Business"}[name], name)
}

// hue returns the number of a person's colour, of which the style sheet has 8.
func hue(jid bridge.JID) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(jid))                 // never fails
	return int((h.Sum32() ^ h.Sum32()>>16) % 8) // the low bits alone differ too little
}

// phoneOf returns a person as the apps show people without a name.
func phoneOf(jid bridge.JID) string {
	switch {
	case jid == "":
		return ""
	case jid.Server() == bridge.ServerUser:
		return "+" + jid.User()
	case jid.IsImport():
		return "Imported chat"
	case jid.IsInterop():
		return "On another messenger"
	case jid.IsLID():
		return "hidden number " + jid.User()
	}
	return string(jid)
}

// nameOf returns the name of a chat, or else its number.
func nameOf(chat bridge.Chat) string {
	if chat.Name == chat.JID.User() { // as the API names those without a name
		return phoneOf(chat.JID)
	}
	return cmp.Or(strings.TrimSpace(chat.Name), phoneOf(chat.JID))
}

func chatPath(jid bridge.JID) string { return root + "/chats/" + jid.Escaped() }

func mediaPath(chat bridge.JID, id string) string {
	return root + "/media/" + chat.Escaped() + "/" + bridge.PathID(id)
}

// dict makes one value of several, for parts of templates: names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	values := make(map[string]any, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		name, ok := pair[0].(string)
		if !ok || len(pair) != 2 {
			return nil, fmt.Errorf("dict: %v is not a name with a value", pair)
		}
		values[name] = pair[1]
	}
	return values, nil
}

// clock formats times in the zone of the visitor.
type clock struct {
	Zone *time.Location
	now  time.Time
}

func (v *visit) clock() clock { return clock{v.session.zone.Load(), v.c.now()} }

// when returns a time as a list shows it: the time of today, the day before that.
func (c clock) when(t *bridge.Time) template.HTML {
	if t == nil {
		return ""
	}
	return c.element(*t, c.dayOf(*t, t.In(c.Zone).Format("15:04"), "2 Jan 2006"))
}

func (c clock) ago(t *bridge.Time) template.HTML {
	if t == nil {
		return "Never"
	}
	return c.element(*t, ago(c.now.Sub(t.Time)))
}

// day returns a day as it stands between messages.
func (c clock) day(t bridge.Time) string { return c.dayOf(t, "Today", "2 January 2006") }

// dayOf returns the name of a recent day, and others in a layout.
func (c clock) dayOf(t bridge.Time, today, layout string) string {
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

// date returns the day of a time in the visitor's zone, as 2026-11-21.
func (c clock) date(t bridge.Time) string { return t.In(c.Zone).Format(time.DateOnly) }

// moment returns a time as it stands beside a picture.
func (c clock) moment(t bridge.Time) string {
	return c.day(t) + ", " + t.In(c.Zone).Format("15:04")
}

// duration returns seconds as players show them.
func duration(seconds int) string {
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
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

//go:embed templates/icons.svg
var drawings string

var symbolPattern = regexp.MustCompile(`<symbol id="(.+?)">(.+?)</symbol>`)

// icons returns the drawings in icons.svg, by name.
var icons = sync.OnceValue(func() map[string]template.HTML {
	byName := make(map[string]template.HTML)
	for _, symbol := range symbolPattern.FindAllStringSubmatch(drawings, -1) {
		byName[symbol[1]] = template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">` + symbol[2] + `</svg>`)
	}
	return byName
})

// icon returns a drawing, which screen readers skip: there are words beside it.
func icon(name string) (template.HTML, error) {
	drawing, known := icons()[name]
	if !known {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return drawing, nil
}
