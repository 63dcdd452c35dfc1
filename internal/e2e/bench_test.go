package e2e

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bench"
)

// TestBench runs the search, the pages and growth on stores of a thousand
// messages: what they measure is not looked at, that they do is.
func TestBench(t *testing.T) {
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "growth.svg")
	var report bench.Report
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
		if !slices.ContainsFunc(report.Growth, func(g bench.Growth) bool { return g.Name == want && g.At(1000) > 0 }) {
			t.Errorf("growth does not tell %q: %+v", want, report.Growth)
		}
	}
	wellFormed(t, plot)
	var table bytes.Buffer
	if err := report.Print(&table); err != nil || !strings.Contains(table.String(), "growth, messages:") {
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

// TestBench_Ingest sends messages to the bridge and to a plain client.
func TestBench_Ingest(t *testing.T) {
	t.Parallel()
	var report bench.Report
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

// benchOutput runs a small benchmark and returns what it prints.
func benchOutput(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, complaints bytes.Buffer
	args = append([]string{"bench", "--messages", "1000", "--chats", "20", "--requests", "6", "--period", "200ms", "--busy"}, args...)
	cmd := exec.Command("bridged", args...)
	cmd.Env = []string{"TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("bridged %s: %v\n%s", strings.Join(args, " "), err, complaints.Bytes())
	}
	return out.Bytes()
}

// TestBench_Sends sends to one person and to groups, over the bridge and with a
// plain client.
func TestBench_Sends(t *testing.T) {
	t.Parallel()
	var report bench.Report
	if err := json.Unmarshal(benchOutput(t, "--only", "send", "--members", "10", "--json"), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Timings) != 6 || len(report.Values) != 3 {
		t.Errorf("measured: %+v, %+v", report.Timings, report.Values)
	}
	for _, timing := range report.Timings {
		if timing.P50 <= 0 || timing.PlainP50 <= 0 {
			t.Errorf("impossible: %+v", timing)
		}
	}
}

// TestBench_Bridges runs two bridges beside each other.
func TestBench_Bridges(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the kernel tells proportional sizes on Linux only")
	}
	_, url := natsCluster(t)
	var report bench.Report
	if err := json.Unmarshal(benchOutput(t, "--only", "bridges,fleet", "--bridges", "2", "--nats", url, "--json"), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Values) != 4+8 {
		t.Fatalf("measured: %+v", report.Values)
	}
	for _, value := range report.Values {
		if value.Value <= 0 {
			t.Errorf("impossible: %+v", value)
		}
	}
	if q := report.Quiet; len(q) != 2 || q[0].Part != "bridges" || q[1].Part != "fleet" {
		t.Errorf("what others took of the machine: %+v", q)
	}
}

// TestBench_Media sends and downloads small files: the figures are taken by
// hand, this shows that they can be.
func TestBench_Media(t *testing.T) {
	t.Parallel()
	var report bench.Report
	if err := json.Unmarshal(benchOutput(t, "--only", "media", "--file-size", "1048576", "--requests", "120", "--json"), &report); err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{"bare cipher", "send, in memory", "send, through", "download, in memory", "first", "cached", "memory, 8 sends", "memory, 8 downloads"} {
		if !strings.Contains(report.Media, figure) {
			t.Errorf("no figure for %q in:\n%s", figure, report.Media)
		}
	}
}
