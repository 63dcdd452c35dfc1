package fleet

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Whoever may only ask cannot have the bridge write: no answer goes to the subjects of
// events, keys and objects, and nothing is done for one.
func TestRequests_AnswersGoToInboxesAlone(t *testing.T) {
	t.Parallel()
	const prefix = "deputy"
	var asked atomic.Int64
	c := serveAPI(t, prefix, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	keys, err := c.js.KeyValue(t.Context(), "DEPUTY_ACCOUNTS")
	if err != nil {
		t.Fatal(err)
	}
	envelope := []byte(`{"method": "GET", "path": "/"}`)
	for _, reply := range []string{prefix + "." + ada + ".events.message.created", "$KV.DEPUTY_ACCOUNTS." + ada, "$O.DEPUTY_FILES.M.x", "$JS.API.STREAM.DELETE.DEPUTY_EVENTS"} {
		if err := c.nc.PublishMsg(&nats.Msg{Subject: prefix + "." + ada + ".api", Reply: reply, Data: envelope}); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := c.call(ada, object{"method": "GET", "path": "/"}); got.Status != http.StatusOK { // behind all others
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if _, err := keys.Get(t.Context(), ada); err != jetstream.ErrKeyNotFound {
		t.Errorf("a key was written: %v", err)
	}
	if asked.Load() != 1 {
		t.Errorf("%d requests were worked on", asked.Load())
	}
}

// A request that comes while the service ends is refused, and hears why.
func TestRequests_AreRefusedWhileItStops(t *testing.T) {
	t.Parallel()
	nc, _ := dial(t, sharedCluster(t).URL())
	answers, err := nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	r := &requests{link: &link{nc: nc}, slots: make(chan struct{})} // no place is free
	r.accept(stopped, t.Context(), nil, answers.Subject)
	msg, err := answers.NextMsg(time.Minute)
	if err != nil || !strings.Contains(string(msg.Data), "the bridge is stopping") {
		t.Fatalf("%v, %v", msg, err)
	}
}
