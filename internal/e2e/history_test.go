package e2e

import (
	"net/http"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestHistory_SurvivesAKill: the program is killed between the acknowledgement
// of what the phone tells of its history and the download. The next run has the
// tokens, names and timers all the same.
func TestHistory_SurvivesAKill(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	owner, anna := newPhone(t, network, simnet.PhoneOptions{Number: "491510000101", Name: "Olga"}), newPhone(t, network, simnet.PhoneOptions{Number: "491510000102", Name: "Anna"})
	owner.SetPast(simnet.Past{With: anna.PN(), Name: "Anna the baker", Timer: 86400, TimerSetAt: time.Now().Add(-time.Hour)})
	anna.Trust(owner)
	anna.RefuseStrangers(true)
	b := startBridge(t, network)
	network.CDN().Fail(simnet.CDNFault{Method: http.MethodGet, StallAtOnce: true})
	device := must(owner.EnterPairingCode(within(t), b.code(owner)))(t)
	b.becomes(bridge.StateOpen)
	if err := device.WaitSynced(within(t)); err != nil {
		t.Fatal(err)
	}
	b.kill()
	network.CDN().ClearFaults()
	b.start()
	b.becomes(bridge.StateOpen)
	if err := device.WaitHistory(within(t)); err != nil {
		t.Fatal(err)
	}
	b.answers("/api/chats", chats())
	id := b.sends(t, object{"jid": anna.PN().String(), "text": "fresh bread"})
	got := must(anna.ReceivedID(within(t), id))(t)
	if seconds := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetExpiration(); seconds != 86400 {
		t.Errorf("the first message disappears after %d s, want 86400", seconds)
	}
	b.answers("/api/chats", chats(privateChat(anna, "Anna the baker")))
}
