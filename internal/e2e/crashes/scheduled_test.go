package crashes

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// TestKills_AtScheduledMessages kills the program about when scheduled messages are due. Each arrives once: under
// the id that it had from the beginning, and under no other.
func TestKills_AtScheduledMessages(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friends := []*simnet.Phone{
		NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"}),
		NewPhone(t, network, simnet.PhoneOptions{Number: "15550100302", Name: "Kim"}),
	}
	p := StartBridge(t, network, "LOG_LEVEL=info")
	Pair(t, p, owner)
	kills, each := longtest.Else(4, 30), 3
	ids := make(map[string]simnet.MessageID)
	for round := range kills {
		due := time.Now().Add(2 * time.Second) // the calls may take long on a busy machine
		for n := range each {
			for _, friend := range friends {
				text := fmt.Sprintf("round %d, message %d to %s", round, n, friend.Name())
				var answer struct{ MsgID string }
				p.Post("/api/messages/send", Object{"jid": friend.PN().String(), "text": text, "sendAt": due.Format(time.RFC3339Nano)}).Want(http.StatusOK).Decode(&answer)
				ids[text] = answer.MsgID
			}
		}
		select {
		case <-time.After(time.Until(due) + time.Duration(rand.IntN(250)-20)*time.Millisecond):
		case <-p.Exited:
			t.Fatal("the program ended by itself")
		}
		p.Kill()
		p.Start()
		p.Becomes(bridge.StateOpen)
	}
	for text, id := range ids {
		for _, friend := range friends {
			if friend.Name() == text[len(text)-len(friend.Name()):] {
				Must(friend.ReceivedID(Within(t), id))(t)
			}
		}
	}
	Eventually(t, func() error {
		var list struct{ Scheduled []bridge.ScheduledMessage }
		p.Get("/api/scheduled").Want(http.StatusOK).Decode(&list)
		if len(list.Scheduled) > 0 {
			return fmt.Errorf("still scheduled: %+v", list.Scheduled)
		}
		return nil
	})
	for _, friend := range friends {
		count := 0
		for _, m := range friend.Messages() {
			if m.Text() == "" {
				continue
			}
			if count++; ids[m.Text()] != m.Info.ID {
				t.Errorf("%q arrived under %s, not %s", m.Text(), m.Info.ID, ids[m.Text()])
			}
		}
		if want := kills * each; count < want {
			t.Errorf("%s has %d messages of %d", friend.Name(), count, want)
		}
	}
	t.Logf("%d kills, %d messages", kills, len(ids))
}
