package hooks

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// raw is a text that may contain markup.
type raw string

// text returns a value as text, or "" for a missing one.
func (r *run) text(value any) (string, error) {
	text, err := textOf(value)
	if err != nil {
		return "", err
	}
	return text, r.charge(len(text))
}

func textOf(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", nil
	case string:
		return value, nil
	case raw:
		return string(value), nil
	}
	text, err := bridge.EncodeJSON(value)
	return string(text), err
}

func (r *run) texts(values ...any) ([]string, error) {
	texts := make([]string, len(values))
	for i, value := range values {
		var err error
		if texts[i], err = r.text(value); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// field returns the value at a path of names, or nil.
func field(value any, names ...string) any {
	for _, name := range names {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// index returns an element or a field, or nil.
func (r *run) index(value any, keys ...any) (any, error) {
	for _, key := range keys {
		switch in := value.(type) {
		case map[string]any:
			name, err := r.text(key)
			if err != nil {
				return nil, err
			}
			value = in[name]
		case []any:
			value = nil
			if i, isNumber := number(key); isNumber && 0 <= i && i < float64(len(in)) {
				value = in[int(i)]
			}
		default:
			return nil, nil
		}
	}
	return value, nil
}

func kind(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case string, raw:
		return "text"
	case bool:
		return "bool"
	}
	return "number"
}

func (r *run) length(value any) (int, error) {
	switch value := value.(type) {
	case []any:
		return len(value), nil
	case map[string]any:
		return len(value), nil
	}
	text, err := r.text(value)
	return utf8.RuneCountInString(text), err
}

func number(value any) (n float64, isNumber bool) {
	switch value := value.(type) {
	case int:
		return float64(value), true
	case int64:
		return float64(value), true
	case float64:
		return value, true
	}
	return 0, false
}

// compare orders two values: numbers as numbers, all other values as text.
func (r *run) compare(a, b any) (int, error) {
	x, xNumber := number(a)
	y, yNumber := number(b)
	if xNumber && yNumber {
		return cmp.Compare(x, y), nil
	}
	texts, err := r.texts(a, b)
	if err != nil {
		return 0, err
	}
	return strings.Compare(texts[0], texts[1]), nil
}

// eq reports whether a value equals one of others. A missing value equals only nil.
func (r *run) eq(value any, others ...any) (bool, error) {
	for _, other := range others {
		if (value == nil) != (other == nil) {
			continue
		}
		if order, err := r.compare(value, other); order == 0 || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

func (r *run) ne(a, b any) (bool, error) {
	equal, err := r.eq(a, b)
	return !equal, err
}

// ordered returns a function that compares two values.
func (r *run) ordered(is func(order int) bool) func(a, b any) (bool, error) {
	return func(a, b any) (bool, error) {
		order, err := r.compare(a, b)
		return err == nil && is(order), err
	}
}

func (r *run) json(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return string(text), r.charge(len(text))
}

// show returns a value as it is printed. Markup is removed unless the value is raw.
func (r *run) show(value any) (string, error) {
	text, err := r.text(value)
	if _, isRaw := value.(raw); isRaw || err != nil {
		return text, err
	}
	return plain(text), nil
}

// raw permits markup in a value.
func (r *run) raw(value any) (raw, error) {
	text, err := r.text(value)
	return raw(text), err
}

// address matches URLs in a text.
var address = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"]+`)

// plain removes markup from a text. The apps have no escape character, so the characters of
// markup are percent-encoded in URLs and replaced by look-alikes elsewhere.
func plain(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsAny(text, "*_~`") {
		return visible(text)
	}
	var out strings.Builder
	at := 0
	for _, found := range address.FindAllStringIndex(text, -1) {
		out.WriteString(replaceMarks(text[at:found[0]], lookAlikes))
		out.WriteString(replaceMarks(text[found[0]:found[1]], codes))
		at = found[1]
	}
	out.WriteString(replaceMarks(text[at:], lookAlikes))
	return visible(out.String())
}

// These are the replacements of markup characters in text and in URLs.
var (
	lookAlikes = map[rune]string{'*': "∗", '_': "ˍ", '~': "∼", '`': "ˋ"}
	codes      = map[rune]string{'*': "%2A", '_': "%5F", '~': "%7E", '`': "%60"}
)

// replaceMarks replaces the markup characters of a text. An underscore within a word is not
// markup, and many identifiers contain underscores.
func replaceMarks(text string, by map[rune]string) string {
	var out strings.Builder
	before := ' '
	for i, char := range text {
		after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(char):])
		replacement, isMark := by[char]
		if isMark && !(char == '_' && isWord(before) && isWord(after)) {
			out.WriteString(replacement)
		} else {
			out.WriteRune(char)
		}
		before = char
	}
	return out.String()
}

func isWord(char rune) bool { return unicode.IsLetter(char) || unicode.IsDigit(char) }

// visible removes control characters and changes of direction from a text.
func visible(text string) string {
	return strings.Map(func(char rune) rune {
		switch {
		case char == '\n' || char == '\t':
			return char
		case unicode.IsControl(char), 0x202A <= char && char <= 0x202E, 0x2066 <= char && char <= 0x2069:
			return -1
		}
		return char
	}, text)
}
