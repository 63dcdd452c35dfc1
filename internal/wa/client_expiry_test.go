package wa_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// storing returns a preparation of a store with a setting.
func storing(t *testing.T, setting, value string) func(*store.Store) {
	return func(s *store.Store) {
		if err := s.SetSetting(testContext(t), setting, value); err != nil {
			t.Fatal(err)
		}
	}
}

func (a *account) expiresAt() string {
	if at := a.manager.Status().ClientVersion.ExpiresAt; at != nil {
		return at.String()
	}
	return ""
}

// TestExpiry_IsShownUntilANewerVersionIsUsed: the network announces from when on it refuses a version, weeks before.
func TestExpiry_IsShownUntilANewerVersionIsUsed(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	soon, later := time.Now().Add(9*24*time.Hour).Truncate(time.Second), time.Now().Add(20*24*time.Hour)
	network.AnnounceExpiry(newer, soon)
	for _, want := range []string{"will refuse this client's version (" + present.String() + ") from " + bridge.At(soon).String(), "cannot be looked up", "CLIENT_VERSION", "update bridged"} {
		a.waitError(bridge.StateOpen, want)
	}
	network.AnnounceExpiry(newer, later) // does not replace a sooner date
	network.AnnounceExpiry(newer, soon.Add(-time.Hour))
	eventually(t, "the sooner date", func() bool { return a.expiresAt() == bridge.At(soon.Add(-time.Hour)).String() })
	network.AnnounceExpiry(newer, time.Time{})
	eventually(t, "the withdrawal", func() bool { return a.expiresAt() == "" && a.lastError() == "" })
	network.AnnounceExpiry(newer, soon)
	a.waitError(bridge.StateOpen, "will refuse")
	a.stop()

	network.PublishVersion(present)
	b := startAccount(t, network, dir)
	b.phone = a.phone
	b.waitError(bridge.StateOpen, "still the newest one")
	if got := b.expiresAt(); got != bridge.At(soon).String() {
		t.Errorf("after a restart it expires at %q, want %s", got, bridge.At(soon))
	}
	b.stop()

	network.PublishVersion(newer)
	c := startAccount(t, network, dir)
	c.phone = a.phone
	eventually(t, "the newer version at the network", func() bool { return network.Version(c.device()) == newer })
	c.waitState(bridge.StateOpen)
	if status := c.manager.Status(); status.ClientVersion.Current != newer.String() || status.ClientVersion.ExpiresAt != nil || status.LastError != nil {
		t.Errorf("with the newer version: %+v, lastError %q", status.ClientVersion, c.lastError())
	}
}

// TestExpiry_ANewerVersionIsUsedAtOnce, without a restart.
func TestExpiry_ANewerVersionIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	network.PublishVersion(newer)
	a := newAccount(t, network)
	if got := a.manager.Status().ClientVersion.Current; got != present.String() {
		t.Fatalf("uses %s before the announcement", got)
	}
	network.AnnounceExpiry(newer, time.Now().Add(time.Hour))
	eventually(t, "the newer version at the network", func() bool { return network.Version(a.device()) == newer })
	a.waitState(bridge.StateOpen)
	if a.expiresAt() != "" || a.lastError() != "" {
		t.Errorf("expires %q, lastError %q", a.expiresAt(), a.lastError())
	}
}

// startVersion starts an account with CLIENT_VERSION.
func startVersion(t *testing.T, network *simnet.Network, dir, version string) *account {
	t.Helper()
	wrap := func(s *store.Store) wa.Store { return s }
	return startAccountLogging(t, network, dir, zerolog.Nop(), wrap, func(o *wa.Options) { o.ClientVersion = version })
}

// TestClientVersion_IsTheOperatorsIfItIsNewer, so that a variable that was forgotten does no harm.
func TestClientVersion_IsTheOperatorsIfItIsNewer(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	network.CutOff(newer)
	dir := t.TempDir()
	a := startVersion(t, network, dir, newer.String())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	if got := network.Version(a.device()); got != newer {
		t.Errorf("logged in as %s, want %s", got, newer)
	}
	a.stop()
	network.CutOff(present)
	b := startVersion(t, network, dir, "2.3000.1")
	b.waitState(bridge.StateOpen)
	if got := b.manager.Status().ClientVersion.Current; got != present.String() {
		t.Errorf("uses %s instead of the newer %s", got, present)
	}
}

func TestClientVersion_ItsFormIsChecked(t *testing.T) {
	for text, valid := range map[string]bool{
		"2.3000.1049878396": true, "2.3000.0": false, "2.3000": false, "2.2413.51": false, "3.3000.1": false, "2.3000.1x": false,
		"": false, " 2.3000.1": false, "2.3000.01": false, "2.3000.-1": false, "2.3000.99999999999": false,
	} {
		if err := wa.CheckClientVersion(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPair_ARefusedVersionIsTheAnswer, with its remedy, instead of "try again in a moment".
func TestPair_ARefusedVersionIsTheAnswer(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	network.CutOff(newer)
	a := startAccount(t, network, t.TempDir())
	a.waitError(bridge.StateNeedsPair, "cannot be looked up")
	_, err := a.manager.Pair(testContext(t), accountNumber)
	if bridge.CodeOf(err) != bridge.CodeNotConnected || !strings.Contains(err.Error(), present.String()) || !strings.Contains(err.Error(), "CLIENT_VERSION") {
		t.Errorf("pair with a refused version: %v", err)
	}
	network.PublishVersion(newer)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	code, err := a.manager.Pair(testContext(t), accountNumber) // asks for the version once more
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.phone.EnterPairingCode(testContext(t), code.Code); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
}
