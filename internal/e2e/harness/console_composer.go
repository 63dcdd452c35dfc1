package harness

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// AtBothWidths runs a test on a desk and on a phone.
func AtBothWidths(t *testing.T, test func(t *testing.T, width int64)) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			test(t, width)
		})
	}
}

// Written writes files, and returns their paths.
func Written(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
