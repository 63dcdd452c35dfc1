package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The figures are taken by hand; this shows that they can be.
func TestBenchMedia_MeasuresEverything(t *testing.T) {
	program, err := exec.LookPath("bridged")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := benchMedia(within(t), &out, mediaBench{program: program, size: 1 << 20, rounds: 2, atOnce: 3}); err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{"bare cipher", "send, in memory", "send, through", "download, in memory", "first", "cached", "memory, 3 sends", "memory, 3 downloads"} {
		if !strings.Contains(out.String(), figure) {
			t.Errorf("no figure for %q in:\n%s", figure, &out)
		}
	}
}
