package simnet_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

func TestPairing_ByCode(t *testing.T) {
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c := newSQLCompanion(t, n)
	c.pairByCode(own)
	success := await[*events.PairSuccess](c, nil)
	if success.ID != c.device.JID() || success.LID != c.device.LID() {
		t.Errorf("paired as %s / %s, want %s / %s", success.ID, success.LID, c.device.JID(), c.device.LID())
	}
	if devices := own.LinkedDevices(); len(devices) != 1 || devices[0].DisplayName() != "Chrome (Linux)" || devices[0].Platform() == "" {
		t.Errorf("linked devices: %v", devices)
	}
	mustSend(t, anna, own.PN(), "hello")
	if chat := c.text("hello").Info.Chat; chat != anna.PN() {
		t.Errorf("chat %s, want %s", chat, anna.PN())
	}
	c.send(anna.PN(), "answer")
	mustReceive(t, anna, "answer")
	if r := mustReceive(t, own, "answer"); !r.Info.IsFromMe || r.Info.Chat.User != anna.LID().User {
		t.Errorf("the own phone saw the answer as %s", r.Info.SourceString())
	}
	if unknown := n.Unknown(); len(unknown) > 0 {
		t.Errorf("the server did not understand %v", unknown)
	}
}

// send makes the client send a text.
func (c *companion) send(to types.JID, text string) types.MessageID {
	c.t.Helper()
	resp, err := c.cli.SendMessage(within(c.t), to, &waE2E.Message{Conversation: proto.String(text)})
	if err != nil {
		c.t.Fatalf("send %q: %v", text, err)
	}
	return resp.ID
}

func TestPairing_ByQRCode(t *testing.T) {
	n := newNetwork(t)
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.connect()
	if codes := await[*events.QR](c, nil).Codes; len(codes) != 6 {
		t.Errorf("%d codes, want 6", len(codes))
	}
	c.scan(own)
	if name := c.device.DisplayName(); name != "" {
		t.Errorf("display name %q of a device linked by QR code", name)
	}
	mustSend(t, own, own.PN(), "note to self")
	if m := c.text("note to self"); !m.Info.IsFromMe || m.Info.Chat != own.PN() {
		t.Errorf("note to self came as %s", m.Info.SourceString())
	}
}

// pair links the client by QR code, which is faster than by pairing code: no key is
// stretched.
func (c *companion) pair(p *simnet.Phone) {
	c.t.Helper()
	c.connect()
	c.scan(p)
}

func (c *companion) scan(p *simnet.Phone) {
	c.t.Helper()
	var err error
	if c.device, err = p.HoldTo(within(c.t), c.screen.Shown); err != nil {
		c.t.Fatalf("scan: %v", err)
	}
	c.online()
}

func TestPairing_WrongCodeSpoilsTheQRCodeButNotTheConnection(t *testing.T) {
	n := newNetwork(t, func(o *simnet.Options) { o.Rotations = -1 })
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.connect()
	old := await[*events.QR](c, nil).Codes[0]
	if _, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)"); err != nil {
		t.Fatal(err)
	}
	if _, err := own.EnterPairingCode(within(t), "ABCD-EFGH"); !errors.Is(err, simnet.ErrWrongCode) {
		t.Fatalf("wrong code: %v, want ErrWrongCode", err)
	}
	var refused *simnet.RefusedError
	if _, err := own.ScanQR(within(t), old); !errors.As(err, &refused) || refused.Code != 401 {
		t.Fatalf("QR code from before the wrong code: %v, want a refusal with 401", err)
	}
	// whatsmeow hangs up after a failed check; a new connection starts afresh.
	await[*events.PairError](c, nil)
	c.connect()
	await[*events.QR](c, nil)
	code, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		t.Fatal(err)
	}
	if c.device, err = own.EnterPairingCode(within(t), code); err != nil {
		t.Fatalf("the right code: %v", err)
	}
	c.online()
}

func TestPairing_SecondCodeKillsTheFirst(t *testing.T) {
	n := newNetwork(t)
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.connect()
	await[*events.QR](c, nil)
	first, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = own.EnterPairingCode(within(t), first); !errors.Is(err, simnet.ErrWrongCode) {
		t.Errorf("first code: %v, want ErrWrongCode", err)
	}
	if c.device, err = own.EnterPairingCode(within(t), second); err != nil {
		t.Fatalf("second code: %v", err)
	}
	c.online()
}

func TestPairing_Refusals(t *testing.T) {
	n := newNetwork(t, func(o *simnet.Options) { o.MaxLinkedDevices = 1 })
	own := newPhone(t, n, "4915100000001", "Owner")
	if _, err := own.EnterPairingCode(within(t), "ABCDEFGH"); !errors.Is(err, simnet.ErrNoPairing) {
		t.Errorf("no client waits: %v, want ErrNoPairing", err)
	}
	if _, err := own.ScanQR(within(t), "https://example.org"); !errors.Is(err, simnet.ErrBadQR) {
		t.Errorf("no QR code: %v, want ErrBadQR", err)
	}
	if _, err := n.NewPhone(within(t), simnet.PhoneOptions{Number: own.Number()}); !errors.Is(err, simnet.ErrNumberTaken) {
		t.Errorf("a second phone with the number: %v, want ErrNumberTaken", err)
	}
	c := newCompanion(t, n)
	c.connect()
	await[*events.QR](c, nil)
	if _, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Toaster"); !errors.Is(err, whatsmeow.ErrIQBadRequest) {
		t.Errorf("implausible display name: %v, want 400", err)
	}
	c.cli.PrePairCallback = func(types.JID, string, string) bool { return false }
	code, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		t.Fatal(err)
	}
	var refused *simnet.RefusedError
	if _, err = own.EnterPairingCode(within(t), code); !errors.As(err, &refused) {
		t.Errorf("a client that wants another account: %v, want a RefusedError", err)
	}
	first, second := newCompanion(t, n), newCompanion(t, n)
	first.pair(own)
	second.connect()
	if _, err = own.HoldTo(within(t), second.screen.Shown); !errors.Is(err, simnet.ErrTooManyDevices) {
		t.Errorf("one device too many: %v, want ErrTooManyDevices", err)
	}
}

