package backup

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// nights runs a schedule in the false time of a bubble, which begins at midnight of 1 January 2000 in UTC.
type nights struct {
	t testing.TB
	dataDir
	dir string
	o   ScheduleOptions
	off atomic.Int64 // by how much the clock is wrong

	mu     sync.Mutex
	failed []string // nights; guarded by mu
	log    bytes.Buffer
}

func newNights(t testing.TB, zone string) *nights {
	t.Helper()
	in, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	n := &nights{t: t, dataDir: newDataDir(t, "one"), dir: filepath.Join(t.TempDir(), "nights")}
	n.o = ScheduleOptions{
		Source: n.source(), Dir: n.dir, At: 2*time.Hour + 30*time.Minute, Retain: 7, Zone: in, Log: zerolog.New(&n.log),
		Now: func() time.Time { return time.Now().Add(time.Duration(n.off.Load())) },
		Failed: func(_ context.Context, night string, f bridge.BackupFailure) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.failed = append(n.failed, night+": "+f.Error)
		},
	}
	return n
}

// run runs the schedule until the returned function is called.
func (n *nights) run() (s *Schedule, stop func()) {
	s = NewSchedule(n.o)
	ctx, cancel := context.WithCancel(n.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	return s, func() {
		cancel()
		<-ended
	}
}

// jump sets the clock.
func (n *nights) jump(to time.Time) { n.off.Store(int64(time.Until(to))) }

func (n *nights) dates() (list []string) {
	n.t.Helper()
	for _, name := range names(n.t, n.dir) {
		list = append(list, strings.TrimSuffix(strings.TrimPrefix(name, "bridged-"), ".db"))
	}
	return list
}

func TestSchedule_MakesOneBackupANight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNights(t, "UTC")
		_, stop := n.run()
		time.Sleep(time.Second)
		same(t, "at the first start", n.dates(), []string{"2000-01-01T000000Z"})
		time.Sleep(3*24*time.Hour + 3*time.Hour)
		stop()
		same(t, "after three days", n.dates(), []string{
			"2000-01-01T000000Z", "2000-01-01T023000Z", "2000-01-02T023000Z", "2000-01-03T023000Z", "2000-01-04T023000Z",
		})
		// Restarts make no more, but a night that was missed is made up for.
		for range 3 {
			_, stop := n.run()
			time.Sleep(time.Minute)
			stop()
		}
		same(t, "after restarts", len(n.dates()), 5)
		time.Sleep(30 * time.Hour)
		_, stop = n.run()
		time.Sleep(time.Minute)
		stop()
		same(t, "after a night in which the bridge was off", n.dates()[5:], []string{"2000-01-05T090301Z"})
		n.o.Retain = 2
		time.Sleep(24 * time.Hour)
		_, stop = n.run()
		time.Sleep(time.Minute)
		stop()
		same(t, "with BACKUP_KEEP=2", len(n.dates()), 2)
	})
}

