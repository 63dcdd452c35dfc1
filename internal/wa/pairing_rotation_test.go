package wa_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// unpaired returns an unpaired account with its phone, on a network of its own.
func unpaired(t *testing.T, options simnet.Options) (*simnet.Network, *account) {
	t.Helper()
	network, err := simnet.New(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	return network, a
}

// askCode returns a new pairing code.
func (a *account) askCode() string {
	a.t.Helper()
	code, err := a.manager.Pair(testContext(a.t), accountNumber)
	if err != nil {
		a.t.Fatal(err)
	}
	return code.Code
}

// withoutSecret returns a QR code without its secret: its ref and the keys.
func withoutSecret(code string) string {
	parts := strings.Split(code, ",")
	parts[3] = ""
	return strings.Join(parts, ",")
}

// TestPairing_ARotatedSecretIsShownAtOnce: the network voids a QR code after it was
// scanned. The same ref with the new secret takes its place.
func TestPairing_ARotatedSecretIsShownAtOnce(t *testing.T) {
	t.Parallel()
	_, a := unpaired(t, simnet.Options{Rotations: 3})
	eventually(t, "a QR code", func() bool { return a.shownQR() != "" })
	shown := a.shownQR()
	for range 3 {
		if _, err := a.phone.ScanQR(testContext(t), shown); !errors.Is(err, simnet.ErrCheckConnection) {
			t.Fatalf("the scan: %v, want ErrCheckConnection", err)
		}
		eventually(t, "another QR code", func() bool { return a.shownQR() != shown })
		if now := a.shownQR(); withoutSecret(now) != withoutSecret(shown) {
			t.Errorf("after the rotation %s is shown, before %s", now, shown)
		}
		shown = a.shownQR()
	}
	if _, err := a.phone.ScanQR(testContext(t), shown); err != nil {
		t.Fatalf("the code after three rotations: %v", err)
	}
	a.waitState(bridge.StateOpen)
}

// TestPairing_ACodeSurvivesARotation: a rotation changes the QR codes only; the
// secret derived from a code stays, whichever comes first.
func TestPairing_ACodeSurvivesARotation(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]simnet.CodeStep{"before the secret is derived": simnet.BeforeHello, "after it": simnet.BeforeSuccess} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, a := unpaired(t, simnet.Options{})
			network.RotateByCode(step)
			if _, err := a.phone.EnterPairingCode(testContext(t), a.askCode()); err != nil {
				t.Fatal(err)
			}
			a.waitState(bridge.StateOpen)
		})
	}
}

// TestPairing_EachWayWorksAfterTheOther: a mistyped code leaves a secret behind,
// and a scanned QR code a rotation; neither blocks the other way.
func TestPairing_EachWayWorksAfterTheOther(t *testing.T) {
	t.Parallel()
	t.Run("the QR code after a mistyped code", func(t *testing.T) {
		t.Parallel()
		_, a := unpaired(t, simnet.Options{Rotations: 2})
		a.askCode()
		if _, err := a.phone.EnterPairingCode(testContext(t), "ABCD-EFGH"); !errors.Is(err, simnet.ErrWrongCode) {
			t.Fatalf("a mistyped code: %v", err)
		}
		a.pair()
	})
	t.Run("the code after a rotation", func(t *testing.T) {
		t.Parallel()
		network, a := unpaired(t, simnet.Options{})
		code := a.askCode()
		shown := a.shownQR()
		if _, err := a.phone.ScanQR(testContext(t), shown); !errors.Is(err, simnet.ErrCheckConnection) {
			t.Fatalf("the scan: %v", err)
		}
		eventually(t, "another QR code", func() bool { return a.shownQR() != shown })
		network.RotateByCode(simnet.BeforeSuccess)
		if _, err := a.phone.EnterPairingCode(testContext(t), code); err != nil {
			t.Fatal(err)
		}
		a.waitState(bridge.StateOpen)
	})
}

// TestPairing_ACodeOutlivesTheQRCodes: it stays valid after they have expired, even
// across a rotation.
func TestPairing_ACodeOutlivesTheQRCodes(t *testing.T) {
	t.Parallel()
	network, a := unpaired(t, simnet.Options{QRRefs: 1})
	code := a.askCode()
	a.manager.AgeQRCodes(time.Minute)
	network.RotateSecrets()
	if err := network.WaitRotated(testContext(t)); err != nil {
		t.Fatal(err)
	}
	status := a.manager.Status()
	if status.QR != nil || status.PairingCode == nil || *status.PairingCode != code {
		t.Fatalf("after the last QR code: %+v", status)
	}
	if _, err := a.phone.EnterPairingCode(testContext(t), code); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
}

// TestPairing_ARefusedCodeIsReportedAtOnce, with a remedy, and not only when it
// expires.
func TestPairing_ARefusedCodeIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	network, a := unpaired(t, simnet.Options{})
	code := a.askCode()
	network.FailQueries(simnet.IQFault{Tag: "link_code_companion_reg", Code: 400, Text: "bad-request", Times: 1})
	ctx, giveUp := context.WithCancel(testContext(t))
	entered := make(chan error, 1)
	go func() {
		_, err := a.phone.EnterPairingCode(ctx, code)
		entered <- err
	}()
	a.waitError(bridge.StateNeedsPair, "refused the pairing code")
	a.waitError(bridge.StateNeedsPair, "ask for a new code")
	giveUp()
	if err := <-entered; !errors.Is(err, context.Canceled) {
		t.Errorf("the phone got %v", err)
	}
	if status := a.manager.Status(); status.PairingCode != nil || status.QR == nil {
		t.Errorf("after the refusal: %+v", status)
	}
	again := a.askCode()
	if sentence := a.lastError(); sentence != "" {
		t.Errorf("with a new code lastError is still %q", sentence)
	}
	if _, err := a.phone.EnterPairingCode(testContext(t), again); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
}

// TestPairing_ACodeLeavesOtherDevicesAlone: neither a code request nor a failed
// scan ends any of the account's devices.
func TestPairing_ACodeLeavesOtherDevicesAlone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	_, a := unpaired(t, simnet.Options{})
	tablet, err := a.phone.LinkBare(ctx, filepath.Join(t.TempDir(), "tablet.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tablet.Close() })
	if err := tablet.WaitSynced(ctx); err != nil {
		t.Fatal(err)
	}
	logins := tablet.Counters().Logins
	for range 3 {
		a.askCode()
	}
	if _, err := a.phone.EnterPairingCode(ctx, "ABCD-EFGH"); !errors.Is(err, simnet.ErrWrongCode) {
		t.Fatalf("a mistyped code: %v", err)
	}
	if _, err := a.phone.ScanQR(ctx, a.shownQR()); !errors.Is(err, simnet.ErrCheckConnection) {
		t.Fatalf("the scan: %v", err)
	}
	if _, err := a.phone.EnterPairingCode(ctx, a.askCode()); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
	if devices := a.phone.LinkedDevices(); len(devices) != 2 || tablet.Removed() || tablet.Counters().Logins != logins {
		t.Errorf("%d devices; the tablet is removed: %v, and has logged in %d times, want %d", len(devices), tablet.Removed(), tablet.Counters().Logins, logins)
	}
	if err := tablet.SendText(ctx, a.phone.PN(), "still here"); err != nil {
		t.Errorf("the tablet sends: %v", err)
	}
}
