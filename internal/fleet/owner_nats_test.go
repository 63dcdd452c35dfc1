package fleet

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/fleet/fleettest"
)

// onServers runs a fleet on a directory, with real servers.
func onServers(t *testing.T, cluster *fleettest.Cluster, prefix, host string, d directory, ttl time.Duration) running {
	t.Helper()
	return runWith(t, Options{
		Server: Server{URL: cluster.URL()}, Prefix: prefix, Log: d.events, Stream: Limits{Replicas: 3, Duplicates: time.Minute},
		Owner: OwnerOptions{DataDir: d.place, TTL: ttl, Host: host, State: func() string { return "open" }},
	}, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Host", host) })
}

// holds waits until a fleet may run its session.
func (f running) holds(t *testing.T) {
	t.Helper()
	eventually(t, "the session", func() bool { return f.Refusal() == nil })
}

// Over real servers, requests go to whoever runs the account, and the account goes to
// the second process within the key's life once the first has died.
func TestOwner_OnRealServers(t *testing.T) {
	t.Parallel()
	const ttl = 6 * time.Second
	cluster, prefix, volume := sharedCluster(t), fresh("owners"), newDirectory(t, "volume", 3)
	a := onServers(t, cluster, prefix, "node-a", volume.again(), ttl)
	a.Acquire("s", func() {})
	a.holds(t)
	b := onServers(t, cluster, prefix, "node-b", volume.again(), ttl)
	b.Acquire("s", func() {})
	eventually(t, "the refusal", func() bool { return isRefusal(b.Refusal()) })

	c := connect(t, cluster.URL(), prefix)
	served := func(host string) func() bool {
		return func() bool {
			_, err := c.nc.Request(prefix+"."+ada+".api", nil, time.Second)
			if err != nil {
				return false
			}
			got, _ := c.call(ada, object{"method": "GET", "path": "/"})
			return got.Headers["Host"] == host
		}
	}
	eventually(t, "requests to the first", served("node-a"))
	keys, err := c.js.KeyValue(t.Context(), streamName(prefix, "ACCOUNTS"))
	if err != nil {
		t.Fatal(err)
	}
	if entry, err := keys.Get(t.Context(), ada); err != nil {
		t.Errorf("the key: %s, %v", entry.Value(), err)
	}
	a.stop() // without giving the session back, as a process that dies
	b.holds(t)
	eventually(t, "requests to the second", served("node-b"))
	release := b.Acquire("s", func() {})
	b.holds(t)
	release()
	eventually(t, "the key to be given back", func() bool { // the node that is asked may be behind
		_, err := keys.Get(t.Context(), ada)
		return err == jetstream.ErrKeyNotFound
	})
}

// askEndlessly asks an account without end, and counts what is answered.
func askEndlessly(t *testing.T, c *caller) *atomic.Int64 {
	t.Helper()
	answered := new(atomic.Int64)
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	t.Cleanup(func() { stop(); callers.Wait() })
	data := []byte(`{"method": "GET", "path": "/"}`)
	for range 4 {
		callers.Go(func() {
			for ctx.Err() == nil {
				asking, cancel := context.WithTimeout(ctx, time.Second)
				if _, err := c.nc.RequestWithContext(asking, c.prefix+"."+ada+".api", data); err == nil {
					answered.Add(1)
				}
				cancel()
			}
		})
	}
	return answered
}

// An election of the bucket's leader takes the account from nobody.
func TestOwner_KeepsItsAccountOverElections(t *testing.T) {
	t.Parallel()
	const ttl = 12 * time.Second
	cluster := ownCluster(t)
	f := onServers(t, cluster, "elections", "node-a", newDirectory(t, "volume", 3), ttl)
	f.Acquire("s", func() {})
	f.holds(t)
	leader, err := cluster.StreamLeader("KV_ELECTIONS_ACCOUNTS")
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, cluster.URL(), "elections")
	answered := askEndlessly(t, c)
	eventually(t, "the load", func() bool { return answered.Load() > 100 })
	entry, err := keyOf(t, c)
	if err != nil {
		t.Fatal(err)
	}
	cluster.StopNode(leader)
	f.owner.stepNow() // it would be due in two seconds
	eventually(t, "a renewal", func() bool {
		if err := f.Refusal(); err != nil {
			t.Fatalf("during the election: %v", err)
		}
		renewed, err := keyOf(t, c)
		return err == nil && renewed > entry
	})
}

// keyOf returns the revision of the account's key.
func keyOf(t *testing.T, c *caller) (uint64, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	keys, err := c.js.KeyValue(ctx, streamName(c.prefix, "ACCOUNTS"))
	if err != nil {
		return 0, err
	}
	entry, err := keys.Get(ctx, ada)
	if err != nil {
		return 0, err
	}
	return entry.Revision(), nil
}

// A backup of the messages, with a session that was paired anew, goes on as soon as its
// consumers were told that the log is another: the reset stands for an event that both
// have, at another time.
func TestOwner_PairedAnewOnARestoredBackup(t *testing.T) {
	t.Parallel()
	cluster, prefix := sharedCluster(t), fresh("restored")
	d, c := newDirectory(t, "home", 0), newConsumer(t, cluster, prefix)
	d.events.write(5)
	f := onServers(t, cluster, prefix, "node-a", d, time.Minute)
	c.waitFor(ada, 5)
	backup := d.copyTo(t, "restored")
	backup.events.position, _ = d.events.Position(t.Context())
	d.events.write(5)
	c.waitFor(ada, 10)
	f.stop()
	f = onServers(t, cluster, prefix, "node-b", backup, time.Minute)
	eventually(t, "the reset", func() bool {
		p, err := backup.events.Position(t.Context())
		return err == nil && p.Event == 5 && p.LogID != "log" && c.count(t.Context(), ada) == 11
	})
	f.Acquire("paired-anew", func() {})
	f.holds(t)
}
