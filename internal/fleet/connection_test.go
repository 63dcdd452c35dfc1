package fleet

import (
	"testing"

	"bridged/internal/fleet/fleettest"
)

// A fleet waits for NATS without holding anything up, connects once it is
// there, and again once it is back.
func TestFleet_WaitsForItsServers(t *testing.T) {
	t.Parallel()
	cluster, err := fleettest.Start(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	cluster.StopNode(0)
	f := run(t, Options{Server: Server{URL: cluster.URL()}, Prefix: "waits", Log: newMemoryLog("")})
	for _, when := range []string{"at first", "and again"} {
		if err := cluster.StartNode(0); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the connection "+when, f.link.connected.Load)
		cluster.StopNode(0)
		eventually(t, "the end of the connection "+when, func() bool { return !f.link.connected.Load() })
	}
	f.stop() // while there is no server, and no account
}
