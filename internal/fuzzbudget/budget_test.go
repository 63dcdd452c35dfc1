package fuzzbudget

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// recorder is a test that keeps what it is told.
type recorder struct{ said string }

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }
func (r *recorder) Failed() bool                      { return r.said != "" }

var sink []byte

func TestBudget_FailsWhatCostsTooMuch(t *testing.T) {
	allocate := func(bytes int) func() { return func() { sink = make([]byte, bytes) } }
	spin := func() {
		for began := processorTime(); processorTime()-began < 30*time.Millisecond; {
		}
	}
	first := true
	for name, c := range map[string]struct {
		budget Budget
		run    func()
		want   string
	}{
		"within":              {Usual, allocate(1 << 19), ""},
		"a multiple":          {Usual, allocate(1<<20 + 100*128), ""},
		"too much memory":     {Usual, allocate(5 << 20), "allocated 5"},
		"too much time":       {Budget{Base: 1 << 20, Time: time.Millisecond}, spin, "the budget is 1ms"},
		"only the first time": {Usual, func() { allocate(map[bool]int{true: 5 << 20, false: 1}[first])(); first = false }, ""},
	} {
		var r recorder
		if c.budget.Check(&r, 100, c.run); c.want == "" && r.said != "" || !strings.Contains(r.said, c.want) {
			t.Errorf("%s: %q, want %q", name, r.said, c.want)
		}
	}
}
