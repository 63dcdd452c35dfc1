package wa_test

import (
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// sharedGroup is a group that the account has joined, with the member who added it and another
// one.
func sharedGroup(t *testing.T, mode bridge.HistoryImport) (a *account, group *simnet.Group, anna, ben *simnet.Phone) {
	t.Helper()
	network := newNetwork(t)
	a = startAccountLogging(t, network, t.TempDir(), testLog(t), plainly, func(o *wa.Options) { o.HistoryImport = mode })
	a.phone = newPhone(t, network, accountNumber, "Alex")
	anna, ben = newPhone(t, network, "15550100301", "Anna"), newPhone(t, network, "15550100302", "Ben")
	a.pair()
	group, err := anna.CreateGroup(testContext(t), simnet.GroupOptions{Subject: "Readers", Members: []*simnet.Phone{ben}})
	if err != nil {
		t.Fatal(err)
	}
	if err := group.Add(testContext(t), anna, a.phone); err != nil {
		t.Fatal(err)
	}
	return a, group, anna, ben
}

// share has the member share messages, and waits until the account is done with them.
func (a *account) share(group *simnet.Group, by *simnet.Phone, messages ...*simnet.PastInfo) {
	a.t.Helper()
	before, err := a.store.HistoryCount(testContext(a.t))
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := group.ShareHistory(testContext(a.t), by, a.phone, messages...); err != nil {
		a.t.Fatal(err)
	}
	eventually(a.t, "the shared messages", func() bool {
		now, err := a.store.HistoryCount(testContext(a.t))
		return err == nil && now.Done == before.Done+1
	})
}

// TestShared_MessagesOfAGroupThatIsJoined: the messages that a member shares with the account
// when it joins are stored as the phone's history is, without events and from the member's point
// of view. Nobody else can speak for the account.
func TestShared_MessagesOfAGroupThatIsJoined(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	a, group, anna, ben := sharedGroup(t, bridge.HistoryRecent)
	last, err := a.store.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	chat, jid := group.JID(), bridge.JID(group.JID().String())
	old := time.Now().Add(-48 * time.Hour).Truncate(time.Second)
	liked := simnet.PastText(chat, ben.LID(), "BEN", old.Add(time.Minute), "by Ben")
	liked.Reactions = []*waWeb.Reaction{{Key: &waCommon.MessageKey{FromMe: proto.Bool(true)}, Text: proto.String("👍"), SenderTimestampMS: proto.Int64(old.Add(2 * time.Minute).UnixMilli())}}
	deletion := simnet.PastMessage(chat, ben.LID(), "DELETION", old.Add(3*time.Minute), &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: &waCommon.MessageKey{ID: proto.String("BEN")},
	}})
	a.share(group, anna,
		simnet.PastText(chat, simnet.JID{}, "ANNA", old, "by Anna"), liked, deletion,
		simnet.PastText(chat, a.phone.LID(), "FORGED", old.Add(4*time.Minute), "not by the account"),
		simnet.PastText(chat, ben.LID(), "FUTURE", time.Now().Add(time.Hour), "later than the bundle"),
	)
	list := a.messages(jid)
	if len(list) != 2 || list[0].ID != "ANNA" || list[1].ID != "BEN" {
		t.Fatalf("messages %+v", list)
	}
	if m := list[0]; m.FromMe || m.SenderJID != jidOf(anna) || m.Content != "by Anna" || !m.Imported || !m.Timestamp.Equal(old) {
		t.Errorf("Anna's: %+v", m)
	}
	if m := list[1]; m.SenderJID != jidOf(ben) || m.DeletedAt != nil || len(m.Reactions) != 1 || m.Reactions[0].SenderJID != jidOf(anna) {
		t.Errorf("Ben's: %+v", m)
	}
	created := bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated, bridge.EventMessageUpdated}}
	if page, err := a.store.Events(ctx, store.EventQuery{After: last, EventFilter: created}); err != nil || len(page.Events) != 0 {
		t.Errorf("events %+v, %v", page.Events, err)
	}
	// The group has old messages now: another bundle could only be made up.
	a.share(group, ben, simnet.PastText(chat, anna.LID(), "MADEUP", old.Add(-time.Hour), "never said"))
	if got := len(a.messages(jid)); got != 2 {
		t.Errorf("%d messages after a second bundle", got)
	}
}

// TestShared_NothingWithoutHistoryImport: the file is not even downloaded.
func TestShared_NothingWithoutHistoryImport(t *testing.T) {
	t.Parallel()
	a, group, anna, _ := sharedGroup(t, bridge.HistoryOff)
	a.share(group, anna, simnet.PastText(group.JID(), simnet.JID{}, "ANNA", time.Now().Add(-time.Hour), "by Anna"))
	if got := len(a.messages(bridge.JID(group.JID().String()))); got != 0 {
		t.Errorf("%d messages", got)
	}
}
