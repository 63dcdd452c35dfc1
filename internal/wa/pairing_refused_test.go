package wa_test

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// TestPairing_ClosedConnectionsAreDialledWithPausesAndExplained: the network closed the registrations of some clients
// without a reason, and they dialled about once a second.
func TestPairing_ClosedConnectionsAreDialledWithPausesAndExplained(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	network.CloseUnpaired(func(*waCompanionReg.DeviceProps) bool { return true })
	a := startAccount(t, network, t.TempDir())
	a.waitError(bridge.StateNeedsPair, "sends this bridge no code for pairing")
	if _, err := a.manager.Pair(testContext(t), accountNumber); bridge.CodeOf(err) != bridge.CodeNotConnected || !strings.Contains(err.Error(), "no code for pairing") {
		t.Errorf("pair: %v", err)
	}
	network.CloseUnpaired(nil)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	if sentence := a.lastError(); sentence != "" {
		t.Errorf("paired, and lastError is %q", sentence)
	}
}

// TestPairing_ADesktopWithoutCodesPairsAsABrowser: HISTORY_IMPORT=full pairs as a desktop, whose registrations the
// network may close as those of the Windows and macOS apps.
func TestPairing_ADesktopWithoutCodesPairsAsABrowser(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	network.CloseUnpaired(func(props *waCompanionReg.DeviceProps) bool {
		return props.GetPlatformType() == waCompanionReg.DeviceProps_DESKTOP
	})
	wrap := func(s *store.Store) wa.Store { return s }
	a := startAccountLogging(t, network, t.TempDir(), zerolog.Nop(), wrap, func(o *wa.Options) { o.HistoryImport = bridge.HistoryFull })
	a.waitError(bridge.StateNeedsPair, "HISTORY_IMPORT=full pairs: bridged pairs as a browser now")
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	if got := a.device().PlatformType(); got != waCompanionReg.DeviceProps_CHROME {
		t.Errorf("paired as %v", got)
	}
	if paired, err := a.manager.PairedHistory(testContext(t)); err != nil || paired != bridge.HistoryRecent {
		t.Errorf("requested the history %q, %v", paired, err)
	}
}