// TestSchedule_ClocksThatChange has nights in which 02:30 does not exist, or exists twice, and clocks
// that jump.
func TestSchedule_ClocksThatChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone  string
		at    time.Duration // since midnight; 0 is 02:30
		from  string
		hours int
		want  []string
	}{
		"spring in Berlin":   {"Europe/Berlin", 0, "2026-03-28T12:00:00Z", 48, []string{"2026-03-28T120000Z", "2026-03-29T013000Z", "2026-03-30T003000Z"}},
		"autumn in Berlin":   {"Europe/Berlin", 0, "2026-10-24T12:00:00Z", 48, []string{"2026-10-24T120000Z", "2026-10-25T013000Z", "2026-10-26T013000Z"}},
		"spring in New York": {"America/New_York", 0, "2026-03-07T12:00:00Z", 48, []string{"2026-03-07T120000Z", "2026-03-08T063000Z", "2026-03-09T063000Z"}},
		"half an hour":       {"Australia/Lord_Howe", 0, "2026-04-03T16:00:00Z", 49, []string{"2026-04-03T160000Z", "2026-04-04T160000Z", "2026-04-05T160000Z"}},
		"no midnight":        {"America/Havana", 30 * time.Minute, "2026-03-06T12:00:00Z", 70, []string{"2026-03-06T120000Z", "2026-03-07T053000Z", "2026-03-08T053000Z", "2026-03-09T043000Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNights(t, c.zone)
				n.o.At = cmp.Or(c.at, n.o.At)
				from, err := time.Parse(time.RFC3339, c.from)
				n.do(err)
				n.jump(from)
				_, stop := n.run()
				time.Sleep(time.Duration(c.hours) * time.Hour)
				stop()
				same(t, "backups", n.dates(), c.want)
			})
		})
	}
	for name, c := range map[string]struct {
		jump time.Duration
		want int // backups within two days, with the first
	}{
		"an hour back":    {-time.Hour, 3},
		"an hour ahead":   {time.Hour, 3},
		"ten years ahead": {10 * 365 * 24 * time.Hour, 4}, // one is of the wrong year
		"a year back":     {-365 * 24 * time.Hour, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNights(t, "UTC")
				_, stop := n.run()
				time.Sleep(2*time.Hour + 31*time.Minute) // one minute after the backup
				n.off.Store(int64(c.jump))
				time.Sleep(2 * time.Hour)
				n.off.Store(0)
				time.Sleep(24 * time.Hour)
				stop()
				same(t, "backups", len(n.dates()), c.want)
			})
		})
	}
}

func TestSchedule_TriesAgainAndReportsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNights(t, "UTC")
		n.o.Dir = filepath.Join(n.file("missing"), "nights")
		s, stop := n.run()
		time.Sleep(5*time.Hour + 10*time.Minute)
		state := s.State()
		if state.Error == nil || !strings.Contains(*state.Error, "BACKUP_DIR cannot be used") || state.FailedAt == nil || state.LastAt != nil || time.Until(state.NextAt.Time) > retryPause {
			t.Errorf("the state: %+v", state)
		}
		if len(n.failed) != 2 || !strings.HasPrefix(n.failed[0], "1999-12-31: ") || !strings.HasPrefix(n.failed[1], "2000-01-01: ") {
			t.Errorf("reported %q", n.failed)
		}
		n.do(os.Mkdir(n.file("missing"), 0o700))
		time.Sleep(retryPause + time.Minute)
		state = s.State()
		if state.Error != nil || state.FailedAt != nil || state.LastAt == nil || *state.LastBytes == 0 {
			t.Errorf("the state after the directory is there: %+v", state)
		}
		stop()
		values := map[string]float64{}
		registry := prometheus.NewRegistry()
		registry.MustRegister(s.Metrics()...)
		families, err := registry.Gather()
		n.do(err)
		for _, family := range families {
			values[family.GetName()] = family.GetMetric()[0].GetGauge().GetValue() + family.GetMetric()[0].GetCounter().GetValue()
		}
		if values["bridged_backup_failures_total"] != 11 || values["bridged_backup_last_success_timestamp_seconds"] != float64(state.LastAt.Unix()) || values["bridged_backup_size_bytes"] != float64(*state.LastBytes) {
			t.Errorf("the metrics: %v", values)
		}
		if !strings.Contains(n.log.String(), "backup failed; older backups stay") || !strings.Contains(n.log.String(), "backup made and read back") {
			t.Errorf("the log:\n%s", &n.log)
		}
	})
}

// TestSchedule_ADamagedStoreReplacesNoBackup: nights of bad copies must not push the good ones out.
func TestSchedule_ADamagedStoreReplacesNoBackup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNights(t, "UTC")
		n.o.Retain = 1
		_, stop := n.run()
		time.Sleep(time.Minute)
		before := n.dates()
		n.do(os.Truncate(n.file(storeName), 6*4096))
		time.Sleep(3 * 24 * time.Hour)
		stop()
		same(t, "backups", n.dates(), before)
		if len(n.failed) != 3 {
			t.Errorf("reported %q", n.failed)
		}
	})
}
