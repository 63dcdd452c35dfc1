package receiving

import (
	"net/http"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestHistory_SurvivesAKill kills the program between the acknowledgement of the
// phone's history notification and the download. The next run still has the tokens,
// names and timers.
func TestHistory_SurvivesAKill(t *testing.T) {
	t.Parallel()
	network := NewNetwork(t)
	owner, anna := NewPhone(t, network, simnet.PhoneOptions{Number: "491510000101", Name: "Olga"}), NewPhone(t, network, simnet.PhoneOptions{Number: "491510000102", Name: "Anna"})
	owner.SetPast(simnet.Past{With: anna.PN(), Name: "Anna the baker", Timer: 86400, TimerSetAt: time.Now().Add(-time.Hour)})
	anna.Trust(owner)
	anna.RefuseStrangers(true)
	b := StartBridge(t, network)
	network.CDN().Fail(simnet.CDNFault{Method: http.MethodGet, StallAtOnce: true})
	device := Must(owner.EnterPairingCode(Within(t), b.Code(owner)))(t)
	b.Becomes(bridge.StateOpen)
	if err := device.WaitSynced(Within(t)); err != nil {
		t.Fatal(err)
	}
	b.Kill()
	network.CDN().ClearFaults()
	b.Start()
	b.Becomes(bridge.StateOpen)
	if err := device.WaitHistory(Within(t)); err != nil {
		t.Fatal(err)
	}
	b.Answers("/api/chats", Chats())
	id := b.Sends(t, Object{"jid": anna.PN().String(), "text": "fresh bread"})
	got := Must(anna.ReceivedID(Within(t), id))(t)
	if seconds := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetExpiration(); seconds != 86400 {
		t.Errorf("the first message disappears after %d s, want 86400", seconds)
	}
	b.Answers("/api/chats", Chats(With(PrivateChat(anna, "Anna the baker"), Object{"disappearingSeconds": 86400})))
}

// TestHistory_Import: with HISTORY_IMPORT the phone's messages are listed and
// searchable, older ones follow on demand, and none of them creates events.
func TestHistory_Import(t *testing.T) {
	t.Parallel()
	network := NewNetwork(t)
	owner, anna := NewPhone(t, network, simnet.PhoneOptions{Number: "491510000101", Name: "Olga"}), NewPhone(t, network, simnet.PhoneOptions{Number: "491510000102", Name: "Anna"})
	began := time.Now().Add(-30 * 24 * time.Hour).Truncate(time.Second)
	text := func(id, text string, day int) *simnet.PastInfo {
		return simnet.PastText(anna.PN(), anna.PN(), id, began.Add(time.Duration(day)*24*time.Hour), text)
	}
	owner.SetPast(simnet.Past{With: anna.PN(), Older: []*simnet.PastInfo{text("OLD", "the beginning", 0)}, Recent: []*simnet.PastInfo{text("RECENT", "since then", 1)}})
	b := StartBridge(t, network, "HISTORY_IMPORT=recent")
	device := Pair(t, b, owner)
	annas := Path("/api/messages/individual/%s", anna.PN())
	imported := func(id, content string, day int) Object {
		return Message(id, anna, "conversation", content, Object{"imported": true, "timestamp": bridge.At(began.Add(time.Duration(day) * 24 * time.Hour))})
	}
	b.Answers(annas, History(anna.PN(), []Object{imported("RECENT", "since then", 1)}))
	var found struct{ Matches []bridge.Match }
	b.Get("/api/messages/search?q=since").Want(http.StatusOK).Decode(&found)
	if len(found.Matches) != 1 || found.Matches[0].MsgID != "RECENT" {
		t.Errorf("found %+v", found.Matches)
	}
	var asked struct{ Before struct{ MsgID string } }
	b.Post(Path("/api/chats/%s/history", anna.LID()), Object{"count": 10}).Want(http.StatusOK).Decode(&asked)
	if asked.Before.MsgID != "RECENT" {
		t.Errorf("asked for what came before %q", asked.Before.MsgID)
	}
	if err := device.WaitHistory(Within(t)); err != nil {
		t.Fatal(err)
	}
	b.Answers(annas, History(anna.PN(), []Object{imported("RECENT", "since then", 1), imported("OLD", "the beginning", 0)}))
	var log struct{ Events []bridge.Event }
	b.Get("/api/events?after=0&types=message.created,message.updated,chat.updated").Want(http.StatusOK).Decode(&log)
	if len(log.Events) != 0 {
		t.Errorf("the log has events of the past: %+v", log.Events)
	}
	b.Restart()
	b.Answers(annas, History(anna.PN(), []Object{imported("RECENT", "since then", 1), imported("OLD", "the beginning", 0)}))
}

// TestHistory_MoreThanAtThePairing: a deeper HISTORY_IMPORT has no effect after the
// pairing, which the log and the doctor report.
func TestHistory_MoreThanAtThePairing(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	c.Bridge.Kill()
	c.Bridge.Env["HISTORY_IMPORT"] = "1y"
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	c.Bridge.Doctor().Expect(t, "history", "warn", "HISTORY_IMPORT is 365d, and was off at the pairing")
	c.Bridge.WaitForLog(t, "pair again to get it")
}
