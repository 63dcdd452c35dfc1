// Package doctor checks a bridge and its needs, for the operator and for reports of
// faults. A check changes nothing, and ends in time. A report holds no token, no text of
// a message and no whole phone number.
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

// Check looks at one subject.
type Check struct {
	Name string
	Look func(ctx context.Context) []Finding
	// Public marks findings whose long numbers are no phone numbers.
	Public bool
}

// Report holds all findings, in the order of the checks.
type Report struct {
	OK       bool      `json:"ok"` // whether none failed
	Findings []Finding `json:"findings"`
}

const patience = 15 * time.Second

// Examine runs the checks at the same time.
func Examine(ctx context.Context, checks []Check) Report {
	found := make([][]Finding, len(checks))
	var looking sync.WaitGroup
	for i, check := range checks {
		looking.Go(func() { found[i] = check.take(ctx, patience) })
	}
	looking.Wait()
	var report Report
	report.Findings = slices.Concat(found...)
	report.OK = !slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Verdict == Fail })
	return report
}

// take runs a check for so long at most: a file system that hangs ignores the context.
func (c *Check) take(ctx context.Context, limit time.Duration) []Finding {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	looked := make(chan []Finding, 1)
	go func() { looked <- c.Look(ctx) }()
	var findings []Finding
	select {
	case findings = <-looked:
	case <-ctx.Done():
		findings = []Finding{warn(fmt.Sprintf("no answer within %v", limit), "try again; if it stays, look at what is slow")}
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

// example matches the number that sentences show as an example.
var example = regexp.MustCompile(`\b` + bridge.ExamplePhone + `\b`)

// masked returns a text without whole phone numbers, except the one that shows how to write one.
func masked(text string) string {
	const holder = "\x00"
	return strings.ReplaceAll(bridge.Redact(example.ReplaceAllLiteralString(text, holder)), holder, bridge.ExamplePhone)
}

func ok(message string) Finding { return Finding{Verdict: OK, Message: message} }
func warn(message, remedy string) Finding {
	return Finding{Verdict: Warn, Message: message, Remedy: remedy}
}

func fail(message, remedy string) Finding {
	return Finding{Verdict: Fail, Message: message, Remedy: remedy}
}

// about names the subject of a finding, where a check has several.
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
	fmt.Fprintf(&b, "\n%s, %s. To report a fault, copy all of this: it holds no token, no message and no whole phone number.\n",
		count(counts[Fail], "failure"), count(counts[Warn], "warning"))
	return b.String()
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
