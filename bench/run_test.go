package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"bridged/internal/e2e/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// program returns the executable that the tests measure.
func program() string { return harness.Bridged().Path }

// measured runs a small benchmark and returns its report. The tests check that
// figures exist, not their values.
func measured(t *testing.T, args ...string) Report {
	t.Helper()
	args = append([]string{"--program", program(), "--messages", "1000", "--chats", "20", "--requests", "3", "--period", "200ms", "--json"}, args...)
	o, err := readOptions(args)
	if err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	if err := run(t.Context(), o, &out, &notes); err != nil {
		t.Fatalf("bench %s: %v\n%s", strings.Join(args, " "), err, notes.Bytes())
	}
	var report Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	for _, value := range report.Values {
		if value.Value <= 0 && value.Unit != "searches" {
			t.Errorf("impossible: %+v", value)
		}
	}
	return report
}

func TestRun_SearchAndPages(t *testing.T) {
	t.Parallel()
	report := measured(t, "--only", "search,pages")
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
	var table bytes.Buffer
	if err := report.Print(&table); err != nil || !strings.Contains(table.String(), "plain p50") {
		t.Errorf("the table: %v\n%s", err, table.String())
	}
}

func TestRun_Ingest(t *testing.T) {
	t.Parallel()
	if report := measured(t, "--only", "ingest"); len(report.Values) != 14 {
		t.Errorf("measured: %+v", report.Values)
	}
}

// The same program as the other build answers the same requests.
func TestRun_AgainstAnotherBuild(t *testing.T) {
	t.Parallel()
	report := measured(t, "--against", program(), "--only", "pages,ingest,send")
	if len(report.Values) != 14+4+1 { // and nothing from send
		t.Errorf("measured: %+v", report.Values)
	}
	for _, timing := range report.Timings {
		if timing.PlainP50 <= 0 {
			t.Errorf("the other build was not asked: %+v", timing)
		}
	}
}

func TestRun_Sends(t *testing.T) {
	t.Parallel()
	report := measured(t, "--only", "send", "--members", "10")
	if len(report.Timings) != 6 || len(report.Values) != 3 {
		t.Errorf("measured: %+v, %+v", report.Timings, report.Values)
	}
	for _, timing := range report.Timings {
		if timing.P50 <= 0 || timing.PlainP50 <= 0 {
			t.Errorf("impossible: %+v", timing)
		}
	}
}

func TestRun_Memory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the kernel has /proc on Linux only")
	}
	for _, part := range []string{"bridges", "footprint"} {
		if report := measured(t, "--only", part, "--bridges", "2"); len(report.Values) != 4 {
			t.Errorf("measured of %s: %+v", part, report.Values)
		}
	}
}

func TestRun_Media(t *testing.T) {
	t.Parallel()
	report := measured(t, "--only", "media", "--file-size", "1048576", "--requests", "120")
	for _, figure := range []string{"bare cipher", "send, in memory", "send, through", "download, in memory", "first", "cached", "memory, 8 sends", "memory, 8 downloads"} {
		if !strings.Contains(report.Media, figure) {
			t.Errorf("no figure for %q in:\n%s", figure, report.Media)
		}
	}
}

func TestReadOptions_RefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--messages", "10"}, {"--only", "everything"}, {"--bridges", "0"}, {"growth"}, {"--plot", "x"}} {
		if _, err := readOptions(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}

func TestRun_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, err := readOptions([]string{"--program", program(), "--messages", "1000", "--only", "search"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(ctx, o, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
