package crashes

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/traffic"
	"bridged/internal/simnet"
)

var (
	killCount = flag.Int("kills", 4, "how often the program is killed under load; the goal's figure is 200")
	killRate  = flag.Int("kills.rate", 50, "messages a second while it is killed")
)

// TestKills_LoseAndDoubleNothing kills the real program at random moments under
// load, in direct chats and a group, with reactions, edits and deletions among the
// messages, and then compares the store with the messages sent.
func TestKills_LoseAndDoubleNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(*killCount)*10*time.Second+time.Minute)
	defer cancel()
	network := NewNetwork(t)
	newcomer := func(number, name string) *simnet.Phone {
		return Must(network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: name}))(t)
	}
	owner, sam, kim := newcomer("15550100200", "Alex"), newcomer("15550100301", "Sam"), newcomer("15550100302", "Kim")
	group, err := owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "Load", Members: []*simnet.Phone{sam, kim}})
	if err != nil {
		t.Fatal(err)
	}
	p := StartBridge(t, network, "LOG_LEVEL=info")
	device := Pair(t, p, owner)

	loading, stopLoad := context.WithCancel(ctx)
	load := &Traffic{T: t, Owner: owner, Chats: []*TrafficChat{
		{JID: bridge.PhoneJID(sam.Number()), To: owner.PN(), Writers: []*simnet.Phone{sam}},
		{JID: bridge.PhoneJID(kim.Number()), To: owner.LID(), Writers: []*simnet.Phone{kim}},
		{JID: bridge.JID(group.JID().String()), To: group.JID(), Writers: []*simnet.Phone{sam, kim}},
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		load.Run(loading, *killRate)
	}()
	began := time.Now()
	var away []time.Duration
	for range *killCount {
		select {
		case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
		p.Kill()
		killed := time.Now()
		p.Start()
		p.Becomes(bridge.StateOpen)
		away = append(away, time.Since(killed))
	}
	stopLoad()
	<-done
	if err := device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	total, lost, doubled := 0, 0, 0
	for _, chat := range load.Chats {
		l, d := chat.Compare(t, p)
		total, lost, doubled = total+len(chat.Sent), lost+l, doubled+d
	}
	slices.Sort(away)
	t.Logf("%d kills in %v, %d messages (and %d reactions, edits and deletions): lost %d, doubled %d; killed to open again: median %v, longest %v",
		*killCount, time.Since(began).Round(time.Second), total, load.Changes, lost, doubled, away[len(away)/2].Round(time.Millisecond), away[len(away)-1].Round(time.Millisecond))
	if total == 0 {
		t.Error("nothing was sent")
	}
}
