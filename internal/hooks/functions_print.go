package hooks

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// print returns values one behind the other.
func (r *run) print(values ...any) (string, error) {
	texts, err := r.texts(values...)
	return strings.Join(texts, ""), err
}

// badFormat finds what makes a format long: widths beyond 99, those from
// arguments, and arguments named again.
var badFormat = regexp.MustCompile(`%[^a-zA-Z%]*([*\[]|[0-9]{3})`)

// printf is fmt's, with numbers as numbers and everything else as text.
func (r *run) printf(format any, values ...any) (string, error) {
	text, err := r.text(format)
	if err != nil {
		return "", err
	}
	if badFormat.MatchString(text) {
		return "", errBadFormat
	}
	if err := r.charge(256 * strings.Count(text, "%")); err != nil {
		return "", err
	}
	args := make([]any, len(values))
	for i, value := range values {
		if _, isNumber := number(value); isNumber {
			args[i] = value
		} else if args[i], err = r.text(value); err != nil {
			return "", err
		}
	}
	made := fmt.Sprintf(text, args...)
	return made, r.charge(len(made))
}

// date formats a moment: RFC 3339, or seconds since 1970, which are shown in UTC.
// What is no moment is shown as it is.
func (r *run) date(layout, value any) (string, error) {
	texts, err := r.texts(layout, value)
	if err != nil {
		return "", err
	}
	if err := r.charge(16 * len(texts[0])); err != nil {
		return "", err
	}
	if seconds, isNumber := number(value); isNumber && seconds > 0 && seconds < 1e11 {
		return time.Unix(int64(seconds), 0).UTC().Format(texts[0]), nil
	}
	for _, form := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02 15:04:05 -0700"} {
		if at, err := time.Parse(form, texts[1]); err == nil {
			return at.Format(texts[0]), nil
		}
	}
	return texts[1], nil
}

// headerOf returns a header of the delivery by its name, in any case.
func (r *run) headerOf(name any) (string, error) {
	text, err := r.text(name)
	value, _ := headersOf(r.header)[canonical(text)].(string)
	return value, err
}
