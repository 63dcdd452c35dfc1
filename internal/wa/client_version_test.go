package wa_test

import (
	"testing"
	"time"

	waStore "go.mau.fi/whatsmeow/store"

	"bridged/internal/bridge"
)

// present is the version that a new client claims, and newer a later one.
var present, newer = waStore.GetWAVersion(), waStore.WAVersionContainer{2, 3000, 4_000_000_000}

// TestConnection_OutdatedSaysSo: versions are cut off without notice. If the newest
// one cannot be looked up, the status names the version and a remedy, and each
// later attempt looks it up again.
func TestConnection_OutdatedSaysSo(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	a.manager.SetVersionPause(50 * time.Millisecond) // an hour otherwise
	network.CutOff(newer)
	a.device().Drop()
	for _, want := range []string{present.String(), "cannot be looked up", "web.whatsapp.com", "update bridged", "hourly"} {
		a.waitError(bridge.StateClosed, want)
	}
	network.PublishVersion(present)
	a.waitError(bridge.StateClosed, "the newest one that it names: update bridged")
	network.PublishVersion(newer)
	a.waitState(bridge.StateOpen)
	if sentence := a.lastError(); sentence != "" {
		t.Errorf("open, and lastError is %q", sentence)
	}
}

// TestPairing_OutdatedSaysSo: an outdated version cannot pair either.
func TestPairing_OutdatedSaysSo(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	network.CutOff(newer)
	a := startAccount(t, network, t.TempDir())
	a.waitError(bridge.StateNeedsPair, present.String())
	a.waitError(bridge.StateNeedsPair, "cannot be looked up")
	network.PublishVersion(newer)
	if err := a.manager.RenewPairing(testContext(t)); err != nil { // instead of an hour's wait
		t.Fatal(err)
	}
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
}
