package hooks

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The functions take their value last, so that values can be piped to them.

func orDefault(other, value any) any {
	list, isList := value.([]any)
	if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() || isList && len(list) == 0 {
		return other
	}
	return value
}

// truncate cuts a text to n characters. The last one is then an ellipsis.
func (r *run) truncate(n, value any) (string, error) {
	most, isNumber := number(n)
	if !isNumber || most < 1 || most > maxOutput {
		return "", fmt.Errorf("a number of characters must be 1 to %d", maxOutput)
	}
	text, err := r.text(value)
	if err != nil || utf8.RuneCountInString(text) <= int(most) {
		return text, err
	}
	return strings.TrimRightFunc(prefix(text, int(most)-1), unicode.IsSpace) + "…", nil
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

func (r *run) ofText(make func(string) string) func(value any) (string, error) {
	return func(value any) (string, error) {
		text, err := r.text(value)
		return make(text), err
	}
}

// firstLine returns the first line of a text.
func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(text)
}

// titled capitalises a service's word for the start of a sentence.
func titled(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "_", " "))
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// ofPart returns a template function of a text and a part of it.
func ofPart[T any](r *run, of func(text, part string) T) func(part, value any) (T, error) {
	return func(part, value any) (made T, err error) {
		texts, err := r.texts(part, value)
		if err == nil {
			made = of(texts[1], texts[0])
		}
		return made, err
	}
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

func (r *run) print(values ...any) (string, error) {
	texts, err := r.texts(values...)
	return strings.Join(texts, ""), err
}

// badFormat matches verbs that could make a text long: widths above 99, widths from arguments,
// and argument indexes.
var badFormat = regexp.MustCompile(`%[^a-zA-Z%]*([*\[]|[0-9]{3})`)

// printf is fmt.Sprintf. Numbers are passed as numbers and all other values as text.
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

// date formats a time: RFC 3339, or seconds since 1970, which are shown in UTC. Other values are
// returned unchanged.
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

// headerOf returns a header of the delivery. The case of the name does not matter.
func (r *run) headerOf(name any) (string, error) {
	text, err := r.text(name)
	value, _ := headersOf(r.header)[http.CanonicalHeaderKey(text)].(string)
	return value, err
}

func (r *run) split(separator, value any) ([]any, error) {
	texts, err := r.texts(separator, value)
	if err != nil {
		return nil, err
	}
	if err := r.charge(32 * (strings.Count(texts[1], texts[0]) + 1)); err != nil {
		return nil, err
	}
	parts := []any{}
	for part := range strings.SplitSeq(texts[1], texts[0]) {
		parts = append(parts, part)
	}
	return parts, nil
}

// join joins the elements of a list with a separator.
func (r *run) join(separator, value any) (string, error) {
	list, isList := value.([]any)
	if !isList {
		return r.text(value)
	}
	texts, err := r.texts(list...)
	if err != nil {
		return "", err
	}
	between, err := r.text(separator)
	if err != nil {
		return "", err
	}
	if err := r.charge(len(between) * len(texts)); err != nil {
		return "", err
	}
	return strings.Join(texts, between), nil
}

// first returns the first n elements of a list.
func first(n, value any) ([]any, error) {
	list, _ := value.([]any)
	most, isNumber := number(n)
	if !isNumber || most < 0 {
		return nil, fmt.Errorf("first needs a number of elements")
	}
	return list[:int(min(most, float64(len(list))))], nil
}

// slice returns a part of a list, or of a text, from one position to another.
func (r *run) slice(value any, bounds ...any) (any, error) {
	list, isList := value.([]any)
	var text []rune
	if !isList {
		shown, err := r.text(value)
		if err != nil {
			return nil, err
		}
		text = []rune(shown)
	}
	length := max(len(list), len(text))
	at := []int{0, length}
	for i, bound := range bounds {
		n, isNumber := number(bound)
		if !isNumber || n < 0 || i > 1 {
			return nil, fmt.Errorf("slice needs a list or text, and one or two positions")
		}
		at[i] = int(min(n, float64(length)))
	}
	from, to := min(at[0], at[1]), at[1]
	if isList {
		return list[from:to], nil
	}
	return string(text[from:to]), nil
}

// sum returns a function that adds, or subtracts. Values other than numbers count as 0.
func sum(sign float64) func(a, b any) any {
	return func(a, b any) any {
		x, _ := number(a)
		y, _ := number(b)
		total := x + sign*y
		if whole := int64(total); float64(whole) == total {
			return whole
		}
		return total
	}
}
