package hooks

import (
	"net/http"
	"strings"
	"time"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
)

const (
	maxSteps = 100_000  // of one rendering: elements gone over and functions called
	maxWork  = 16 << 20 // bytes that its functions read and make
)

// run is one rendering. Every function of a template and every turn of a range calls
// step, so that nothing runs on; text is charged before it is read or made.
type run struct {
	header   http.Header
	deadline time.Time
	steps    int
	work     int
}

// functions returns the functions of templates, bound to a run. and, or and not are
// those of text/template, which evaluates them lazily.
func (r *run) functions() template.FuncMap {
	return template.FuncMap{
		fnShow: r.show, fnOver: r.over, fnStep: func() (string, error) { return "", r.step(1) }, fnField: r.field,

		"eq": r.eq, "ne": r.ne,
		"lt": r.ordered(func(order int) bool { return order < 0 }), "le": r.ordered(func(order int) bool { return order <= 0 }),
		"gt": r.ordered(func(order int) bool { return order > 0 }), "ge": r.ordered(func(order int) bool { return order >= 0 }),
		"len": r.length, "index": r.index, "slice": r.slice, "kind": r.kind,
		"print": r.print, "printf": r.printf, "raw": r.raw, "json": r.json,

		"default": r.orDefault, "truncate": r.truncate, "line": r.ofText(firstLine), "short": r.ofText(shortHash), "trim": r.ofText(strings.TrimSpace),
		"upper": r.ofText(strings.ToUpper), "lower": r.ofText(strings.ToLower), "title": r.ofText(titled),
		"trimPrefix": r.trimmedBy(strings.TrimPrefix), "trimSuffix": r.trimmedBy(strings.TrimSuffix),
		"replace": r.replace, "contains": r.asks(strings.Contains), "hasPrefix": r.asks(strings.HasPrefix), "hasSuffix": r.asks(strings.HasSuffix),
		"split": r.split, "join": r.join, "first": r.first, "add": r.sum(1), "sub": r.sum(-1),
		"date": r.date, "header": r.headerOf,
	}
}

// step counts n steps, and ends a run that has taken too many or too long.
func (r *run) step(n int) error {
	if r.steps += n; r.steps > maxSteps {
		return errTooMuch
	}
	if time.Now().After(r.deadline) {
		return errTooSlow
	}
	return nil
}

// charge counts the bytes that a function is about to read or make.
func (r *run) charge(n int) error {
	if r.work += n; n < 0 || r.work > maxWork {
		return errTooMuch
	}
	return r.step(1)
}

// over returns a list or an object that a range may go over, and refuses other values.
func (r *run) over(value any) (any, error) {
	switch value := value.(type) {
	case nil:
		return nil, r.step(1)
	case []any:
		return value, r.step(1)
	case map[string]any:
		return value, r.charge(16 * len(value)) // its names are sorted
	}
	return nil, errNotAList
}
