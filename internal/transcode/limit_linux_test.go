package transcode

import (
	"fmt"
	"strings"
	"testing"
)

func TestConverter_ProcessesAreLimited(t *testing.T) {
	t.Setenv("BRIDGE_TOKEN", "secret")
	c := fake(t, `{ ulimit -t; ulimit -f; ulimit -d; ulimit -n; ulimit -c; nice; export; } > "$out"`)
	out := empty(t)
	if err := c.Video(t.Context(), "in", out); err != nil {
		t.Fatal(err)
	}
	got := string(read(t, out))
	want := fmt.Sprintf("601\n%d\n%d\n%d\n0\n%d\n", (c.options.MaxBytes+fileMargin)/512, maxMemory>>10, maxFiles, niceness)
	if !strings.HasPrefix(got, want) || strings.Contains(got, "secret") || strings.Contains(got, "HOME") {
		t.Errorf("the process has\n%swant\n%s", got, want)
	}
}
