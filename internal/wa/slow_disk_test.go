package wa_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"
)

// slowDisks maps the paths of files with slow commits to the delay, countedDisks
// those of files with counted commits to the counter.
var slowDisks, countedDisks sync.Map

func init() {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, dsn string) error {
		path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
		conn.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
			if delay, slow := slowDisks.Load(path); slow {
				time.Sleep(delay.(time.Duration))
			}
			if count, counted := countedDisks.Load(path); counted {
				count.(*atomic.Int64).Add(1)
			}
			return 0
		})
		return nil
	})
}

// slowDisk delays every commit to a SQLite file until the test ends.
func slowDisk(t testing.TB, path string, delay time.Duration) {
	t.Helper()
	slowDisks.Store(path, delay)
	t.Cleanup(func() { slowDisks.Delete(path) })
}

// countCommits counts the commits to a SQLite file from now on.
func countCommits(t testing.TB, path string) *atomic.Int64 {
	t.Helper()
	count := new(atomic.Int64)
	countedDisks.Store(path, count)
	t.Cleanup(func() { countedDisks.Delete(path) })
	return count
}
