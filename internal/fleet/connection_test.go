package fleet

import (
	"strings"
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

func TestCheckVersion_RefusesOldServers(t *testing.T) {
	for version, fine := range map[string]bool{"2.12.0": true, "2.15.2": true, "3.0.0": true, "2.12.0-RC.1": true, "dev": true, "2.11.9": false, "2.10.29": false, "1.4.1": false} {
		err := checkVersion(version)
		if (err == nil) != fine {
			t.Errorf("%s: %v", version, err)
		}
		if err != nil && (!strings.Contains(err.Error(), version) || !strings.Contains(err.Error(), "update the servers of NATS_URL")) {
			t.Errorf("%s: %q", version, err)
		}
	}
}
