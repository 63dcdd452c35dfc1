package fleet

import (
	"testing"
	"time"

	"bridged/internal/bridge"
)

// options returns a fleet's options on the shared cluster.
func optionsOf(t *testing.T, prefix string, log Log) Options {
	return Options{
		Server: Server{URL: sharedCluster(t).URL()}, Prefix: prefix, Log: log,
		Stream: Limits{Replicas: 3, Duplicates: 100 * time.Millisecond},
	}
}

// The first time everything that the log keeps is published, then what comes,
// each once, in order, as webhooks are posted it.
func TestEvents_AreInTheStreamOnceAndInOrder(t *testing.T) {
	t.Parallel()
	prefix := fresh("once")
	log := newMemoryLog("")
	log.write(3)
	log.prune(1)
	run(t, optionsOf(t, prefix, log))
	log.change(func(l *memoryLog) { l.account = ada })
	c := newConsumer(t, sharedCluster(t), prefix)
	c.read(ada, 3)
	log.write(700) // several pages
	all := c.read(ada, 703)
	want(t, all, upTo(2, 703)...)
	for i, m := range all {
		event := log.events[i]
		body, err := bridge.EncodeJSON(event.Payload())
		if err != nil {
			t.Fatal(err)
		}
		if string(m.body) != string(body) || m.subject != prefix+"."+ada+".events."+string(event.Type) {
			t.Fatalf("%s: %s, want %s", m.subject, m.body, body)
		}
		if m.header.Get("Webhook-Id") != bridge.EventName(event.ID, event.At) || m.header.Get("Bridged-Chat") != string(event.ChatJID) ||
			m.log == "" || m.header.Get("Nats-Msg-Id") != m.log+"."+m.event || m.header.Get("Content-Type") != "application/json" {
			t.Fatalf("headers %v", m.header)
		}
	}
}
