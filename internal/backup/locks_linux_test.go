package backup

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// locks counts the locks that this process holds on its store, as Linux lists them.
func (d dataDir) locks() int {
	d.t.Helper()
	info, err := os.Stat(d.file(storeName))
	d.do(err)
	table, err := os.ReadFile("/proc/locks")
	d.do(err)
	return strings.Count(string(table), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino))
}
