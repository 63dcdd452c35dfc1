package wa_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/wa"
)

func pastYears(friend *simnet.Phone, id string, years int) *simnet.PastInfo {
	return simnet.PastText(friend.PN(), friend.PN(), id, time.Now().AddDate(-years, 0, -1), "long ago")
}

// TestImport_AsDeepAsThePhoneGives: the full history spans years, a limited span
// has only its messages, and older ones are not stored even if the phone sends
// them.
func TestImport_AsDeepAsThePhoneGives(t *testing.T) {
	t.Parallel()
	for mode, want := range map[bridge.HistoryImport][]string{
		bridge.HistoryRecent:             {"RECENT"},
		bridge.HistoryFull:               {"UNASKED", "FIVE", "TWO", "RECENT"},
		bridge.HistoryOfDays(3 * 365):    {"TWO", "RECENT"},
		bridge.HistoryOfDays(7):          nil,
		bridge.HistoryOfDays(365 + 2*30): {"RECENT"},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			a, anna := importing(t, mode, plainly)
			a.phone.SetPast(simnet.Past{
				With: anna.PN(), Older: []*simnet.PastInfo{pastYears(anna, "FIVE", 5), pastYears(anna, "TWO", 2)},
				Recent: []*simnet.PastInfo{pastText(anna, "RECENT", 1, "one swallow")},
			})
			a.pair()
			part, err := proto.Marshal(&waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_FULL.Enum(), Conversations: []*waHistorySync.Conversation{{
				ID: proto.String(anna.PN().String()), Messages: []*waHistorySync.HistorySyncMsg{{Message: pastYears(anna, "UNASKED", 6)}},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.phone.SendHistory(ctx, a.device(), waHistorySync.HistorySync_FULL, part, nil); err != nil {
				t.Fatal(err)
			}
			if err := a.device().WaitHistory(ctx); err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, m := range a.messages(jidOf(anna)) {
				ids = append(ids, m.ID)
			}
			if !slices.Equal(ids, want) {
				t.Errorf("imported %v, want %v", ids, want)
			}
			platform := waCompanionReg.DeviceProps_CHROME
			if mode.IsDeep() {
				platform = waCompanionReg.DeviceProps_DESKTOP
			}
			if got := a.device().PlatformType(); got != platform {
				t.Errorf("the phone shows %v, want %v", got, platform)
			}
		})
	}
}

// TestImport_WhatIsAskedForHasNoBound: older messages of a chat come on demand,
// however old they are.
func TestImport_WhatIsAskedForHasNoBound(t *testing.T) {
	t.Parallel()
	a, anna := importing(t, bridge.HistoryOfDays(90), plainly)
	a.phone.SetPast(simnet.Past{With: anna.PN(), Older: []*simnet.PastInfo{pastYears(anna, "FIVE", 5)}, Recent: []*simnet.PastInfo{pastText(anna, "RECENT", 1, "hello")}})
	a.pair()
	oldest := a.messages(jidOf(anna))[0]
	oldest.Chat = jidOf(anna)
	if _, err := a.manager.AskHistory(testContext(t), oldest, 5); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the older message", func() bool { return len(a.messages(jidOf(anna))) == 2 })
}

// TestImport_CountsAtThePairing: a setting that wants more than the pairing
// requested is reported in the log at each start, until the account is paired
// again.
func TestImport_CountsAtThePairing(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network, dir := newNetwork(t), t.TempDir()
	phone := newPhone(t, network, accountNumber, "Alex")
	start := func(mode bridge.HistoryImport) (*account, *bytes.Buffer) {
		var lines bytes.Buffer
		log := zerolog.New(zerolog.SyncWriter(&lines)).Level(zerolog.WarnLevel)
		a := startAccountLogging(t, network, dir, log, plainly, func(o *wa.Options) { o.HistoryImport = mode })
		a.phone = phone
		return a, &lines
	}
	const pairAgain = "pair again"
	a, lines := start(bridge.HistoryRecent)
	a.pair()
	a.stop()
	if strings.Contains(lines.String(), pairAgain) {
		t.Errorf("before anything was changed: %s", lines)
	}
	for mode, deeper := range map[bridge.HistoryImport]bool{
		bridge.HistoryOff: false, bridge.HistoryRecent: false, bridge.HistoryOfDays(30): false, bridge.HistoryOfDays(365): true, bridge.HistoryFull: true,
	} {
		a, lines := start(mode)
		a.waitState(bridge.StateOpen)
		if paired, err := a.manager.PairedHistory(ctx); err != nil || paired != bridge.HistoryRecent {
			t.Errorf("paired with %q, %v", paired, err)
		}
		a.stop()
		if strings.Contains(lines.String(), pairAgain) != deeper {
			t.Errorf("%s after recent: %s", mode, lines)
		}
	}
	a, _ = start(bridge.HistoryFull)
	a.waitState(bridge.StateOpen)
	if _, err := a.manager.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	if paired, err := a.manager.PairedHistory(ctx); err != nil || paired != "" {
		t.Errorf("after the logout: %q, %v", paired, err)
	}
	a.pair()
	if paired, err := a.manager.PairedHistory(ctx); err != nil || paired != bridge.HistoryFull {
		t.Errorf("paired again with %q, %v", paired, err)
	}
}
