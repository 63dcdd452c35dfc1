package api_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/longtest"
)

// TestMain fails a whole run in which a documented answer was never given:
// what the document promises has to be shown.
func TestMain(m *testing.M) {
	longtest.AtOnce(6)
	debug.SetGCPercent(400) // the tests hold little and allocate much, but for the hostile bodies
	debug.SetMemoryLimit(400 << 20)
	code := m.Run()
	if code == 0 && whole() {
		unseen, err := apitest.Unseen()
		if err != nil || len(unseen) > 0 {
			fmt.Println("documented, but never answered in a test:", err)
			for _, answer := range unseen {
				fmt.Println("  " + answer)
			}
			code = 1
		}
	}
	os.Exit(code)
}

// whole reports whether nothing was left out of the run.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}
