package fleet

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

var fleetKills = flag.Int("fleet.kills", 3, "how often the program is killed while it publishes to NATS")

// natsMessage is an event as a consumer reads it.
type natsMessage struct {
	subject, id, webhookID, log string
	event                       int64
	body                        []byte
}

// readNATS returns an account's events in the stream up to a given one, using only
// the client library.
func readNATS(t *testing.T, url, account string, until int64) (all []natsMessage) {
	t.Helper()
	nc := Must(nats.Connect(url))(t)
	defer nc.Close()
	js := Must(jetstream.New(nc))(t)
	ctx, cancel := context.WithTimeout(t.Context(), TestTimeout)
	defer cancel()
	events := Must(js.OrderedConsumer(ctx, "BRIDGED_EVENTS", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"bridged." + account + ".events.>"}}))(t)
	messages := Must(events.Messages())(t)
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			t.Fatalf("after %d messages: %v", len(all), err)
		}
		header := m.Headers()
		got := natsMessage{m.Subject(), header.Get("Nats-Msg-Id"), header.Get("Webhook-Id"), header.Get("Bridged-Log"), 0, m.Data()}
		got.event = Must(strconv.ParseInt(header.Get("Bridged-Event"), 10, 64))(t)
		all = append(all, got)
		if got.event >= until && uint64(len(all)) >= countNATS(t, ctx, js, account) {
			return all
		}
	}
}

// countNATS returns the number of an account's events at the stream's leader: other
// nodes may be behind.
func countNATS(t *testing.T, ctx context.Context, js jetstream.JetStream, account string) (n uint64) {
	t.Helper()
	stream := Must(js.Stream(ctx, "BRIDGED_EVENTS"))(t)
	info := Must(stream.Info(ctx, jetstream.WithSubjectFilter("bridged."+account+".events.>")))(t)
	for _, messages := range info.State.Subjects {
		n += messages
	}
	return n
}

// TestFleet_KillsLoseAndDoubleNothing kills the real program at random moments
// under load, and stops the stream's leader meanwhile. A consumer then finds every
// event of the log once, in order, with the body that the webhook receiver got.
func TestFleet_KillsLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	cluster, url := natsCluster(t)
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100602", Name: "Sam"})
	receiver := NewHookReceiver(t)
	p := StartBridge(t, network, append(receiver.Settings(), "NATS_URL="+url, "NATS_REPLICAS=3")...)
	device := Pair(t, p, owner)

	loading, stopLoad := context.WithCancel(t.Context())
	loaded := make(chan int)
	go func() {
		n := 0
		for ; loading.Err() == nil; n++ {
			if _, err := sam.SendText(context.Background(), owner.PN(), fmt.Sprint("message ", n)); err != nil {
				t.Error(err)
				break
			}
			time.Sleep(10 * time.Millisecond) // the load's rate
		}
		loaded <- n
	}()
	for kill := range *fleetKills {
		time.Sleep(time.Duration(50+rand.IntN(500)) * time.Millisecond) // a random moment
		if kill == *fleetKills/2 {
			leader := Must(cluster.StreamLeader("BRIDGED_EVENTS"))(t)
			cluster.StopNode(leader)
		}
		p.Kill()
		p.Start()
		p.Becomes(bridge.StateOpen)
	}
	stopLoad()
	sent := <-loaded
	if err := device.WaitQuiet(Within(t)); err != nil {
		t.Fatal(err)
	}
	compareNATS(t, p, receiver, readNATS(t, url, owner.Number(), newestEvent(p)), sent)
}

// newestEvent returns the number of the log's last event.
func newestEvent(p *Process) int64 {
	all := p.AllEvents("")
	return all[len(all)-1].ID
}

// compareNATS compares the stream with the log and with the posts to the webhook
// receiver.
func compareNATS(t *testing.T, p *Process, receiver *HookReceiver, all []natsMessage, sent int) {
	t.Helper()
	log := p.AllEvents("")
	byID := map[string]natsMessage{}
	created := 0
	for i, m := range all {
		if i >= len(log) || log[i].ID != m.event {
			t.Fatalf("message %d is of event %d; the log has %d there", i, m.event, log[min(i, len(log)-1)].ID)
		}
		if m.subject != "bridged."+p.Status().User.JID.User()+".events."+string(log[i].Type) {
			t.Fatalf("event %d has the subject %s", m.event, m.subject)
		}
		if log[i].Type == bridge.EventMessageCreated {
			created++
		}
		byID[m.webhookID] = m
	}
	if len(all) != len(log) || created != sent {
		t.Errorf("%d messages of %d events, %d of %d texts", len(all), len(log), created, sent)
	}
	receiver.WaitFor(len(log))
	same := 0
	for _, h := range receiver.Accepted() {
		m, found := byID[h.ID]
		switch {
		case !found:
			t.Fatalf("%s was posted, and is not in the stream", h.ID)
		case h.Type != bridge.EventMessageCreated: // changes carry the message's state at that moment
		case string(m.body) != string(h.Body):
			t.Errorf("posted %s\nin the stream %s", h.Body, m.body)
		default:
			same++
		}
	}
	if same < sent {
		t.Errorf("%d bodies were compared, of %d texts", same, sent)
	}
	t.Logf("%d events, %d of them texts with the same body", len(all), same)
}
