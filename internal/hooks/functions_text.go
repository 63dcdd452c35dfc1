package hooks

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The functions take their value last, so that it can be piped to them.

func (r *run) orDefault(other, value any) (any, error) {
	if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() {
		return other, r.step(1)
	}
	if list, isList := value.([]any); isList && len(list) == 0 {
		return other, r.step(1)
	}
	return value, r.step(1)
}

// truncate cuts a text to n characters, the last of which is an ellipsis then.
func (r *run) truncate(n, value any) (string, error) {
	most, text, err := r.cutting(n, value)
	if err != nil || utf8.RuneCountInString(text) <= most {
		return text, err
	}
	return strings.TrimRightFunc(prefix(text, most-1), unicode.IsSpace) + "…", nil
}

// cutting returns a number of characters and the text that is cut to them.
func (r *run) cutting(n, value any) (int, string, error) {
	most, isNumber := number(n)
	if !isNumber || most < 1 || most > maxOutput {
		return 0, "", fmt.Errorf("a number of characters must be 1 to %d", maxOutput)
	}
	text, err := r.text(value)
	return int(most), text, err
}

// prefix returns the first n characters of a text.
func prefix(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// line returns the first line of a text.
func (r *run) line(value any) (string, error) {
	text, err := r.text(value)
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(text), err
}

// short returns how the hash of a commit is written in short.
func (r *run) short(value any) (string, error) {
	text, err := r.text(value)
	return prefix(text, 7), err
}

func (r *run) trim(value any) (string, error) {
	text, err := r.text(value)
	return strings.TrimSpace(text), err
}

func (r *run) upper(value any) (string, error) {
	text, err := r.text(value)
	return strings.ToUpper(text), err
}

func (r *run) lower(value any) (string, error) {
	text, err := r.text(value)
	return strings.ToLower(text), err
}

// title makes a sentence's beginning of a name as services write it.
func (r *run) title(value any) (string, error) {
	text, err := r.text(value)
	text = strings.TrimSpace(strings.ReplaceAll(text, "_", " "))
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text, err
	}
	return string(unicode.ToUpper(first)) + text[size:], err
}

func (r *run) trimPrefix(of, value any) (string, error) {
	texts, err := r.texts(of, value)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(texts[1], texts[0]), nil
}

func (r *run) trimSuffix(of, value any) (string, error) {
	texts, err := r.texts(of, value)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(texts[1], texts[0]), nil
}

func (r *run) replace(old, new, value any) (string, error) {
	texts, err := r.texts(old, new, value)
	if err != nil {
		return "", err
	}
	if err := r.charge(strings.Count(texts[2], texts[0]) * len(texts[1])); err != nil {
		return "", err
	}
	return strings.ReplaceAll(texts[2], texts[0], texts[1]), nil
}

func (r *run) contains(part, value any) (bool, error) {
	texts, err := r.texts(part, value)
	return err == nil && strings.Contains(texts[1], texts[0]), err
}

func (r *run) hasPrefix(part, value any) (bool, error) {
	texts, err := r.texts(part, value)
	return err == nil && strings.HasPrefix(texts[1], texts[0]), err
}

func (r *run) hasSuffix(part, value any) (bool, error) {
	texts, err := r.texts(part, value)
	return err == nil && strings.HasSuffix(texts[1], texts[0]), err
}