func TestPairing_EndsWhenTheQRCodesHaveRunOut(t *testing.T) {
	n := newNetwork(t, func(o *simnet.Options) { o.PairingTimeout = 100 * time.Millisecond })
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.connect()
	code := await[*events.QR](c, nil).Codes[0]
	await[*events.Disconnected](c, nil)
	if _, err := own.ScanQR(within(t), code); !errors.Is(err, simnet.ErrNoPairing) {
		t.Errorf("an old QR code: %v, want ErrNoPairing", err)
	}
}

func TestPairing_WithPasskey(t *testing.T) {
	for _, way := range []string{"code", "QR"} {
		t.Run(way, func(t *testing.T) {
			n := newNetwork(t)
			own := newPhone(t, n, "4915100000001", "Owner")
			own.RequirePasskey(true)
			c := newCompanion(t, n)
			c.connect()
			await[*events.QR](c, nil)
			linked := make(chan error, 1)
			if way == "code" {
				code, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
				if err != nil {
					t.Fatal(err)
				}
				go func() { c.device, _ = own.EnterPairingCode(within(t), code); linked <- nil }()
			} else {
				go func() { c.device, _ = own.HoldTo(within(t), c.screen.Shown); linked <- nil }()
			}
			c.answerPasskey(own)
			<-linked
			if c.device == nil {
				t.Fatal("not linked")
			}
			c.online()
		})
	}
}

// answerPasskey signs the network's demand with the account's passkey and confirms the code.
func (c *companion) answerPasskey(p *simnet.Phone) {
	c.t.Helper()
	request := await[*events.PairPasskeyRequest](c, nil)
	options, err := json.Marshal(request.PublicKey)
	if err != nil {
		c.t.Fatal(err)
	}
	credential, err := p.Passkey().Sign(options)
	if err != nil {
		c.t.Fatalf("sign: %v", err)
	}
	var response types.WebAuthnResponse
	if err = json.Unmarshal(credential, &response); err != nil {
		c.t.Fatal(err)
	}
	if err = c.cli.SendPasskeyResponse(within(c.t), &response); err != nil {
		c.t.Fatalf("answer: %v", err)
	}
	confirmation := await[*events.PairPasskeyConfirmation](c, nil)
	if !confirmation.SkipHandoffUX || confirmation.Code != p.ConfirmationCode() {
		c.t.Errorf("the client shows %q, the phone %q", confirmation.Code, p.ConfirmationCode())
	}
	if err = c.cli.SendPasskeyConfirmation(within(c.t)); err != nil {
		c.t.Fatalf("confirm: %v", err)
	}
}

func TestPairing_ForeignPasskeyIsRefused(t *testing.T) {
	n := newNetwork(t)
	own, other := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Other")
	own.RequirePasskey(true)
	c := newCompanion(t, n)
	c.connect()
	linked := make(chan error, 1)
	go func() {
		_, err := own.HoldTo(within(t), c.screen.Shown)
		linked <- err
	}()
	options, err := json.Marshal(await[*events.PairPasskeyRequest](c, nil).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	credential, err := other.Passkey().Sign(options)
	if err != nil {
		t.Fatal(err)
	}
	var response types.WebAuthnResponse
	if err = json.Unmarshal(credential, &response); err != nil {
		t.Fatal(err)
	}
	if err = c.cli.SendPasskeyResponse(within(t), &response); !errors.Is(err, whatsmeow.ErrIQForbidden) {
		t.Errorf("the client got %v, want 403", err)
	}
	if err = <-linked; !errors.Is(err, simnet.ErrPasskeyRefused) {
		t.Errorf("the phone got %v, want ErrPasskeyRefused", err)
	}
}

func TestUnlink_ByThePhone(t *testing.T) {
	n := newNetwork(t)
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.pair(own)
	c.calm(own)
	c.ended = true
	own.Unlink(c.device)
	if out := await[*events.LoggedOut](c, nil); out.OnConnect {
		t.Error("logged out on connect, want while connected")
	}
	if len(own.LinkedDevices()) != 0 || !c.device.Removed() {
		t.Error("the phone still lists the device")
	}
}

func TestUnlink_WhileTheClientIsAway(t *testing.T) {
	n := newNetwork(t)
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.pair(own)
	c.calm(own)
	c.cli.Disconnect()
	c.ended = true
	own.Unlink(c.device)
	c.connect()
	if out := await[*events.LoggedOut](c, nil); !out.OnConnect || out.Reason != events.ConnectFailureLoggedOut {
		t.Errorf("logged out: %+v", out)
	}
}

func TestUnlink_ByTheClient(t *testing.T) {
	n := newNetwork(t)
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.pair(own)
	c.calm(own)
	if err := c.cli.Logout(within(t)); err != nil {
		t.Fatalf("log out: %v", err)
	}
	if err := c.device.WaitRemoved(within(t)); err != nil {
		t.Fatal(err)
	}
	if len(own.LinkedDevices()) != 0 {
		t.Error("the phone still lists the device")
	}
}
