package doctor

import (
	"fmt"
	"strings"
)

// String returns the report for people.
func (r Report) String() string {
	width := 0
	verdicts := map[Verdict]int{}
	for _, f := range r.Findings {
		width = max(width, len(f.Check))
		verdicts[f.Verdict]++
	}
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", f.Verdict, width, f.Check, f.Message)
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%*s→ %s\n", len("warn")+2+width+2, "", f.Remedy)
		}
	}
	fmt.Fprintf(&b, "\n%s, %s. To report a fault, copy all of this: it holds no token, no message and no whole phone number.\n",
		count(verdicts[Fail], "failure"), count(verdicts[Warn], "warning"))
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
