package wa_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// ownerWith returns an unpaired account, with a phone that has a past.
func ownerWith(t *testing.T, network *simnet.Network, past ...simnet.Past) *account {
	t.Helper()
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.phone.SetPast(past...)
	return a
}

// TestHistory_OldCustomersAreNotRefused: people who refuse strangers accept the
// first message after a new pairing, by the token that they gave the account long
// ago, or by one derived from the account's salt.
func TestHistory_OldCustomersAreNotRefused(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	anna, ben, carla := newPhone(t, network, "15550100301", "Anna"), newPhone(t, network, "15550100302", "Ben"), newPhone(t, network, "15550100303", "Carla")
	a := ownerWith(t, network, simnet.Past{With: anna.PN()}, simnet.Past{With: ben.PN(), ByLID: true})
	for _, customer := range []*simnet.Phone{anna, ben} {
		customer.Trust(a.phone)
		customer.RefuseStrangers(true)
	}
	carla.RefuseStrangers(true)
	a.phone.SetSalt([]byte("the account's salt"))
	a.pair()
	for _, customer := range []*simnet.Phone{anna, ben, carla} {
		if _, err := a.send(jidOf(customer), "Your order is on its way"); err != nil {
			t.Errorf("to %s: %v", customer.Name(), err)
			continue
		}
		if _, err := customer.ReceivedText(testContext(t), "Your order is on its way"); err != nil {
			t.Error(err)
		}
	}
	if count, err := a.store.HistoryCount(testContext(t)); err != nil || count.Done != 2 || count.Waiting != 0 || count.GivenUp != 0 {
		t.Errorf("parts of the history: %+v, %v", count, err)
	}
}

