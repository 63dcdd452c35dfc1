package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Goal bounds a figure; 0 means no bound.
type Goal struct {
	P50   float64 `json:"p50,omitempty"`   // ms, maximum
	P90   float64 `json:"p90,omitempty"`   // ms, maximum
	P99   float64 `json:"p99,omitempty"`   // ms, maximum
	Worst float64 `json:"worst,omitempty"` // ms, maximum
	Times float64 `json:"times,omitempty"` // speed relative to the plain way, minimum
}

// Timing holds the times of one kind of request, in ms.
type Timing struct {
	Part     string  `json:"part"`
	Name     string  `json:"name"`
	Messages int     `json:"messages"`
	P50      float64 `json:"p50"`
	P90      float64 `json:"p90"`
	P99      float64 `json:"p99"`
	Worst    float64 `json:"worst"`
	PlainP50 float64 `json:"plainP50,omitempty"`
	PlainP99 float64 `json:"plainP99,omitempty"`
	Times    float64 `json:"times,omitempty"` // plain by ours, at p50
	Goal     Goal    `json:"goal"`
	Met      bool    `json:"met"`
}

// Value is any other figure.
type Value struct {
	Part     string  `json:"part"`
	Name     string  `json:"name"`
	Messages int     `json:"messages,omitempty"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	Goal     string  `json:"goal,omitempty"`
	Met      bool    `json:"met"`
}

// Report holds all results of one run.
type Report struct {
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	System  string    `json:"system"`
	CPUs    int       `json:"cpus"`
	Load    [2]string `json:"load"`              // at the start and the end
	Against string    `json:"against,omitempty"` // the other build, whose figures fill the columns of the plain way
	Seed    uint64    `json:"seed"`
	Filled  []Filling `json:"filled"`
	Timings []Timing  `json:"timings"`
	Values  []Value   `json:"values"`
	Media   string    `json:"media,omitempty"` // as text
}

func (r *Report) begin(o options) {
	r.Began, r.Seed = time.Now().UTC(), o.seed
	r.System, r.CPUs = runtime.GOOS+"/"+runtime.GOARCH+" "+runtime.Version(), runtime.NumCPU()
	r.Load[0], r.Against = loadAverage(), o.against
}

func (r *Report) end() {
	r.Load[1], r.Seconds = loadAverage(), time.Since(r.Began).Seconds()
}

// loadAverage returns the machine's load average, if the system reports it.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

// add records the times of a task.
func (r *Report) add(t task, messages int, ours, plain []time.Duration) {
	timing := Timing{
		Part: t.part, Name: t.name, Messages: messages, Goal: t.goal,
		P50: percentile(ours, 50), P90: percentile(ours, 90), P99: percentile(ours, 99), Worst: percentile(ours, 100),
		PlainP50: percentile(plain, 50), PlainP99: percentile(plain, 99),
	}
	if timing.P50 > 0 {
		timing.Times = timing.PlainP50 / timing.P50
	}
	timing.Met = t.goal.met(timing)
	r.Timings = append(r.Timings, timing)
}

// value records any other figure.
func (r *Report) value(v Value) { r.Values = append(r.Values, v) }

func (g Goal) met(t Timing) bool {
	for _, bound := range [][2]float64{{g.P50, t.P50}, {g.P90, t.P90}, {g.P99, t.P99}, {g.Worst, t.Worst}} {
		if bound[0] > 0 && bound[1] > bound[0] {
			return false
		}
	}
	return g.Times == 0 || t.Times >= g.Times
}

func (g Goal) String() string {
	var times, faster string
	if g.P50 > 0 {
		times = "≤ " + number(g.P50)
	}
	if g.P99 > 0 {
		times += " / " + number(g.P99)
	}
	if g.P90 > 0 {
		times += ", p90 ≤ " + number(g.P90)
	}
	if g.Worst > 0 {
		times += ", worst ≤ " + number(g.Worst)
	}
	if g.Times > 0 {
		faster = fmt.Sprintf("≥ %s ×", number(g.Times))
	}
	return strings.Join(slices.DeleteFunc([]string{times, faster}, func(s string) bool { return s == "" }), ", ")
}

// number formats a figure with its significant digits.
func number(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.995:
		return fmt.Sprintf("%.2f", x)
	case x < 9.95:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	}
	digits := fmt.Sprintf("%.0f", x)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func mark(goal string, met bool) string {
	switch {
	case goal == "":
		return ""
	case met:
		return "met"
	}
	return "MISSED"
}

// Print writes the tables.
func (r *Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s on %d processors, %s UTC, seed %d, load %s at first, %s at last, %s in all\n", r.System, r.CPUs,
		r.Began.Format("2006-01-02 15:04"), r.Seed, r.Load[0], r.Load[1], (time.Duration(r.Seconds) * time.Second).String())
	for _, f := range r.Filled {
		fmt.Fprintf(w, "store of %s messages in %s chats: %s MB, %s bytes a message", number(float64(f.Messages)), number(float64(f.Chats)),
			number(float64(f.Bytes)/1e6), number(float64(f.Bytes)/float64(f.Messages)))
		if f.Seconds > 0 {
			fmt.Fprintf(w, "; written in %s s, indexed %s s later", number(f.Seconds), number(f.Indexing))
		}
		fmt.Fprintln(w)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	r.printTimings(table)
	r.printValues(table)
	err := table.Flush()
	if r.Media != "" {
		fmt.Fprintf(w, "\nmedia: %s", r.Media)
	}
	return err
}

func (r *Report) printTimings(w io.Writer) {
	if len(r.Timings) > 0 {
		beside := "plain"
		if r.Against != "" {
			beside = "other"
		}
		fmt.Fprintf(w, "\n\tmessages\tp50 ms\tp90 ms\tp99 ms\tworst\t%[1]s p50\t%[1]s p99\ttimes\tgoal\t\n", beside)
	}
	for _, t := range r.Timings {
		plain := "\t\t"
		if t.PlainP50 > 0 {
			plain = number(t.PlainP50) + "\t" + number(t.PlainP99) + "\t" + number(t.Times)
		}
		fmt.Fprintf(w, "%s: %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Part, t.Name, number(float64(t.Messages)),
			number(t.P50), number(t.P90), number(t.P99), number(t.Worst), plain, t.Goal, mark(t.Goal.String(), t.Met))
	}
}

func (r *Report) printValues(w io.Writer) {
	if len(r.Values) > 0 {
		fmt.Fprint(w, "\n\tmessages\tfigure\tunit\tgoal\t\n")
	}
	for _, v := range r.Values {
		messages := ""
		if v.Messages > 0 {
			messages = number(float64(v.Messages))
		}
		fmt.Fprintf(w, "%s: %s\t%s\t%s\t%s\t%s\t%s\n", v.Part, v.Name, messages, number(v.Value), v.Unit, v.Goal, mark(v.Goal, v.Met))
	}
}
