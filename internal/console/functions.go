package console

import (
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/html"
	"hash/fnv"
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

// functions returns what templates call.
func (v *views) functions() template.FuncMap {
	return template.FuncMap{
		"asset": v.assetPath, "icon": icon, "bytes": byteCount, "initial": initial, "hue": hue, "phone": phoneOf,
		"chatPath": chatPath, "mediaPath": mediaPath, "number": number, "dict": dict, "percent": percent, "chatName": nameOf, "lastLine": lastLine, "jids": jids, "whose": whose, "adPicture": adPicture, "adLink": adLink, "announced": announced,
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
