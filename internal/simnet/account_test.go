package simnet_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"go.uber.org/goleak"

	"bridged/internal/simnet"
)

func TestAppState_NamesComeBeforeAndAfterLinking(t *testing.T) {
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	if err := own.SetContact(within(t), anna.Number(), "Anna Beispiel", "Anna"); err != nil {
		t.Fatal(err)
	}
	c := newCompanion(t, n)
	c.pair(own)
	for _, name := range appstate.AllPatchNames {
		await(c, func(e *events.AppStateSyncComplete) bool { return e.Name == name })
	}
	if c.cli.Store.PushName != "Owner" {
		t.Errorf("push name %q, want Owner", c.cli.Store.PushName)
	}
	contact, err := c.cli.Store.Contacts.GetContact(within(t), anna.PN())
	if err != nil || contact.FullName != "Anna Beispiel" {
		t.Errorf("contact %+v: %v", contact, err)
	}
	if err = own.SetContact(within(t), "+49 151 00000003", "Ben Beispiel", "Ben"); err != nil {
		t.Fatal(err)
	}
	if e := await[*events.Contact](c, nil); e.Action.GetFullName() != "Ben Beispiel" {
		t.Errorf("contact event %+v", e)
	}
	if err = own.SetPushName(within(t), "New name"); err != nil {
		t.Fatal(err)
	}
	if e := await[*events.PushNameSetting](c, nil); e.Action.GetName() != "New name" {
		t.Errorf("push name event %+v", e)
	}
	// The companion can change the app state as well, and the phone follows.
	if err = c.cli.SendAppState(within(t), appstate.BuildPin(anna.PN(), true)); err != nil {
		t.Fatal(err)
	}
	if _, err = own.Event(within(t), func(e any) bool { _, ok := e.(*events.Pin); return ok }); err != nil {
		t.Errorf("the phone hears of the pin: %v", err)
	}
}

// What a companion changes shows on the phone, under either name of the person, together with the phone's own changes.
func TestAppState_ThePhoneShowsChats(t *testing.T) {
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c := newCompanion(t, n)
	c.pair(own)
	for _, name := range appstate.AllPatchNames {
		await(c, func(e *events.AppStateSyncComplete) bool { return e.Name == name })
	}
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	for _, step := range []struct {
		patch appstate.PatchInfo
		want  simnet.ChatState
	}{
		{appstate.BuildPin(anna.LID(), true), simnet.ChatState{Pinned: true}},
		{appstate.BuildMarkChatAsRead(anna.LID(), false, time.Time{}, nil), simnet.ChatState{Pinned: true, Unread: true}},
		{appstate.BuildArchive(anna.LID(), true, time.Time{}, nil), simnet.ChatState{Archived: true, Unread: true}},
		{appstate.BuildMute(anna.LID(), true, 0), simnet.ChatState{Archived: true, Unread: true, Muted: true}},
		{appstate.BuildMuteAbs(anna.LID(), true, new(until.UnixMilli())), simnet.ChatState{Archived: true, Unread: true, Muted: true, MutedUntil: until}},
	} {
		if err := c.cli.SendAppState(within(t), step.patch); err != nil {
			t.Fatal(err)
		}
		for _, name := range []types.JID{anna.PN(), anna.LID()} {
			if got, err := own.ChatState(within(t), name); err != nil || got != step.want {
				t.Errorf("%s: %+v, %v, want %+v", step.patch.Mutations[0].Index[0], got, err, step.want)
			}
		}
	}
	if got, err := own.ChatState(within(t), own.PN()); err != nil || got != (simnet.ChatState{}) {
		t.Errorf("another chat: %+v, %v", got, err)
	}
}

func TestHistory_TellsWhoIsWho(t *testing.T) {
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	if err := own.SetContact(within(t), anna.Number(), "Anna Beispiel", "Anna"); err != nil {
		t.Fatal(err)
	}
	c := newCompanion(t, n)
	c.pair(own)
	var names []*waHistorySync.Pushname
	for range 2 {
		told := await(c, func(m *events.Message) bool {
			return m.Message.GetProtocolMessage().GetHistorySyncNotification() != nil
		})
		// By itself, the client would report the part before it stores it.
		part, err := c.cli.DownloadHistorySync(within(t), told.Message.GetProtocolMessage().GetHistorySyncNotification(), true)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, part.GetPushnames()...)
	}
	if len(names) != 2 {
		t.Errorf("push names %v", names)
	}
	lid, err := c.cli.Store.LIDs.GetLIDForPN(within(t), anna.PN())
	if err != nil || lid != anna.LID() {
		t.Errorf("LID %s: %v", lid, err)
	}
}

func TestPhone_SwitchedOffGetsItsMessagesLater(t *testing.T) {
	_, own, anna, c := pair(t)
	anna.Disconnect()
	if err := anna.Device().WaitOffline(within(t)); err != nil {
		t.Fatal(err)
	}
	c.send(anna.PN(), "are you there?")
	if err := anna.Connect(within(t)); err != nil {
		t.Fatal(err)
	}
	mustReceive(t, anna, "are you there?")
	mustSend(t, anna, own.PN(), "now I am")
	c.text("now I am")
}

func TestPreKeys_AreReplenished(t *testing.T) {
	n := newNetwork(t)
	anna := newPhone(t, n, "4915100000002", "Anna")
	ben := newPhone(t, n, "4915100000003", "Ben")
	before := anna.Device().PreKeys()
	for range before - 2 {
		//lint:ignore SA1019 this is how whatsmeow takes keys when it sends.
		bundle := ben.Client().DangerousInternals().FetchPreKeysNoError(within(t), []types.JID{anna.LID()})
		if bundle[anna.LID()] == nil {
			t.Fatal("no bundle")
		}
	}
	if err := anna.Device().WaitPreKeys(within(t), 40); err != nil {
		t.Fatalf("%d keys: %v", anna.Device().PreKeys(), err)
	}
}

func TestNetworkFile_PointsAnybodyAtTheNetwork(t *testing.T) {
	n := newNetwork(t)
	path := filepath.Join(t.TempDir(), "network.json")
	if err := n.WriteNetworkFile(path); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ WebsocketURL, CACertificate, NoiseRootKey string }
	if err = json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	root, err := base64.StdEncoding.DecodeString(file.NoiseRootKey)
	if err != nil || [32]byte(root) != whatsmeow.WACertPubKey {
		t.Errorf("root key %x: %v", root, err)
	}
	if file.WebsocketURL != n.WebsocketURL() || !strings.HasPrefix(file.WebsocketURL, "wss://127.0.0.1:") || !strings.HasPrefix(file.CACertificate, "-----BEGIN CERTIFICATE-----") {
		t.Errorf("network file %+v", file)
	}
}

func TestNetwork_ListensOnLoopbackOnly(t *testing.T) {
	if _, err := simnet.New(t.Context(), simnet.Options{ListenAddr: "0.0.0.0:0"}); err == nil {
		t.Error("listens on all addresses")
	}
}

func TestClose_LeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	n, err := simnet.New(t.Context(), simnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	anna, ben := newPhone(t, n, "4915100000002", "Anna"), newPhone(t, n, "4915100000003", "Ben")
	mustSend(t, anna, ben.PN(), "hello")
	mustReceive(t, ben, "hello")
	ben.Device().Freeze()
	n.Close()
	n.Close()
	goleak.VerifyNone(t, before)
}