// TestHistory_NamesOutsideTheAddressBook: chats have the names that the phone
// knows, and both identities of a person mean one chat.
func TestHistory_NamesOutsideTheAddressBook(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	anna, ben, carla := newPhone(t, network, "15550100301", "annie"), newPhone(t, network, "15550100302", "Ben"), newPhone(t, network, "15550100303", "Carla")
	a := ownerWith(t, network, simnet.Past{With: anna.PN(), Name: "Anna of the bakery"}, simnet.Past{With: ben.PN(), ByLID: true}, simnet.Past{With: carla.PN(), Name: "+1 555 010-0303"})
	a.pair()
	page, err := a.store.Chats(ctx, bridge.ChatQuery{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("the history alone made chats: %+v, %v", page.Items, err)
	}
	for customer, want := range map[*simnet.Phone]string{anna: "Anna of the bakery", ben: "Ben", carla: "Carla"} {
		if _, err := a.send(jidOf(customer), "hello"); err != nil {
			t.Fatal(err)
		}
		chat, err := a.store.Chat(ctx, bridge.JID(customer.LID().String()))
		if err != nil || chat.Name != want || chat.JID != jidOf(customer) {
			t.Errorf("chat %+v: %v, want the name %q", chat, err, want)
		}
	}
}

// TestHistory_TheFirstAnswerDisappears: in a chat whose messages disappear, the
// first one of a new session does, too. A later change of the timer wins.
func TestHistory_TheFirstAnswerDisappears(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	anna, ben, carla := newPhone(t, network, "15550100301", "Anna"), newPhone(t, network, "15550100302", "Ben"), newPhone(t, network, "15550100303", "Carla")
	set := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	a := ownerWith(t, network, simnet.Past{With: anna.PN(), Timer: 86400, TimerSetAt: set}, simnet.Past{With: carla.PN()})
	a.pair()

	timer := func(to *simnet.Phone) *waE2E.ContextInfo {
		t.Helper()
		sent, err := a.send(jidOf(to), "an answer")
		if err != nil {
			t.Fatal(err)
		}
		got, err := to.ReceivedID(ctx, sent.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.Message.Message.GetExtendedTextMessage().GetContextInfo()
	}
	if info := timer(anna); info.GetExpiration() != 86400 || info.GetEphemeralSettingTimestamp() != set.Unix() {
		t.Errorf("to Anna: %v", info)
	}
	if info := timer(carla); info.GetExpiration() != 0 {
		t.Errorf("to Carla: %v", info)
	}
	// Ben sets a timer while connected; the phone's history is older, or newer.
	if err := ben.SetDisappearing(ctx, a.phone.PN(), 604800); err != nil {
		t.Fatal(err)
	}
	tell := func(seconds uint32, at time.Time) {
		t.Helper()
		part, err := proto.Marshal(&waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_RECENT.Enum(), Conversations: []*waHistorySync.Conversation{{
			ID: proto.String(ben.PN().String()), EphemeralExpiration: proto.Uint32(seconds), EphemeralSettingTimestamp: proto.Int64(at.Unix()),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.phone.SendHistory(ctx, a.device(), waHistorySync.HistorySync_RECENT, part, nil); err != nil {
			t.Fatal(err)
		}
		if err := a.device().WaitHistory(ctx); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "Ben's timer", func() bool {
		timer, err := a.store.ChatTimer(ctx, jidOf(ben))
		return err == nil && timer.Seconds == 604800
	})
	tell(86400, set)
	if info := timer(ben); info.GetExpiration() != 604800 {
		t.Errorf("after an older setting: %v", info)
	}
	tell(0, time.Now().Add(time.Minute))
	if info := timer(ben); info.GetExpiration() != 0 {
		t.Errorf("after a newer setting: %v", info)
	}
}

// TestHistory_IsTakenOverAfterARestart: the next run downloads a part that was
// announced but not downloaded yet.
func TestHistory_IsTakenOverAfterARestart(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network, dir := newNetwork(t), t.TempDir()
	anna := newPhone(t, network, "15550100301", "Anna")
	a := startAccount(t, network, dir)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.phone.SetPast(simnet.Past{With: anna.PN()})
	anna.Trust(a.phone)
	anna.RefuseStrangers(true)
	network.CDN().Fail(simnet.CDNFault{Method: http.MethodGet, StallAtOnce: true})
	code, err := a.manager.Pair(ctx, accountNumber)
	if err != nil {
		t.Fatal(err)
	}
	device, err := a.phone.EnterPairingCode(ctx, code.Code)
	if err != nil {
		t.Fatal(err)
	}
	if err := device.WaitSynced(ctx); err != nil {
		t.Fatal(err)
	}
	a.stop()
	network.CDN().ClearFaults()

	again := startAccount(t, network, dir)
	again.phone = a.phone
	again.waitState(bridge.StateOpen)
	if err := device.WaitHistory(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := again.send(jidOf(anna), "hello"); err != nil {
		t.Error(err)
	}
}

// forgetful loses the announcement of a part, as a kill just before storing it does.
type forgetful struct {
	*store.Store
	lost chan struct{} // has a token for each part to lose
}

func (f forgetful) Save(ctx context.Context, facts ...bridge.Fact) error {
	for _, fact := range facts {
		if _, ok := fact.(bridge.HistoryPart); ok {
			select {
			case <-f.lost:
				return nil
			default:
			}
		}
	}
	return f.Store.Save(ctx, facts...)
}

// TestHistory_WhatAKillTookIsAskedForAgain: the phone is asked for parts whose
// announcement was lost, and for expired ones.
func TestHistory_WhatAKillTookIsAskedForAgain(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	anna := newPhone(t, network, "15550100301", "Anna")
	lost := make(chan struct{}, 2)
	lost <- struct{}{}
	lost <- struct{}{}
	a := startAccountWith(t, network, t.TempDir(), func(s *store.Store) wa.Store { return forgetful{s, lost} })
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.phone.SetPast(simnet.Past{With: anna.PN()})
	anna.Trust(a.phone)
	anna.RefuseStrangers(true)
	code, err := a.manager.Pair(ctx, accountNumber)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.phone.EnterPairingCode(ctx, code.Code); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
	if err := a.phone.WaitHistoryRequests(ctx, 2); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the history", func() bool {
		count, err := a.store.HistoryCount(ctx)
		return err == nil && count.Done == 2 && count.Waiting == 0
	})
	if _, err := a.send(jidOf(anna), "hello"); err != nil {
		t.Error(err)
	}
}

// TestHistory_ExpiredPartsAreUploadedAgain: the phone is asked to upload a part
// again that the network has lost.
func TestHistory_ExpiredPartsAreUploadedAgain(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	anna := newPhone(t, network, "15550100301", "Anna")
	a := ownerWith(t, network, simnet.Past{With: anna.PN()})
	anna.Trust(a.phone)
	anna.RefuseStrangers(true)
	network.CDN().Fail(simnet.CDNFault{Method: http.MethodGet, Status: http.StatusNotFound, Times: 2})
	a.pair()
	if _, err := a.send(jidOf(anna), "hello"); err != nil {
		t.Error(err)
	}
	eventually(t, "only what was had", func() bool {
		count, err := a.store.HistoryCount(testContext(t))
		return err == nil && count.Waiting == 0 && count.GivenUp == 0
	})
}

// TestHistory_BadPartsBlockNothing: parts that are too large, damaged or not
// history at all are given up, and hold up neither other parts nor messages.
func TestHistory_BadPartsBlockNothing(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	anna := newPhone(t, network, "15550100301", "Anna")
	huge := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.BytesType), 1<<40)
	bad := 0
	for name, part := range map[string]struct {
		raw    []byte
		change func(*waE2E.HistorySyncNotification)
	}{
		"claims to be huge":  {nil, func(n *waE2E.HistorySyncNotification) { n.FileLength = proto.Uint64(1 << 40) }},
		"is huge inside":     {huge, nil},
		"ends too early":     {huge[:3], nil},
		"is no protobuf":     {bytes.Repeat([]byte{0xff}, 100), nil},
		"has another key":    {nil, func(n *waE2E.HistorySyncNotification) { n.MediaKey = bytes.Repeat([]byte{1}, 32) }},
		"is nowhere":         {nil, func(n *waE2E.HistorySyncNotification) { n.DirectPath = proto.String("/v/nowhere?x=y") }},
		"is not compressed":  {nil, func(n *waE2E.HistorySyncNotification) { n.InitialHistBootstrapInlinePayload = []byte("plain") }},
		"has no path at all": {nil, func(n *waE2E.HistorySyncNotification) { n.DirectPath = nil }},
	} {
		bad++
		if err := a.phone.SendHistory(ctx, a.device(), waHistorySync.HistorySync_FULL, part.raw, func(n *waE2E.HistorySyncNotification) {
			n.ChunkOrder = proto.Uint32(uint32(bad))
			if part.change != nil {
				part.change(n)
			}
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	names, err := proto.Marshal(&waHistorySync.HistorySync{
		SyncType:  waHistorySync.HistorySync_PUSH_NAME.Enum(),
		Pushnames: []*waHistorySync.Pushname{{ID: proto.String(anna.PN().String()), Pushname: proto.String("Anna!")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.phone.SendHistory(ctx, a.device(), waHistorySync.HistorySync_PUSH_NAME, names, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := anna.SendText(ctx, a.phone.PN(), "hello"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a message behind the bad parts", func() bool { return len(a.messages(jidOf(anna))) == 1 })
	var count bridge.HistoryCount
	eventually(t, "the end of the bad parts", func() bool {
		count, err = a.store.HistoryCount(ctx)
		return err == nil && count.Waiting == 0
	})
	if count.GivenUp != bad || count.Done != 3 {
		t.Errorf("%+v, want %d given up and 3 done", count, bad)
	}
}

// TestHistory_IsOfItsSession: after a logout no parts are pending, and the next
// pairing brings the history again.
func TestHistory_IsOfItsSession(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	anna := newPhone(t, network, "15550100301", "Anna")
	a := ownerWith(t, network, simnet.Past{With: anna.PN()})
	anna.Trust(a.phone)
	anna.RefuseStrangers(true)
	a.pair()
	// Another part, which cannot be downloaded: it must not outlast the session.
	if err := a.phone.SendHistory(ctx, a.device(), waHistorySync.HistorySync_RECENT, nil, func(n *waE2E.HistorySyncNotification) { n.FileLength = proto.Uint64(1 << 40) }); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the part", func() bool {
		count, err := a.store.HistoryCount(ctx)
		return err == nil && count.GivenUp == 1
	})
	if _, err := a.manager.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	if kinds, err := a.store.HistoryKinds(ctx); err != nil || len(kinds) != 0 {
		t.Errorf("after the logout: %v, %v", kinds, err)
	}
	a.pair()
	if _, err := a.send(jidOf(anna), "hello again"); err != nil {
		t.Error(err)
	}
	if count, err := a.store.HistoryCount(ctx); err != nil || count != (bridge.HistoryCount{Done: 2}) {
		t.Errorf("%+v, %v", count, err)
	}
}
