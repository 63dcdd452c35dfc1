package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

const (
	// lookPause is how often the time is compared with the schedule, so that a clock that is set, or a
	// machine that slept, delays a backup by no more.
	lookPause = time.Minute
	// retryPause is the pause after a failure.
	retryPause = 30 * time.Minute
	// clockError is how far in the future the date of a backup may be. A later one was made while the clock
	// was wrong, and does not count.
	clockError = time.Hour
)

// ScheduleOptions configures a [Schedule].
type ScheduleOptions struct {
	Source Source
	Dir    string
	At     time.Duration // since midnight
	Retain int           // 0 removes none
	Zone   *time.Location
	Now    func() time.Time
	// Failed is called at the first failure in a night, which is named by its date.
	Failed func(ctx context.Context, night string, f bridge.BackupFailure)
	Log    zerolog.Logger
}

// Schedule makes a backup every night. If the program was off at that time, it makes it at the start.
type Schedule struct {
	o        ScheduleOptions
	failures prometheus.Counter

	mu       sync.Mutex // guards the fields from here on
	last     Dated
	failed   time.Time // of the last try; zero if it succeeded
	err      error
	done     string // the last night whose backup was made by this process
	reported string // the last night whose failure was reported
}

// NewSchedule returns a schedule that does nothing until [Schedule.Run] is called.
func NewSchedule(o ScheduleOptions) *Schedule {
	o.Source.IsOpen = true
	return &Schedule{o: o, failures: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "bridged_backup_failures_total", Help: "Backups of BACKUP_DIR that failed. A failed one is tried again every 30 minutes.",
	})}
}

// Run makes backups until ctx ends.
func (s *Schedule) Run(ctx context.Context) {
	var tried time.Time
	for again := true; again; again = bridge.Sleep(ctx, s.pause()) {
		if !tried.IsZero() && time.Since(tried) < retryPause {
			continue
		}
		tried = time.Time{}
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			tried = time.Now()
		}
	}
}

// pause returns the time until the next look.
func (s *Schedule) pause() time.Duration {
	now := s.o.Now()
	return min(lookPause, max(s.next(now).Sub(now), time.Second))
}

// next returns when the next backup is due.
func (s *Schedule) next(now time.Time) time.Time { return s.onDay(s.night(now), 1) }

// night returns the last time at which a backup was due. A day whose clock is changed has one such time,
// too: time.Date returns one, whether there are two or none.
func (s *Schedule) night(now time.Time) time.Time {
	now = now.In(s.o.Zone)
	at := s.onDay(now, 0)
	if at.After(now) {
		at = s.onDay(now, -1)
	}
	return at
}

// onDay returns the time of the backup so many days after a time.
func (s *Schedule) onDay(now time.Time, days int) time.Time {
	at := time.Date(now.Year(), now.Month(), now.Day()+days, 0, int(s.o.At/time.Minute), 0, 0, s.o.Zone)
	noon := time.Date(now.Year(), now.Month(), now.Day()+days, 12, 0, 0, 0, s.o.Zone)
	if at.Day() != noon.Day() { // zones that skip midnight
		at = at.Add(time.Hour)
	}
	return at
}

// look makes a backup if it is due.
func (s *Schedule) look(ctx context.Context) error {
	now := s.o.Now()
	night := s.night(now)
	date := night.Format(time.DateOnly)
	due, err := s.isDue(now, night, date)
	if err == nil && !due {
		return nil
	}
	began := time.Now()
	var r Report
	if err == nil {
		r, err = ToDirectory(ctx, s.o.Source, s.o.Dir, s.o.Retain, now)
	}
	if err != nil {
		return s.fail(ctx, date, now, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = Dated{At: now, Bytes: r.Bytes, Format: r.Format}
	s.failed, s.err, s.done = time.Time{}, nil, date
	s.o.Log.Info().Str("file", r.File).Int64("bytes", r.Bytes).Int64("messages", r.Messages).Int64("missing_files", r.MissingFiles).
		Strs("removed", r.Removed).Dur("took_ms", time.Since(began)).Msg("backup made and read back")
	return nil
}

// isDue reports whether the last night has no backup yet. It creates the directory if its parent exists,
// and reads it once a night.
func (s *Schedule) isDue(now, night time.Time, date string) (bool, error) {
	s.mu.Lock()
	isDone := s.done == date
	s.mu.Unlock()
	if isDone {
		return false, nil
	}
	list, err := List(s.o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Mkdir(s.o.Dir, 0o700)
	}
	if err != nil {
		return false, fmt.Errorf("BACKUP_DIR cannot be used: %w (create it, give it to the user of this process, or correct BACKUP_DIR)", err)
	}
	var last Dated
	for _, d := range list {
		if d.Format == s.o.Source.format() && !d.At.After(now.Add(clockError)) {
			last = d
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = last
	if last.At.Before(night) {
		return true, nil
	}
	if s.done = date; last.At.After(s.failed) { // made by an operator
		s.failed, s.err = time.Time{}, nil
	}
	return false, nil
}

// fail records a failure.
func (s *Schedule) fail(ctx context.Context, night string, now time.Time, err error) error {
	if ctx.Err() != nil { // the program ends; the next start makes the backup
		return err
	}
	s.failures.Inc()
	s.mu.Lock()
	s.failed, s.err = now, err
	isFirst := s.reported != night
	s.reported = night
	failure := bridge.BackupFailure{Error: err.Error(), LastAt: s.last.time()}
	s.mu.Unlock()
	s.o.Log.Error().Err(err).Dur("retry_in", retryPause).Msg("backup failed; older backups stay")
	if isFirst {
		s.o.Failed(ctx, night, failure)
	}
	return err
}

// time returns when a backup was made, nil if none.
func (d Dated) time() *bridge.Time {
	if d.At.IsZero() {
		return nil
	}
	at := bridge.At(d.At)
	return &at
}

// State returns the state for callers of the API.
func (s *Schedule) State() *bridge.Backups {
	now := s.o.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	state := &bridge.Backups{LastAt: s.last.time(), NextAt: bridge.At(s.next(now))}
	if state.LastAt != nil {
		state.LastBytes = &s.last.Bytes
	}
	if s.err != nil {
		sentence, failed := s.err.Error(), bridge.At(s.failed)
		state.Error, state.FailedAt = &sentence, &failed
		state.NextAt = bridge.At(s.failed.Add(retryPause))
	}
	return state
}

// Metrics returns the collectors of /metrics.
func (s *Schedule) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.failures, (*lastBackup)(s)}
}

// lastBackup collects the metrics of the newest backup.
type lastBackup Schedule

var (
	lastDesc = prometheus.NewDesc("bridged_backup_last_success_timestamp_seconds", "When the newest backup in BACKUP_DIR was made; missing without one.", nil, nil)
	sizeDesc = prometheus.NewDesc("bridged_backup_size_bytes", "Size of the newest backup in BACKUP_DIR; missing without one.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *lastBackup) Describe(descs chan<- *prometheus.Desc) {
	descs <- lastDesc
	descs <- sizeDesc
}

// Collect implements prometheus.Collector.
func (s *lastBackup) Collect(metrics chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.At.IsZero() {
		metrics <- prometheus.MustNewConstMetric(lastDesc, prometheus.GaugeValue, float64(s.last.At.Unix()))
		metrics <- prometheus.MustNewConstMetric(sizeDesc, prometheus.GaugeValue, float64(s.last.Bytes))
	}
}
