package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/fleet/fleettest"
)

// openPublication returns a publisher's session on a cluster, as it is before it has
// read anything.
func openPublication(t testing.TB, cluster *fleettest.Cluster, prefix, logID string) *publication {
	t.Helper()
	nc, js := dial(t, cluster.URL())
	o := Options{Prefix: prefix, Stream: Limits{Replicas: 3, Duplicates: time.Minute}}
	s := &publication{
		link: newLink(o, zerolog.Nop()), subjects: subjectsOf(prefix, ada), at: Position{LogID: logID}, publishing: t.Context(),
	}
	s.nc, s.js = nc, js
	var err error
	if s.stream, err = s.openStream(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// publishAll publishes events in their order.
func (s *publication) publishAll(events []bridge.Event) error {
	for _, e := range events {
		m, err := newMessage(s.subjects, s.at.LogID, e, s.limit())
		if err != nil {
			return err
		}
		if err := s.publish(m, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// A publisher that does not know the account's last message stores nothing, whatever its
// ids and subjects.
func TestPublish_BehindAnotherMessageIsRefused(t *testing.T) {
	t.Parallel()
	prefix := fresh("refused")
	log := newMemoryLog(ada)
	log.write(20)
	first, late := openPublication(t, sharedCluster(t), prefix, "one"), openPublication(t, sharedCluster(t), prefix, "another")
	if err := first.publishAll(log.events[:1]); err != nil {
		t.Fatal(err)
	}
	if err := late.publishAll(log.events[1:2]); err == nil {
		t.Error("a message was taken from a publisher that is late")
	}
	if err := first.publishAll(log.events[1:]); err != nil {
		t.Fatal(err)
	}
	want(t, newConsumer(t, sharedCluster(t), prefix).read(ada, 20), upTo(1, 20)...)
}

// Metrics tell how far the log is published, also while it is not.
func TestMetrics_TellTheLag(t *testing.T) {
	t.Parallel()
	log := newMemoryLog("")
	log.write(12)
	f := run(t, optionsOf(t, fresh("metrics"), log))
	registry := prometheus.NewRegistry()
	registry.MustRegister(f.Metrics()...)
	shows := func(connected, published, lag float64) func() bool {
		return func() bool {
			values := map[string]float64{}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, tree := range families {
				m := tree.GetMetric()[0]
				values[tree.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
			return values["bridged_nats_connected"] == connected && values["bridged_nats_events_published_total"] == published &&
				values["bridged_nats_events_lag"] == lag
		}
	}
	eventually(t, "a lag", shows(1, 0, 12))
	log.change(func(l *memoryLog) { l.account = ada })
	eventually(t, "no lag", shows(1, 12, 0))
}

// A reset that was stored without its publisher hearing of it is not published again,
// and does not hold up what follows for as long as the server remembers its id.
func TestPublish_AResetWhoseAcknowledgementIsLost(t *testing.T) {
	t.Parallel()
	prefix := fresh("reset")
	log := newMemoryLog(ada)
	log.write(5)
	s := openPublication(t, sharedCluster(t), prefix, "another")
	s.source, s.isLoaded, s.isReset, s.at.Event = log, true, true, 5
	if err := s.publishReset(5); err != nil {
		t.Fatal(err)
	}
	s.last, s.isReset = 0, true // it has not heard
	log.write(2)
	if err := s.resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, newConsumer(t, sharedCluster(t), prefix).read(ada, 7), -5, 6, 7)
}

// Messages are read from the stream's leader, although the stream permits direct reads
// from every node.
func TestStream_IsReadFromItsLeader(t *testing.T) {
	t.Parallel()
	s := openPublication(t, sharedCluster(t), fresh("leader"), "log")
	nc, _ := dial(t, sharedCluster(t).URL())
	asked := make(chan *nats.Msg, 8)
	if _, err := nc.ChanSubscribe("$JS.API.*.*.*."+s.stream.info.Config.Name, asked); err != nil { // STREAM.MSG.GET
		t.Fatal(err)
	}
	if _, err := nc.ChanSubscribe("$JS.API.DIRECT.GET."+s.stream.info.Config.Name+".>", asked); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.stream.last(t.Context(), s.subjects.all()); err != nil {
		t.Fatal(err)
	}
	if m := <-asked; !strings.HasPrefix(m.Subject, "$JS.API.STREAM.MSG.GET.") {
		t.Errorf("asked %s", m.Subject)
	}
}
