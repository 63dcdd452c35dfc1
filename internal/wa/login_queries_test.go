package wa_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// decided counts the logins after which the list of groups need not be read.
type decided struct {
	wa.Store
	not atomic.Int32
}

func (d *decided) GroupsWithoutInfo(ctx context.Context) ([]bridge.JID, error) {
	groups, err := d.Store.GroupsWithoutInfo(ctx)
	d.not.Add(1)
	return groups, err
}

const groupQueries, groupsSetting = "w:g2", "groups_read"

// newDecided is newAccountIn with such a count.
func newDecided(t *testing.T, network *simnet.Network, dir string, phone *simnet.Phone) (*account, *decided) {
	t.Helper()
	d := new(decided)
	a := startAccountWith(t, network, dir, func(s *store.Store) wa.Store { d.Store = s; return d })
	if a.phone = phone; phone == nil {
		a.phone = newPhone(t, network, accountNumber, "Alex")
		a.pair()
		// Reading the list ends with a check for missing groups.
		eventually(t, "the list of groups", func() bool { return d.not.Load() == 1 })
		d.not.Store(0)
	}
	return a, d
}

func TestLogin_ReadsTheGroupsOnceADay(t *testing.T) {
	t.Parallel()
	network, dir := newNetwork(t), t.TempDir()
	a, d := newDecided(t, network, dir, nil)
	device := a.device()
	if got := device.Queries(groupQueries); got != 1 {
		t.Fatalf("%d queries after pairing, want 1", got)
	}
	for n := range int32(3) {
		device.Drop()
		eventually(t, "the login after a dropped connection", func() bool { return d.not.Load() == n+1 })
	}
	a.stop()
	a, d = newDecided(t, network, dir, a.phone)
	eventually(t, "the login after a restart", func() bool { return d.not.Load() == 1 })
	if got := device.Queries(groupQueries); got != 1 {
		t.Errorf("%d queries after four more logins, want 1", got)
	}

	for what, value := range map[string]string{
		"a day later":              device.JID().String() + " " + time.Now().Add(-25*time.Hour).UTC().Format(time.RFC3339),
		"paired as another device": "15550100200:99@s.whatsapp.net " + time.Now().UTC().Format(time.RFC3339),
	} {
		if err := a.store.SetSetting(testContext(t), groupsSetting, value); err != nil {
			t.Fatal(err)
		}
		before := device.Queries(groupQueries)
		device.Drop()
		eventually(t, what, func() bool { return device.Queries(groupQueries) == before+1 })
		eventually(t, "the answer is noted", func() bool {
			now, err := a.store.Setting(testContext(t), groupsSetting)
			return err == nil && now != value
		})
	}
}

// TestLogin_AskingIsPaced: the network refuses more than a few queries a second.
func TestLogin_AskingIsPaced(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	friend := newPhone(t, network, "15550100301", "Sam")
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	var groups []*simnet.Group
	for i := range 5 {
		group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: fmt.Sprintf("Group %d", i), Members: []*simnet.Phone{a.phone}})
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, group)
	}
	network.FailQueries(simnet.IQFault{Namespace: groupQueries, Tag: "participating", Code: 500})
	a.pair()
	network.LimitQueries(groupQueries, 3, time.Second)
	for _, group := range groups {
		if _, err := friend.SendText(ctx, group.JID(), "hello"); err != nil {
			t.Fatal(err)
		}
	}
	for _, group := range groups {
		eventually(t, group.Name(), func() bool {
			c, err := a.store.Chat(ctx, bridge.JID(group.JID().String()))
			return err == nil && c.Name == group.Name()
		})
	}
	if got := a.device().Counters().Limited; got > 0 {
		t.Errorf("%d queries were too many", got)
	}
}

// TestLogin_AGroupThatIsWithheldIsAskedForOnce, restarts included.
func TestLogin_AGroupThatIsWithheldIsAskedForOnce(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network, dir := newNetwork(t), t.TempDir()
	friend := newPhone(t, network, "15550100301", "Sam")
	a, _ := newDecided(t, network, dir, nil)
	device := a.device()
	device.FailQueries(simnet.IQFault{Namespace: groupQueries, Tag: "query", Code: 403, Text: "forbidden"})
	// A group known only from a message.
	group := bridge.JID("120363000000000099@g.us")
	before := device.Queries(groupQueries)
	if err := a.store.Save(ctx, bridge.Message{Chat: group, ID: "M1", SenderJID: jidOf(friend), Timestamp: bridge.At(time.Now()), MessageType: "conversation", Content: "hi"}); err != nil {
		t.Fatal(err)
	}
	device.Drop()
	eventually(t, "the group is asked for", func() bool { return device.Queries(groupQueries) == before+1 })
	eventually(t, "the refusal is noted", func() bool {
		missing, err := a.store.GroupsWithoutInfo(ctx)
		return err == nil && len(missing) == 0
	})
	a.stop()
	_, d := newDecided(t, network, dir, a.phone)
	eventually(t, "the login after a restart", func() bool { return d.not.Load() == 1 })
	if got := device.Queries(groupQueries); got != before+1 {
		t.Errorf("asked %d times, want once", got-before)
	}
}

// TestConnection_OneLostAnswerIsNoSilence: a keepalive without an answer is
// asked again before the connection is given up.
func TestConnection_OneLostAnswerIsNoSilence(t *testing.T) {
	t.Parallel()
	a := newAccount(t, newNetwork(t))
	device := a.device()
	logins, pings := device.Counters().Logins, device.Queries("w:p")
	device.FailQueries(simnet.IQFault{Namespace: "w:p", Silent: true, Times: 1})
	// The lost one, its repetition, and the next regular one.
	eventually(t, "three keepalives", func() bool { return device.Queries("w:p") >= pings+3 })
	if got := device.Counters().Logins; got != logins || a.manager.Status().Status != bridge.StateOpen {
		t.Errorf("%d logins more, status %s", got-logins, a.manager.Status().Status)
	}
}
