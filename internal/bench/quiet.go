package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// tries is how often a part is measured at most, until the machine was
	// quiet meanwhile.
	tries = 3
	// busyShare is the share of the machine that other programs may take while
	// a part is measured.
	busyShare = 0.1
	// quietFor is how long other programs must have been quiet before a part
	// begins, and awaitQuiet is how long that is waited for.
	quietFor   = 2 * time.Second
	awaitQuiet = time.Minute
)

// errBusy is why figures do not count.
var errBusy = errors.New("the machine was busy with other programs; run it again when it is quiet, or with --busy to have the figures anyway")

// Quiet is what other programs took of the machine while a part was measured.
type Quiet struct {
	Part   string  `json:"part"`
	Others float64 `json:"others"` // the share of all processors, from 0 to 1
	Tries  int     `json:"tries"`
	Valid  bool    `json:"valid"`
}

// usage is what processors have done since the system's start, in ticks of the
// kernel.
type usage struct {
	all  uint64 // what they could have done
	busy uint64 // for any program, or taken by the host of a virtual machine
	ours uint64 // for this process, and for children that have ended
}

// readUsage reads it. Interrupts count as nobody's: traffic on loopback makes
// them.
func readUsage() (u usage, err error) {
	system, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u, err
	}
	line, _, _ := strings.Cut(string(system), "\n")
	ticks, err := numbers(strings.Fields(line)[1:])
	if err != nil || len(ticks) < 8 {
		return u, fmt.Errorf("/proc/stat has another form: %w", err)
	}
	user, nice, kernel, steal := ticks[0], ticks[1], ticks[2], ticks[7]
	for _, n := range ticks[:8] {
		u.all += n
	}
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return u, err
	}
	// The name, which may hold anything, ends with the last parenthesis; the
	// times are fields 14 to 17 of proc(5).
	fields := strings.Fields(string(own[bytes.LastIndexByte(own, ')')+1:]))
	if len(fields) < 15 {
		return u, errors.New("/proc/self/stat has another form")
	}
	times, err := numbers(fields[11:15])
	for _, n := range times {
		u.ours += n
	}
	u.busy = user + nice + kernel + steal
	return u, err
}

func numbers(fields []string) ([]uint64, error) {
	list := make([]uint64, len(fields))
	for i, field := range fields {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, nil
}

// othersSince returns the share of all processors that other programs, and the
// host of a virtual machine, took since then.
func (u usage) othersSince(then usage) float64 {
	all, busy, ours := u.all-then.all, u.busy-then.busy, u.ours-then.ours
	if all == 0 || busy < ours {
		return 0
	}
	return float64(busy-ours) / float64(all)
}

// measureQuietly measures a part, again if other programs were busy meanwhile.
// Where the system does not tell, the part counts.
func (b *bench) measureQuietly(ctx context.Context, part part) error {
	for try := 1; ; try++ {
		if err := b.waitQuiet(ctx); err != nil {
			return err
		}
		saved := b.report.clone()
		before, untold := b.usage()
		if err := part.measure(b, ctx); err != nil {
			return err
		}
		after, err := b.usage()
		if errors.Join(untold, err) != nil {
			return nil
		}
		q := Quiet{Part: part.name, Others: after.othersSince(before), Tries: try}
		q.Valid = q.Others <= busyShare
		if q.Valid || try == tries || b.command.Busy {
			b.report.Quiet = append(b.report.Quiet, q)
			return nil
		}
		fmt.Fprintf(b.streams.Stderr, "%s: other programs took %.0f %% of the machine: measured again\n", part.name, 100*q.Others)
		b.report = saved
	}
}

// waitQuiet waits until other programs are quiet, or until that has taken too
// long.
func (b *bench) waitQuiet(ctx context.Context) error {
	if b.command.Busy {
		return nil
	}
	for began := time.Now(); time.Since(began) < awaitQuiet; {
		before, err := b.usage()
		if err != nil {
			return nil // the system does not tell
		}
		if err := wait(ctx, quietFor); err != nil {
			return err
		}
		if after, err := b.usage(); err != nil || after.othersSince(before) <= busyShare {
			return nil
		}
		fmt.Fprintln(b.streams.Stderr, "waiting for a quiet machine …")
	}
	return nil
}

// validity returns nil if every part was measured on a quiet machine.
func (b *bench) validity() error {
	if b.command.Busy {
		return nil
	}
	for _, q := range b.report.Quiet {
		if !q.Valid {
			return fmt.Errorf("the figures of %s are not valid: %w", q.Part, errBusy)
		}
	}
	return nil
}
