package fleet

import (
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"bridged/internal/fleet/fleettest"
)

var elections = flag.Int("fleet.elections", 1, "how many leaders end under load; 20 is a soak")

// Leaders end under load, one after the other, and all nodes are gone for days,
// in which the log goes on and the servers forget their ids: nothing is lost,
// nothing comes twice, and all of it in order.
func TestEvents_OverElectionsAndDaysWithoutNATS(t *testing.T) {
	t.Parallel()
	cluster := ownCluster(t)
	log := newMemoryLog(ada)
	f := run(t, Options{
		Server: Server{URL: cluster.URL()}, Prefix: "fleet", Log: log,
		Stream: Limits{Replicas: 3, Duplicates: 100 * time.Millisecond},
	})
	c := newConsumer(t, cluster, "fleet")
	write := load(log)
	for range *elections {
		c.waitFor(ada, log.newest())
		if err := cluster.WaitInSync(c.name); err != nil {
			t.Fatal(err)
		}
		leader, err := cluster.StreamLeader(c.name)
		if err != nil {
			t.Fatal(err)
		}
		cluster.StopNode(leader)
		c.waitFor(ada, log.newest())
		if err := cluster.StartAll(); err != nil {
			t.Fatal(err)
		}
	}
	cluster.Stop()
	seen := log.newest()
	eventually(t, "events without NATS", func() bool { return log.newest() > seen+500 })
	if err := cluster.StartAll(); err != nil {
		t.Fatal(err)
	}
	write.stop()
	all := c.read(ada, log.newest())
	want(t, all, upTo(1, log.newest())...)
	f.stop()
	t.Logf("%d events", len(all))
}

// newest returns the number of the last event.
func (l *memoryLog) newest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// loading adds events until it is stopped.
type loading struct {
	done chan struct{}
	ends sync.WaitGroup
}

func load(log *memoryLog) *loading {
	l := &loading{done: make(chan struct{})}
	l.ends.Go(func() {
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-l.done:
				return
			case <-ticker.C:
				log.write(1)
			}
		}
	})
	return l
}

func (l *loading) stop() {
	close(l.done)
	l.ends.Wait()
}

// A stream that has lost its end, as a server that lost its power or was
// restored has, gets what it lost again.
func TestEvents_OfAStreamThatHasLostItsEnd(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "nats")
	cluster, err := fleettest.Start(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	log, other := newMemoryLog(ada), newMemoryLog("447700900123")
	options := func(log Log) Options {
		return Options{Server: Server{URL: cluster.URL()}, Prefix: "lost", Log: log, Stream: Limits{Replicas: 1, Duplicates: 100 * time.Millisecond}}
	}
	c := newConsumer(t, cluster, "lost")
	f := run(t, options(log))
	log.write(10)
	c.read(ada, 10)
	cluster.StopNode(0)
	old := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := cluster.StartNode(0); err != nil {
		t.Fatal(err)
	}
	log.write(10)
	c.read(ada, 20)
	f.stop()
	cluster.StopNode(0)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old, dir); err != nil {
		t.Fatal(err)
	}
	if err := cluster.StartNode(0); err != nil {
		t.Fatal(err)
	}
	other.write(30) // takes the sequences that were lost
	run(t, options(other))
	c.read("447700900123", 30)
	log.write(1)
	run(t, options(log))
	want(t, c.read(ada, 21), upTo(1, 21)...)
}
