// Package doctor checks a bridge and what it depends on, for the operator and for bug reports. A check
// changes nothing and has a timeout. A report contains no tokens, no texts of messages and no whole phone
// numbers.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts, from good to bad.
const (
	OK   Verdict = "ok"
	Warn Verdict = "warn"
	Fail Verdict = "fail"
)

// Finding is the result of a check, with a remedy if it is not [OK].
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Message string  `json:"message"`
	Remedy  string  `json:"remedy,omitempty"`
}

// Check examines one subject.
type Check struct {
	Name   string
	Look   func(ctx context.Context) []Finding
	Public bool // its findings contain no phone numbers, so numbers are not masked
}

// Report holds all findings, in the order of the checks.
type Report struct {
	OK       bool      `json:"ok"` // whether no check failed
	Findings []Finding `json:"findings"`
}

const timeout = 15 * time.Second

// Examine runs the checks at the same time.
func Examine(ctx context.Context, checks []Check) Report {
	found := make([][]Finding, len(checks))
	var running sync.WaitGroup
	for i, check := range checks {
		running.Go(func() { found[i] = check.run(ctx, timeout) })
	}
	running.Wait()
	var report Report
	report.Findings = slices.Concat(found...)
	report.OK = !slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Verdict == Fail })
	return report
}

// run runs a check and returns its findings, or a warning after a timeout.
func (c *Check) run(ctx context.Context, timeout time.Duration) []Finding {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found := make(chan []Finding, 1)
	go func() { found <- c.Look(ctx) }() // it may ignore the context, if a file system hangs
	var findings []Finding
	select {
	case findings = <-found:
	case <-ctx.Done():
		findings = []Finding{warn(fmt.Sprintf("no answer within %v", timeout), "try again; if this repeats, find out what is slow")}
	}
	for i := range findings {
		f := &findings[i]
		f.Check = cmp.Or(f.Check, c.Name)
		if !c.Public {
			f.Message, f.Remedy = masked(f.Message), masked(f.Remedy)
		}
	}
	return findings
}

// example matches the phone number that sentences have as an example.
var example = regexp.MustCompile(`\b` + bridge.ExamplePhone + `\b`)

// masked masks the phone numbers in a text, except the example.
func masked(text string) string {
	const placeholder = "\x00"
	return strings.ReplaceAll(bridge.Redact(example.ReplaceAllLiteralString(text, placeholder)), placeholder, bridge.ExamplePhone)
}

func ok(message string) Finding { return Finding{Verdict: OK, Message: message} }
func warn(message, remedy string) Finding {
	return Finding{Verdict: Warn, Message: message, Remedy: remedy}
}

func fail(message, remedy string) Finding {
	return Finding{Verdict: Fail, Message: message, Remedy: remedy}
}

// about sets the subject of a finding, for a check that has several.
func (f Finding) about(subject string) Finding {
	f.Check = subject
	return f
}

// String returns the report for people.
func (r Report) String() string {
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Check))
	}
	var b strings.Builder
	counts := make(map[Verdict]int)
	for _, f := range r.Findings {
		counts[f.Verdict]++
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", f.Verdict, width, f.Check, f.Message)
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%*s→ %s\n", len("warn")+2+width+2, "", f.Remedy)
		}
	}
	fmt.Fprintf(&b, "\n%s, %s. To report a bug, copy all of this: it contains no tokens, no messages and no whole phone numbers.\n",
		count(counts[Fail], "failure"), count(counts[Warn], "warning"))
	return b.String()
}

func count(n int, what string) string {
	if n == 0 {
		return "no " + what + "s"
	}
	return bridge.Counted(n, what)
}
