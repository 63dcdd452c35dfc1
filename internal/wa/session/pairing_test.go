package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet"
)

// unlinked is a plain client that is not linked yet.
type unlinked struct {
	*whatsmeow.Client
	network *simnet.Network
	phone   *simnet.Phone
	codes   []string
}

// newUnlinked connects a client. Its log and events go to secrets, if set, as in a
// bridge.
func newUnlinked(t *testing.T, secrets *PairingSecrets, log waLog.Logger) *unlinked {
	t.Helper()
	network, err := simnet.New(context.Background(), simnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	device := simnet.NewDevice(waLog.Noop)
	if secrets != nil {
		secrets.device = device
	}
	c := &unlinked{Client: whatsmeow.NewClient(device, log), network: network, phone: plainPhone(t, network, "15550100200", "Alex")}
	network.Configure(c.Client)
	shown := make(chan []string, 1)
	c.AddEventHandler(func(evt any) {
		switch e := evt.(type) {
		case *events.QR:
			if secrets != nil {
				secrets.OnCodes()
			}
			shown <- e.Codes
		case *events.RotateADVSecret:
			if secrets == nil {
				return
			}
			if err := secrets.OnRotation(e); err != nil {
				t.Error(err)
			}
		}
	})
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Disconnect)
	c.codes = await(t, shown)
	return c
}

// enterCode links the client by a pairing code.
func (c *unlinked) enterCode(ctx context.Context) error {
	code, err := c.PairPhone(ctx, c.phone.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		return err
	}
	_, err = c.phone.EnterPairingCode(ctx, code)
	return err
}

func TestQuirk_AQRCodeHasTheSecretInItsFourthField(t *testing.T) {
	t.Parallel()
	secrets := new(PairingSecrets)
	c := newUnlinked(t, secrets, waLog.Noop)
	if len(c.codes) != 6 || len(secrets.device.AdvSecretKey) != 32 {
		t.Errorf("got %d codes and a secret of %d bytes", len(c.codes), len(secrets.device.AdvSecretKey))
	}
	for _, code := range c.codes {
		if got := secrets.InQR(code); got != code {
			t.Errorf("got %s, want %s", got, code)
		}
	}
	old := base64.StdEncoding.EncodeToString(secrets.device.AdvSecretKey)
	secrets.device.AdvSecretKey = []byte("another secret, of 32 bytes too.")
	want := strings.Replace(c.codes[0], old, base64.StdEncoding.EncodeToString(secrets.device.AdvSecretKey), 1)
	if got := secrets.InQR(c.codes[0]); got != want || got == c.codes[0] {
		t.Errorf("with another secret: got %s, want %s", got, want)
	}
}

// TestQuirk_ARotationReplacesTheSecretThatACodeMade: PairingSecrets restores it.
func TestQuirk_ARotationReplacesTheSecretThatACodeMade(t *testing.T) {
	t.Parallel()
	c := newUnlinked(t, nil, waLog.Noop)
	c.network.RotateByCode(simnet.BeforeSuccess)
	var refused *simnet.RefusedError
	if err := c.enterCode(plainContext(t)); !errors.As(err, &refused) || refused.Text != "hmac-mismatch" {
		t.Errorf("whatsmeow keeps it now, and PairingSecrets need not: %v", err)
	}
}

// TestQuirk_PairSuccessIsLoggedBeforeItIsHandled, with its stanza, so that its
// secret can be found: here that of the QR codes, after a mistyped code.
func TestQuirk_PairSuccessIsLoggedBeforeItIsHandled(t *testing.T) {
	t.Parallel()
	secrets := new(PairingSecrets)
	log := newLogger(zerolog.Nop(), nil)
	log.onStanza = secrets.onStanza
	c := newUnlinked(t, secrets, log)
	c.DisableLoginAutoReconnect = true
	ctx := plainContext(t)
	if _, err := c.PairPhone(ctx, c.phone.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.phone.EnterPairingCode(ctx, "ABCD-EFGH"); !errors.Is(err, simnet.ErrWrongCode) {
		t.Fatalf("a mistyped code: %v", err)
	}
	if _, err := c.phone.HoldTo(ctx, func() string { return secrets.InQR(c.codes[0]) }); err != nil {
		t.Errorf("by QR code, after a mistyped code and a rotation: %v", err)
	}
}

func TestQuirk_ARefusedCodeIsOnlyLogged(t *testing.T) {
	t.Parallel()
	log := new(recordedLog)
	c := newUnlinked(t, nil, log)
	ctx, cancel := context.WithCancel(plainContext(t))
	defer cancel()
	c.network.FailQueries(simnet.IQFault{Tag: "link_code_companion_reg", Code: 400, Text: "bad-request", Skip: 1, Times: 1})
	entered := make(chan error, 1)
	go func() { entered <- c.enterCode(ctx) }()
	waitFor(t, "the refusal in the log", func() bool {
		return slices.ContainsFunc(log.all(), func(line logLine) bool { return line.level == "error" && codeRefused(line.format, line.args) })
	})
	cancel()
	if err := <-entered; !errors.Is(err, context.Canceled) {
		t.Errorf("the phone got %v", err)
	}
}

// TestPairingSecrets_NeverShowsPartsOfTwoSecrets: whatsmeow replaces the secret while codes are shown. A phone
// that scanned a mixture was refused with "hmac-mismatch".
func TestPairingSecrets_NeverShowsPartsOfTwoSecrets(t *testing.T) {
	both := [][]byte{bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)}
	device := &store.Device{AdvSecretKey: both[0]}
	secrets := &PairingSecrets{device: device}
	secrets.OnCodes()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		replace(device, both)
	}()
	for shown := true; shown; {
		select {
		case <-ended:
			shown = false
		default:
		}
		if secret := secrets.current(); secret != advSecret(both[0]) && secret != advSecret(both[1]) {
			t.Fatalf("got %v", secret)
		}
	}
}

// replace replaces a device's secret many times, without a lock, as whatsmeow does.
//
//go:norace
func replace(device *store.Device, secrets [][]byte) {
	for i := range 3_000_000 {
		device.AdvSecretKey = secrets[i%2]
	}
}
