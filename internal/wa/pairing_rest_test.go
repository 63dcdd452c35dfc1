package wa_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/wa"
)

// resting returns an unpaired account that rests, on a network that hangs up soon.
func resting(t *testing.T) (*simnet.Network, *account) {
	t.Helper()
	network, err := simnet.New(context.Background(), simnet.Options{PairingTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.rests()
	if n := network.UnpairedSockets(); n != wa.PairingRounds {
		t.Errorf("%d sockets before the rest, want %d", n, wa.PairingRounds)
	}
	return network, a
}

func (a *account) rests() {
	a.t.Helper()
	eventually(a.t, "the pairing rests", func() bool { return strings.Contains(a.lastError(), "pairing is paused") })
	if status := a.manager.Status(); status.QR != nil || status.Status != bridge.StateNeedsPair {
		a.t.Errorf("a pairing that rests shows %+v", status)
	}
}

// TestPairing_RestsUntilTheNextQuery: official clients do not open a socket every
// few minutes forever. A query of the status resumes the pairing, and the next one
// has a QR code.
func TestPairing_RestsUntilTheNextQuery(t *testing.T) {
	t.Parallel()
	network, a := resting(t)
	a.manager.WakePairing()
	eventually(t, "a QR code", func() bool { return a.manager.Status().QR != nil })
	if sentence := a.lastError(); sentence != "" {
		t.Errorf("lastError is still %q", sentence)
	}
	a.rests() // again
	if n := network.UnpairedSockets(); n != 2*wa.PairingRounds {
		t.Errorf("%d sockets before the second rest, want %d", n, 2*wa.PairingRounds)
	}
}

// TestPairing_RestEndsWithACode: the first request for a code succeeds.
func TestPairing_RestEndsWithACode(t *testing.T) {
	t.Parallel()
	_, a := resting(t)
	if _, err := a.manager.Pair(testContext(t), accountNumber); err != nil {
		t.Fatal(err)
	}
}

// TestPairing_AskedGoesOn: while there are queries of the status, codes are
// renewed.
func TestPairing_AskedGoesOn(t *testing.T) {
	t.Parallel()
	network, err := simnet.New(context.Background(), simnet.Options{PairingTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	a := startAccount(t, network, t.TempDir())
	eventually(t, "more sockets than without a look", func() bool {
		a.manager.WakePairing()
		return network.UnpairedSockets() > wa.PairingRounds+1
	})
}
