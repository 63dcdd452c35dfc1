package fleet

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"bridged/internal/fleet/fleettest"
)

// shared is the cluster of all tests that break nothing of it.
var shared = sync.OnceValues(func() (*fleettest.Cluster, error) {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return nil, err
	}
	sharedDir = dir
	return fleettest.Start(dir, 3)
})

var sharedDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if sharedDir != "" {
		if cluster, err := shared(); err == nil {
			cluster.Stop()
		}
		if err := os.RemoveAll(sharedDir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// sharedCluster returns the cluster that no test may break. Tests keep apart by
// their prefixes.
func sharedCluster(t *testing.T) *fleettest.Cluster {
	t.Helper()
	cluster, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

var prefixes atomic.Int64 // that were given

// fresh returns a prefix that no other test has.
func fresh(name string) string { return fmt.Sprintf("%s-%d", name, prefixes.Add(1)) }

// ownCluster returns a cluster that the test may break.
func ownCluster(t *testing.T) *fleettest.Cluster {
	t.Helper()
	cluster, err := fleettest.Start(t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	return cluster
}
