package simnet_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

// TestHistory_BringsWhatAFreshCompanionNeeds: without the history the server refuses
// messages to people who refuse strangers.
func TestHistory_BringsWhatAFreshCompanionNeeds(t *testing.T) {
	n := newNetwork(t)
	own, anna, ben := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna"), newPhone(t, n, "4915100000003", "Ben")
	anna.Trust(own)
	anna.RefuseStrangers(true)
	ben.RefuseStrangers(true)
	set := time.Now().Add(-time.Hour).Truncate(time.Second)
	own.SetPast(simnet.Past{With: anna.PN(), Name: "Anna", Timer: 86400, TimerSetAt: set, Recent: []*simnet.PastInfo{
		simnet.PastText(anna.PN(), anna.PN(), "OLD1", set, "long ago"), simnet.PastText(anna.PN(), types.EmptyJID, "OLD2", set, "indeed"),
	}})

	c := newCompanion(t, n)
	c.pairByCode(own)
	if _, err := c.cli.SendMessage(within(t), anna.PN(), &waE2E.Message{Conversation: proto.String("hello?")}); !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		t.Errorf("a message without a token: %v", err)
	}
	var parts []*waHistorySync.HistorySync
	for range 3 {
		told := await(c, func(m *events.Message) bool {
			return m.Message.GetProtocolMessage().GetHistorySyncNotification() != nil
		})
		notification := told.Message.GetProtocolMessage().GetHistorySyncNotification()
		part, err := c.cli.DownloadHistorySync(within(t), notification, true)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
		if err := c.cli.DeleteMedia(within(t), whatsmeow.MediaHistory, notification.GetDirectPath(), notification.GetFileEncSHA256(), notification.GetEncHandle()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.device.WaitHistory(within(t)); err != nil {
		t.Error(err)
	}
	chat := parts[0].GetConversations()[0]
	if chat.GetName() != "Anna" || chat.GetEphemeralExpiration() != 86400 || chat.GetEphemeralSettingTimestamp() != set.Unix() {
		t.Errorf("chat %v", chat)
	}
	if recent := parts[2]; recent.GetSyncType() != waHistorySync.HistorySync_RECENT || len(recent.GetConversations()[0].GetMessages()) != 2 {
		t.Errorf("recent messages %v", recent)
	}
	if _, err := c.cli.SendMessage(within(t), anna.PN(), &waE2E.Message{Conversation: proto.String("hello!")}); err != nil {
		t.Errorf("a message with the token: %v", err)
	}
	mustReceive(t, anna, "hello!")

	// For people who have given no token, one derived from the account's salt is
	// accepted.
	if _, err := c.cli.SendMessage(within(t), ben.PN(), &waE2E.Message{Conversation: proto.String("hello?")}); !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		t.Errorf("a message without a salt: %v", err)
	}
	own.SetSalt([]byte("a salt"))
	if err := c.cli.Store.NCTSalt.PutNCTSalt(within(t), []byte("a salt")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.cli.SendMessage(within(t), ben.PN(), &waE2E.Message{Conversation: proto.String("hello!")}); err != nil {
		t.Errorf("a message with a derived token: %v", err)
	}
}

// TestHistory_OnDemand: a companion may ask for messages from before one that it has.
func TestHistory_OnDemand(t *testing.T) {
	_, own, anna, c := pair(t)
	at := time.Now().Add(-time.Hour)
	past := func(id, text string) *simnet.PastInfo { return simnet.PastText(anna.PN(), anna.PN(), id, at, text) }
	own.SetPast(simnet.Past{With: anna.PN(), Older: []*simnet.PastInfo{past("OLD1", "one"), past("OLD2", "two")}, Recent: []*simnet.PastInfo{past("NEW", "three")}})
	request := c.cli.BuildHistorySyncRequest(&types.MessageInfo{ID: "NEW", Timestamp: at, MessageSource: types.MessageSource{Chat: anna.LID()}}, 1)
	if _, err := c.cli.SendPeerMessage(within(t), request); err != nil {
		t.Fatal(err)
	}
	told := await(c, func(m *events.Message) bool {
		return m.Message.GetProtocolMessage().GetHistorySyncNotification().GetSyncType().String() == "ON_DEMAND"
	})
	part, err := c.cli.DownloadHistorySync(within(t), told.Message.GetProtocolMessage().GetHistorySyncNotification(), true)
	if err != nil {
		t.Fatal(err)
	}
	if got := part.GetConversations()[0].GetMessages(); len(got) != 1 || got[0].GetMessage().GetKey().GetID() != "OLD2" {
		t.Errorf("messages %v", got)
	}
	if asked := own.HistoryRequests(); len(asked) != 1 || asked[0].Before != "NEW" || asked[0].Count != 1 {
		t.Errorf("asked %+v", asked)
	}
}

// TestHistory_DepthIsWhatTheCompanionSays: by default the full history spans a year;
// a desktop that names its limits gets as much as they allow.
func TestHistory_DepthIsWhatTheCompanionSays(t *testing.T) {
	deep := func(days uint32) *waCompanionReg.DeviceProps_HistorySyncConfig {
		return &waCompanionReg.DeviceProps_HistorySyncConfig{FullSyncDaysLimit: &days, FullSyncSizeMbLimit: proto.Uint32(102400), StorageQuotaMb: proto.Uint32(102400)}
	}
	desktop, chrome := waCompanionReg.DeviceProps_DESKTOP.Enum(), waCompanionReg.DeviceProps_CHROME.Enum()
	for name, test := range map[string]struct {
		props *waCompanionReg.DeviceProps
		want  []string
	}{
		"nothing":           {&waCompanionReg.DeviceProps{PlatformType: desktop, HistorySyncConfig: deep(3650)}, nil},
		"full alone":        {&waCompanionReg.DeviceProps{RequireFullSync: proto.Bool(true), PlatformType: chrome}, []string{"MONTHS"}},
		"full, no desktop":  {&waCompanionReg.DeviceProps{RequireFullSync: proto.Bool(true), PlatformType: chrome, HistorySyncConfig: deep(3650)}, []string{"MONTHS"}},
		"full, no limits":   {&waCompanionReg.DeviceProps{RequireFullSync: proto.Bool(true), PlatformType: desktop}, []string{"MONTHS"}},
		"full, with limits": {&waCompanionReg.DeviceProps{RequireFullSync: proto.Bool(true), PlatformType: desktop, HistorySyncConfig: deep(3650)}, []string{"YEARS", "MONTHS"}},
		"bounded":           {&waCompanionReg.DeviceProps{RequireFullSync: proto.Bool(true), PlatformType: desktop, HistorySyncConfig: deep(30)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t)
			own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
			past := func(id string, months int) *simnet.PastInfo {
				return simnet.PastText(anna.PN(), anna.PN(), id, time.Now().AddDate(0, -months, 0), "long ago")
			}
			own.SetPast(simnet.Past{With: anna.PN(), Older: []*simnet.PastInfo{past("YEARS", 60), past("MONTHS", 6)}, Recent: []*simnet.PastInfo{past("RECENT", 1)}})
			c := newCompanion(t, n)
			c.cli.GetClientPayload = func() *waWa6.ClientPayload {
				payload := c.cli.Store.GetClientPayload()
				if registration := payload.GetDevicePairingData(); registration != nil {
					encoded, err := proto.Marshal(test.props)
					if err != nil {
						t.Error(err)
					}
					registration.DeviceProps = encoded
				}
				return payload
			}
			c.pairByCode(own)
			var got []string
			for kind := waE2E.HistorySyncType_INITIAL_BOOTSTRAP; kind != waE2E.HistorySyncType_FULL; {
				told := await(c, func(m *events.Message) bool {
					return m.Message.GetProtocolMessage().GetHistorySyncNotification() != nil
				})
				notification := told.Message.GetProtocolMessage().GetHistorySyncNotification()
				if kind = notification.GetSyncType(); kind == waE2E.HistorySyncType_RECENT && test.want == nil {
					break // the last part
				}
				part, err := c.cli.DownloadHistorySync(within(t), notification, true)
				if err != nil {
					t.Fatal(err)
				}
				for _, chat := range part.GetConversations() {
					for _, m := range chat.GetMessages() {
						if kind == waE2E.HistorySyncType_FULL {
							got = append(got, m.GetMessage().GetKey().GetID())
						}
					}
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the full history has %v, want %v", got, test.want)
			}
		})
	}
}
