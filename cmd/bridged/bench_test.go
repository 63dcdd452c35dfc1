package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// TestBench runs the search, the pages and growth on stores of a thousand
// messages: what they measure is not looked at, that they do is.
func TestBench(t *testing.T) {
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "growth.svg")
	var report benchReport
	if err := json.Unmarshal(benchOutput(t, "--only", "search,pages,growth", "--sizes", "1000", "--plot", plot, "--json"), &report); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, timing := range report.Timings {
		names[timing.Part+": "+timing.Name] = true
		if timing.P50 <= 0 || timing.P99 < timing.P50 || timing.Messages != 1000 {
			t.Errorf("impossible: %+v", timing)
		}
	}
	for _, want := range []string{
		"search: rare word", "search: absent, unusual letters", "search: in Turkish", "largest chat: rare word",
		"one chat: newest 1,000", "one chat: 100 behind nine tenths, by offset", "chats: with a name", "media: media-info",
	} {
		if !names[want] {
			t.Errorf("%q was not measured", want)
		}
	}
	for _, want := range []string{"rare word, scan", "memory, idle", "start to first /healthz"} {
		if !slices.ContainsFunc(report.Growth, func(g benchGrowth) bool { return g.Name == want && g.at(1000) > 0 }) {
			t.Errorf("growth does not tell %q: %+v", want, report.Growth)
		}
	}
	wellFormed(t, plot)
	var table bytes.Buffer
	if err := report.print(&table); err != nil || !strings.Contains(table.String(), "growth, messages:") {
		t.Errorf("the table: %v\n%s", err, table.String())
	}
}

func wellFormed(t *testing.T, picture string) {
	t.Helper()
	file, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parser := xml.NewDecoder(file)
	for {
		if _, err := parser.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestBench_Ingest has messages come in to the bridge and to a plain client.
func TestBench_Ingest(t *testing.T) {
	t.Parallel()
	var report benchReport
	if err := json.Unmarshal(benchOutput(t, "--only", "ingest", "--json"), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Values) != 14 {
		t.Errorf("measured: %+v", report.Values)
	}
	for _, value := range report.Values {
		if value.Value <= 0 {
			t.Errorf("impossible: %+v", value)
		}
	}
}

// benchOutput runs a small benchmark and answers what it prints.
func benchOutput(t *testing.T, args ...string) []byte {
	t.Helper()
	program := must(exec.LookPath("bridged"))(t)
	var out, complaints bytes.Buffer
	args = append([]string{"bench", "--messages", "1000", "--chats", "20", "--requests", "6", "--period", "200ms"}, args...)
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("bridged %s: %v\n%s", strings.Join(args, " "), err, complaints.Bytes())
	}
	return out.Bytes()
}

func TestBench_RefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"bench", "--messages", "10"}, {"bench", "--only", "everything"}} {
		var out, complaints bytes.Buffer
		if code := run(t.Context(), args, nil, &out, &complaints); code != exitFailure || !strings.Contains(complaints.String(), "bench: --") {
			t.Errorf("%v: code %d, %q", args, code, complaints.String())
		}
	}
}

func TestBench_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, complaints bytes.Buffer
	code := run(ctx, []string{"bench", "--messages", "1000", "--only", "search"}, nil, &out, &complaints)
	if code != exitFailure || !strings.Contains(complaints.String(), context.Canceled.Error()) {
		t.Errorf("code %d, %q", code, complaints.String())
	}
}

// A message depends on the seed and its number alone, so that a store whose
// filling was interrupted can be completed.
func TestBenchCorpus_IsTheSameAgain(t *testing.T) {
	t.Parallel()
	one, other := newBenchCorpus(7, 5000, 100), newBenchCorpus(7, 5000, 100)
	for i := range 50 {
		other.facts(i)
	}
	if diff := cmp.Diff(one.facts(4321), other.facts(4321)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(one.facts(1), newBenchCorpus(8, 5000, 100).facts(1)) {
		t.Error("another seed makes the same message")
	}
	if one.facts(1)[0].(bridge.Message).ID == one.facts(2)[0].(bridge.Message).ID {
		t.Error("two messages have the same id")
	}
}

func TestBenchCorpus_IsLikeAnAccount(t *testing.T) {
	t.Parallel()
	const n = 20_000
	c := newBenchCorpus(1, n, 2000)
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
		curves = append(curves, curve{benchGrowth: benchGrowth{Sizes: []int{10, 1000}, Values: []float64{1, 2 + float64(i)/100}}})
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
