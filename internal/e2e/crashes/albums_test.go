package crashes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// TestKills_AtAlbums kills the program while it prepares and sends albums. Under its key each album arrives once,
// with all its items: the repeated call sends what was not sent.
func TestKills_AtAlbums(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network, FetchesLoopback, "LOG_LEVEL=info")
	device := Pair(t, p, owner)
	web := NewWebsite(t)
	items := []Object{}
	for n := range 5 {
		items = append(items, Object{"url": web.Has(fmt.Sprintf("/%d.png", n), demo.Picture(20+n, 30)), "type": "image", "caption": fmt.Sprint(n)})
	}
	kills := longtest.Else(4, 30)
	for round := range kills {
		key, body := fmt.Sprint("album-", round), string(Must(json.Marshal(Object{"jid": friend.PN().String(), "items": items}))(t))
		for range 6 {
			device.FailSends(simnet.SendFault{AckDelay: 20 * time.Millisecond})
		}
		ended := make(chan error, 1)
		go func() {
			_, err := p.RawPost(t.Context(), "/api/messages/send-album", body, key)
			ended <- err
		}()
		killAfter(p, time.Duration(rand.IntN(400))*time.Millisecond)
		<-ended
		p.Start()
		p.Becomes(bridge.StateOpen)
		var album struct {
			MsgID string
			Items []struct{ MsgID string }
		}
		p.Post("/api/messages/send-album", body, "Idempotency-Key", key).Want(http.StatusOK).Decode(&album)
		shown := Must(friend.Album(Within(t), album.MsgID))(t)
		if len(shown) != len(items) || len(album.Items) != len(items) {
			t.Fatalf("round %d: %d items are shown, %d answered", round, len(shown), len(album.Items))
		}
		for i, item := range shown {
			if item.Info.ID != album.Items[i].MsgID || item.Text() != fmt.Sprint(i) {
				t.Errorf("round %d: item %d is %s %q, not %s", round, i, item.Info.ID, item.Text(), album.Items[i].MsgID)
			}
		}
	}
	ids := make(map[simnet.MessageID]bool)
	for _, m := range friend.Messages() {
		ids[m.Info.ID] = true
	}
	if want := kills * (len(items) + 1); len(ids) != want {
		t.Errorf("%d messages arrived, want %d", len(ids), want)
	}
}
