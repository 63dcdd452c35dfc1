package bench

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// unreached fails the test if a bridge is started.
func unreached(t *testing.T) Start {
	return func(context.Context, []string, io.Writer) (Bridge, error) {
		t.Error("a bridge was started")
		return nil, errors.New("started")
	}
}

func TestRun_RefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	valid := Options{Messages: 1000, Chats: 1, Requests: 1, FileSize: 1, Members: []int{1}, Bridges: 1}
	few, unknown := valid, valid
	few.Messages, unknown.Only = 10, []string{"everything"}
	for _, options := range []Options{few, unknown} {
		err := Run(t.Context(), options, unreached(t), Streams{Stdout: io.Discard, Stderr: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "bench: --") {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

func TestRun_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	options := Options{Messages: 1000, Chats: 1, Requests: 1, FileSize: 1, Members: []int{1}, Bridges: 1, Only: []string{"search"}}
	err := Run(ctx, options, unreached(t), Streams{Stdout: io.Discard, Stderr: io.Discard})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// A message depends on the seed and its number alone, so that a store whose
// filling was interrupted can be completed.
func TestCorpus_IsTheSameAgain(t *testing.T) {
	t.Parallel()
	one, other := newCorpus(7, 5000, 100), newCorpus(7, 5000, 100)
	for i := range 50 {
		other.facts(i)
	}
	if diff := cmp.Diff(one.facts(4321), other.facts(4321)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(one.facts(1), newCorpus(8, 5000, 100).facts(1)) {
		t.Error("another seed makes the same message")
	}
	if one.facts(1)[0].(bridge.Message).ID == one.facts(2)[0].(bridge.Message).ID {
		t.Error("two messages have the same id")
	}
}

func TestCorpus_IsLikeAnAccount(t *testing.T) {
	t.Parallel()
	const n = 20_000
	c := newCorpus(1, n, 2000)
	sizes, files, text := map[bridge.JID]int{}, 0, strings.Builder{}
	for i := range n {
		m := c.facts(i)[0].(bridge.Message)
		sizes[m.Chat]++
		text.WriteString(m.Content)
		if m.Media != nil {
			files++
		}
	}
	if share := float64(sizes[c.chats[0].jid]) / n; share < 0.036 || share > 0.048 {
		t.Errorf("the largest chat has %.1f %% of the messages, want about 4.2", 100*share)
	}
	if share := float64(files) / n; share < 0.06 || share > 0.1 {
		t.Errorf("%.1f %% of the messages have files, want about 8", 100*share)
	}
	for _, letters := range []string{"Straße", "İ", "ς", "й", "ال", "ש", "क", "ท", "の", "谢", "안녕", "😂"} {
		if !strings.Contains(text.String(), letters) {
			t.Errorf("no message has %q", letters)
		}
	}
}

func TestPlotGrowth_LabelsDoNotOverlap(t *testing.T) {
	t.Parallel()
	var curves []curve
	for i := range 10 {
		curves = append(curves, curve{Growth: Growth{Sizes: []int{10, 1000}, Values: []float64{1, 2 + float64(i)/100}}})
	}
	_, y := plotAxes(curves)
	placeLabels(curves, y)
	for i, c := range curves {
		if c.label > plotBottom || c.label < plotTop || i > 0 && c.label-curves[i-1].label < plotLine-0.001 {
			t.Errorf("label %d stands at %v", i, c.label)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	got := []string{number(0), number(0.123), number(1), number(1.26), number(9.97), number(12.6), number(1234), number(5_000_000)}
	want := []string{"0", "0.12", "1", "1.3", "10", "13", "1,234", "5,000,000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
