package hooks

import (
	"net/http"
	"strings"
	"text/template"
	"time"
)

const (
	maxSteps = 100_000  // of one rendering: iterations of ranges, and calls of functions that read or make text
	maxWork  = 16 << 20 // bytes that its functions read and make
)

// run is one rendering. Each iteration of a range and each function that reads or makes text
// calls step, so that no rendering runs forever. The size of the text is charged before.
type run struct {
	header   http.Header
	deadline time.Time
	steps    int
	work     int
}

// functions returns the functions of templates, bound to a run. and, or and not are
// text/template's own, because it evaluates them lazily.
func (r *run) functions() template.FuncMap {
	return template.FuncMap{
		fnShow: r.show, fnOver: r.over, fnStep: func() (string, error) { return "", r.step(1) }, fnField: field,

		"eq": r.eq, "ne": r.ne,
		"lt": r.ordered(func(order int) bool { return order < 0 }), "le": r.ordered(func(order int) bool { return order <= 0 }),
		"gt": r.ordered(func(order int) bool { return order > 0 }), "ge": r.ordered(func(order int) bool { return order >= 0 }),
		"len": r.length, "index": r.index, "slice": r.slice, "kind": kind,
		"print": r.print, "printf": r.printf, "raw": r.raw, "json": r.json,

		"default": orDefault, "truncate": r.truncate, "line": r.ofText(firstLine), "trim": r.ofText(strings.TrimSpace),
		"short": r.ofText(func(hash string) string { return prefix(hash, 7) }),
		"upper": r.ofText(strings.ToUpper), "lower": r.ofText(strings.ToLower), "title": r.ofText(titled),
		"trimPrefix": ofPart(r, strings.TrimPrefix), "trimSuffix": ofPart(r, strings.TrimSuffix),
		"replace": r.replace, "contains": ofPart(r, strings.Contains),
		"hasPrefix": ofPart(r, strings.HasPrefix), "hasSuffix": ofPart(r, strings.HasSuffix),
		"split": r.split, "join": r.join, "first": first, "add": sum(1), "sub": sum(-1),
		"date": r.date, "header": r.headerOf,
	}
}

// step counts n steps. It fails if the run has taken too many steps or too much time.
func (r *run) step(n int) error {
	if r.steps += n; r.steps > maxSteps {
		return errTooMuch
	}
	if time.Now().After(r.deadline) {
		return errTooSlow
	}
	return nil
}

// charge counts bytes that a function is about to read or make.
func (r *run) charge(n int) error {
	if r.work += n; n < 0 || r.work > maxWork {
		return errTooMuch
	}
	return r.step(1)
}

// over returns a value that a range may iterate over, which is a list or an object, and refuses
// others.
func (r *run) over(value any) (any, error) {
	switch value := value.(type) {
	case nil, []any:
		return value, nil
	case map[string]any:
		return value, r.charge(16 * len(value)) // its names are sorted
	}
	return nil, errNotAList
}
