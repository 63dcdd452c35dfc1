package bench

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
)

// machine tells what its processors did, as if others took a share of them at
// each reading.
type machine struct {
	others []float64 // between readings; the last one stays
	now    usage
}

func (m *machine) read() (usage, error) {
	const step = 1000
	m.now.all += step
	m.now.ours += step / 10
	m.now.busy += step/10 + uint64(step*m.others[0])
	if len(m.others) > 1 {
		m.others = m.others[1:]
	}
	return m.now, nil
}

// measured runs a part on a machine, and returns how often, and the bench.
func measured(t *testing.T, m *machine, options Options) (times int, b *bench, err error) {
	t.Helper()
	b = &bench{command: options, streams: Streams{Stderr: io.Discard}, usage: m.read}
	one := part{name: "one", measure: func(b *bench, _ context.Context) error {
		times++
		b.report.value(Value{Part: "one", Name: "figure", Value: float64(times)})
		return nil
	}}
	err = errors.Join(b.measureQuietly(t.Context(), one), b.validity())
	return times, b, err
}

func TestQuiet_MeasuresAgainWhatOthersDisturbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Readings: two before each try, two around it.
		times, b, err := measured(t, &machine{others: []float64{0, 0, 0, 0.5, 0, 0, 0, 0}}, Options{})
		if err != nil || times != 2 {
			t.Errorf("measured %d times: %v; want twice", times, err)
		}
		if len(b.report.Values) != 1 || b.report.Values[0].Value != 2 {
			t.Errorf("reported %+v, want the second figure alone", b.report.Values)
		}
	})
}

func TestQuiet_RefusesTheFiguresOfABusyMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		times, b, err := measured(t, &machine{others: []float64{0.5}}, Options{})
		if !errors.Is(err, errBusy) || times != tries {
			t.Errorf("measured %d times: %v; want %d times, and %v", times, err, tries, errBusy)
		}
		if q := b.report.Quiet; len(q) != 1 || q[0].Valid || q[0].Tries != tries {
			t.Errorf("reported %+v", q)
		}
	})
}

func TestQuiet_TakesThemWhereAskedTo(t *testing.T) {
	times, b, err := measured(t, &machine{others: []float64{0.5}}, Options{Busy: true})
	if err != nil || times != 1 {
		t.Errorf("measured %d times: %v; want once", times, err)
	}
	if q := b.report.Quiet; len(q) != 1 || q[0].Valid {
		t.Errorf("reported %+v, want it marked", q)
	}
}
