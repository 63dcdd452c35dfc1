package fleettest

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A cluster keeps what was stored over the end of the stream's leader.
func TestCluster_KeepsWhatItHasStored(t *testing.T) {
	c, err := Start(t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	nc, err := nats.Connect(c.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "TEST", Subjects: []string{"test.>"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "test.one", []byte("1")); err != nil {
		t.Fatal(err)
	}
	leader, err := c.StreamLeader("TEST")
	if err != nil {
		t.Fatal(err)
	}
	c.StopNode(leader)
	next, err := c.StreamLeader("TEST")
	if err != nil || next == leader {
		t.Fatalf("leader %d after %d, %v", next, leader, err)
	}
	if err := c.StartAll(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitInSync("TEST"); err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "TEST")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := stream.GetLastMsgForSubject(t.Context(), "test.>"); err != nil || string(m.Data) != "1" {
		t.Errorf("%v, %v", m, err)
	}
}
