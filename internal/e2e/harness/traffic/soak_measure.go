package traffic

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "bridged/internal/e2e/harness"
)

// soakMeasures lists the measures in the order of the table.
var soakMeasures = []string{
	"goroutines", "descriptors", "threads",
	"resident MB", "anonymous, Go's heap and stacks MB", "anonymous, all else MB", "of files MB",
	"heap in use MB", "heap target MB", "heap free, not given back MB", "stacks MB", "Go's bookkeeping MB",
	"data directory MB", "of it media MB",
}

const megabyte = 1e6

// soakSample is one measurement.
type soakSample struct {
	at     time.Time
	values map[string]float64
}

// SoakLife is one measured life of the program.
type SoakLife struct {
	began   time.Time
	samples []soakSample
	atRest  soakSample
}

// Begin begins a new life: earlier samples belong to another process.
func (l *SoakLife) Begin() { *l = SoakLife{began: time.Now()} }

func (l *SoakLife) Measure(ctx context.Context, t testing.TB, p *Process) {
	values, err := measured(p, ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		t.Errorf("measure the program: %v", err)
	default:
		l.samples = append(l.samples, soakSample{time.Now(), values})
	}
}

// Rest measures the program once it is idle.
func (l *SoakLife) Rest(ctx context.Context, p *Process, pause time.Duration) {
	if Pause(ctx, pause) != nil {
		return
	}
	if values, err := measured(p, ctx); err == nil {
		l.atRest = soakSample{time.Now(), values}
	}
}

// measured collects the program's and the system's figures.
func measured(p *Process, ctx context.Context) (map[string]float64, error) {
	values := map[string]float64{}
	if err := errors.Join(measureRuntime(p, ctx, values), measureMemory(p, ctx, values), measureFiles(p, ctx, values)); err != nil {
		return nil, err
	}
	return values, nil
}

// measureRuntime reads the program's own metrics.
func measureRuntime(p *Process, ctx context.Context, values map[string]float64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+TestToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	told := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			told[name] = number
		}
	}
	const of = "go_memstats_"
	values["goroutines"] = told["go_goroutines"]
	values["heap in use MB"] = told[of+"heap_inuse_bytes"] / megabyte
	values["heap target MB"] = told[of+"next_gc_bytes"] / megabyte
	values["heap free, not given back MB"] = (told[of+"heap_idle_bytes"] - told[of+"heap_released_bytes"]) / megabyte
	values["stacks MB"] = told[of+"stack_inuse_bytes"] / megabyte
	for _, part := range []string{"mspan_sys_bytes", "mcache_sys_bytes", "buck_hash_sys_bytes", "gc_sys_bytes", "other_sys_bytes"} {
		values["Go's bookkeeping MB"] += told[of+part] / megabyte
	}
	return lines.Err()
}

// measureMemory reads the system's figures of the program's memory. Go's heap has a
// region of its own, far below the mappings that the system places, which include
// SQLite's memory.
func measureMemory(p *Process, _ context.Context, values map[string]float64) error {
	maps, err := os.ReadFile(proc(p, "smaps"))
	if err != nil {
		return err
	}
	kind := ""
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if from, _, isMapping := strings.Cut(fields[0], "-"); isMapping && len(fields) >= 5 {
			kind = mappingKind(from, fields)
			continue
		}
		if fields[0] == "Rss:" {
			kilobytes, err := strconv.Atoi(fields[1])
			if err != nil {
				return err
			}
			values[kind] += float64(kilobytes) * 1024 / megabyte
			values["resident MB"] += float64(kilobytes) * 1024 / megabyte
		}
	}
	return nil
}

// mappingKind returns the category of a mapping in /proc/PID/smaps.
func mappingKind(from string, fields []string) string {
	const goRegion, systemRegion = 1 << 32, 0x7000_0000_0000
	address, err := strconv.ParseUint(from, 16, 64)
	switch {
	case len(fields) > 5 && strings.HasPrefix(fields[5], "/"):
		return "of files MB"
	case err == nil && address > goRegion && address < systemRegion:
		return "anonymous, Go's heap and stacks MB"
	}
	return "anonymous, all else MB"
}

// measureFiles counts open descriptors and files on the disk.
func measureFiles(p *Process, _ context.Context, values map[string]float64) error {
	for name, of := range map[string]string{"fd": "descriptors", "task": "threads"} {
		list, err := os.ReadDir(proc(p, name))
		if err != nil {
			return err
		}
		values[of] = float64(len(list))
	}
	return filepath.WalkDir(p.Env["DATA_DIR"], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err != nil {
			return ignoreGone(err)
		}
		values["data directory MB"] += float64(info.Size()) / megabyte
		if filepath.Base(filepath.Dir(path)) == "media" {
			values["of it media MB"] += float64(info.Size()) / megabyte
		}
		return nil
	})
}

// ignoreGone returns nil for files that are removed while they are counted.
func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func proc(p *Process, name string) string {
	return fmt.Sprintf("/proc/%d/%s", p.Cmd.Process.Pid, name)
}
