package hooks

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// raw is a text that may mark up.
type raw string

// text returns a value as text. It is what print shows, and empty for what is
// missing.
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
	case bool:
		return strconv.FormatBool(value), nil
	case int:
		return strconv.Itoa(value), nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case float64:
		return strconv.FormatFloat(value, formatOf(value), -1, 64), nil
	}
	text, err := bridge.EncodeJSON(value)
	return string(text), err
}

// formatOf returns how a number is written, as JSON writes it: with an exponent
// only where the digits would be very many.
func formatOf(n float64) byte {
	if size := math.Abs(n); size != 0 && (size < 1e-6 || size >= 1e21) {
		return 'e'
	}
	return 'f'
}

// texts returns several values as text.
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

// field returns what lies at the end of some names, and nil where there is
// nothing.
func (r *run) field(value any, names ...string) (any, error) {
	for _, name := range names {
		object, isObject := value.(map[string]any)
		if !isObject {
			return nil, r.step(1)
		}
		value = object[name]
	}
	return value, r.step(1)
}

// index returns an element or a field, and nil where there is none.
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
	return value, r.step(1)
}

// kind names what a value is.
func (r *run) kind(value any) (string, error) {
	name := "number"
	switch value.(type) {
	case nil:
		name = "nothing"
	case map[string]any:
		name = "object"
	case []any:
		name = "list"
	case string, raw:
		name = "text"
	case bool:
		name = "bool"
	}
	return name, r.step(1)
}

// length counts elements, fields or characters.
func (r *run) length(value any) (int, error) {
	switch value := value.(type) {
	case []any:
		return len(value), r.step(1)
	case map[string]any:
		return len(value), r.step(1)
	}
	text, err := r.text(value)
	return len([]rune(text)), err
}

// number returns a value as a number.
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

// compare orders two values: numbers as numbers, everything else as text.
func (r *run) compare(a, b any) (int, error) {
	x, xNumber := number(a)
	y, yNumber := number(b)
	if xNumber && yNumber {
		return cmp.Compare(x, y), r.step(1)
	}
	texts, err := r.texts(a, b)
	if err != nil {
		return 0, err
	}
	return strings.Compare(texts[0], texts[1]), nil
}

// eq reports whether a value is one of others. What is missing equals nothing but
// nil.
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

func (r *run) lt(a, b any) (bool, error) {
	order, err := r.compare(a, b)
	return order < 0, err
}

func (r *run) le(a, b any) (bool, error) {
	order, err := r.compare(a, b)
	return order <= 0, err
}

func (r *run) gt(a, b any) (bool, error) {
	order, err := r.compare(a, b)
	return order > 0, err
}

func (r *run) ge(a, b any) (bool, error) {
	order, err := r.compare(a, b)
	return order >= 0, err
}

// json returns a value as JSON.
func (r *run) json(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return string(text), r.charge(len(text))
}
