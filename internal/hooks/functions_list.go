package hooks

import (
	"fmt"
	"strings"
)

// split divides a text at a separator.
func (r *run) split(separator, value any) ([]any, error) {
	texts, err := r.texts(separator, value)
	if err != nil {
		return nil, err
	}
	if err := r.charge(32 * (strings.Count(texts[1], texts[0]) + 1)); err != nil {
		return nil, err
	}
	parts := []any{}
	for _, part := range strings.Split(texts[1], texts[0]) {
		parts = append(parts, part)
	}
	return parts, nil
}

// join returns the elements of a list with a separator between.
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
func (r *run) first(n, value any) ([]any, error) {
	list, _ := value.([]any)
	most, isNumber := number(n)
	if !isNumber || most < 0 {
		return nil, fmt.Errorf("first takes a number of elements")
	}
	return list[:int(min(most, float64(len(list))))], r.step(1)
}

// slice returns a list from one position to another.
func (r *run) slice(value any, bounds ...any) (any, error) {
	list, isList := value.([]any)
	text := []rune(nil)
	if !isList {
		shown, err := r.text(value)
		if err != nil {
			return nil, err
		}
		text = []rune(shown)
	}
	from, to := 0, max(len(list), len(text))
	for i, bound := range bounds {
		n, isNumber := number(bound)
		if !isNumber || n < 0 || i > 1 {
			return nil, fmt.Errorf("slice takes a list or text, and one or two positions")
		}
		at := int(min(n, float64(max(len(list), len(text)))))
		if i == 0 {
			from = at
		} else {
			to = at
		}
	}
	if from > to {
		from = to
	}
	if isList {
		return list[from:to], r.step(1)
	}
	return string(text[from:to]), r.step(1)
}

func (r *run) add(a, b any) (any, error) { return r.sum(a, b, 1) }
func (r *run) sub(a, b any) (any, error) { return r.sum(a, b, -1) }

// sum adds, or subtracts. What is no number counts as 0.
func (r *run) sum(a, b any, sign float64) (any, error) {
	x, _ := number(a)
	y, _ := number(b)
	total := x + sign*y
	if whole := int64(total); float64(whole) == total {
		return whole, r.step(1)
	}
	return total, r.step(1)
}
