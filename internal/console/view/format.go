// Package view formats the content of the console's pages: times, names, sizes, the account's state,
// messages in one line, QR codes and calls of the API as curl.
package view

import (
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

// InWords returns a count for a sentence.
func InWords(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	if n < len(words) {
		return words[n]
	}
	return Number(n)
}

// Functions are functions for templates.
var Functions = template.FuncMap{
	"icon": icon, "bytes": byteCount, "albumWords": albumWords, "initial": initial, "hue": Hue, "phone": Phone, "number": Number, "dict": dict, "list": func(texts ...string) []string { return texts }, "duration": duration, "sentence": Sentence,
	"chatPath": ChatPath, "chatPathIn": chatPathIn, "mediaPath": mediaPath, "thumbPath": thumbPath, "picturePath": picturePath, "invitePath": InvitePath, "infoPath": InfoPath, "pathID": bridge.PathID,
	"chatName": ChatName, "labelColors": func() []string { return LabelColors[:] }, "lastLine": lastLine, "lastIcon": lastIcon, "scheduledKind": ScheduledKind, "scheduledIcon": scheduledIcon, "beginning": oneLine, "fileKind": fileKind,
	"isGroup": bridge.JID.IsGroup, "isImport": bridge.JID.IsImport,
	"when": Clock.when, "last": Clock.last, "moment": Clock.moment, "on": Clock.on, "at": Clock.at, "exact": Clock.exact,
	"timeOfDay": func(c Clock, t bridge.Time) template.HTML { return c.element(t, c.timeOfDay(t)) },
	"date":      func(c Clock, t bridge.Time) template.HTML { return c.element(t, c.Within(t)) },
}

// byteCount formats a size with powers of 1000.
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

// Number formats a count with spaces between thousands.
func Number(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// fileKind returns the kind of a file in a word: the extension of its name, or its subtype.
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

// dict makes one value of names and values, for parts of templates.
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
