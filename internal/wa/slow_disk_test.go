package wa_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"
)

// slowDisks are the files whose commits take longer than they need, by path.
var slowDisks sync.Map

func init() {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, dsn string) error {
		path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
		conn.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
			if delay, slow := slowDisks.Load(path); slow {
				time.Sleep(delay.(time.Duration))
			}
			return 0
		})
		return nil
	})
}

// slowDisk makes every commit to a SQLite file take longer until the test ends.
func slowDisk(t testing.TB, path string, delay time.Duration) {
	t.Helper()
	slowDisks.Store(path, delay)
	t.Cleanup(func() { slowDisks.Delete(path) })
}
