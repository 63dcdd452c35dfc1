package simnet

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

var (
	// ErrNoPairing is returned when nobody has asked for a code for this number, or the QR code is not known any more.
	ErrNoPairing = errors.New("nobody waits to be linked with this code")
	// ErrWrongCode is returned for a pairing code other than the one the client shows.
	ErrWrongCode = errors.New("the pairing code is wrong")
	// ErrBadQR is returned for a text that is no QR code of a client.
	ErrBadQR = errors.New("this is no linking QR code")
	// ErrTooManyDevices is returned when the account has as many companions as it may have.
	ErrTooManyDevices = errors.New("the account has too many linked devices")
	// ErrClientGone is returned when the client hangs up before it is linked.
	ErrClientGone = errors.New("the client hung up while it was being linked")
)

// RefusedError means that the client refused to be linked, with the code it gave: its own check failed, or it wants another account.
type RefusedError struct {
	Code int
	Text string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the client refused to be linked: %d %s", e.Code, e.Text)
}

// await waits for something from a client that is being linked.
func await[T any](ctx context.Context, waiting *pairing, from <-chan T) (value T, err error) {
	select {
	case value = <-from:
		return value, nil
	case <-waiting.conn.Done():
		return value, ErrClientGone
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// ScanQR scans a client's QR code with the phone and returns the new device once it is linked. It fails with [ErrCheckConnection] where the
// network has voided the code's secret, which it does to the first that is scanned: see [Options] and [Phone.HoldTo].
func (p *Phone) ScanQR(ctx context.Context, qr string) (*Device, error) {
	_, fields, found := strings.Cut(qr, "#")
	if !found {
		// Older clients show the fields without the address before them.
		fields = qr
	}
	parts := strings.Split(fields, ",")
	if len(parts) < 4 {
		return nil, ErrBadQR
	}
	secret, err := base64.StdEncoding.DecodeString(parts[3])
	if err != nil {
		return nil, ErrBadQR
	}
	p.net.mu.Lock()
	waiting := p.net.pairings[parts[0]]
	p.net.mu.Unlock()
	if waiting == nil || waiting.gone() {
		return nil, ErrNoPairing
	}
	if identity, err := base64.StdEncoding.DecodeString(parts[2]); err != nil || len(identity) != 32 || [32]byte(identity) != waiting.identity {
		return nil, ErrBadQR
	}
	if p.net.voids(waiting, parts[3]) {
		return nil, ErrCheckConnection
	}
	return p.link(ctx, waiting, secret, "")
}

// link makes a client a device of the account, once both sides have the same secret.
func (p *Phone) link(ctx context.Context, waiting *pairing, secret []byte, display string) (*Device, error) {
	// A companion finds the account's app state there; one that comes later would be announced to it before it has the key.
	if _, err := p.beginAppState(ctx); err != nil {
		return nil, err
	}
	if p.passkeyRequired() {
		var err error
		if secret, err = p.demandPasskey(ctx, waiting, secret); err != nil {
			return nil, err
		}
	}
	d, err := p.reserve(waiting, display)
	if err != nil {
		return nil, err
	}
	identity, err := p.signIdentity(d, secret)
	if err != nil {
		return nil, err
	}
	if err := p.net.awaitRotated(ctx, waiting); err != nil {
		return nil, err
	}
	p.net.sendPairSuccess(waiting, d, identity)
	refused, err := await(ctx, waiting, waiting.answered)
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	p.adopt(waiting, d)
	// Everybody who writes from now on must know the new device.
	return d, p.net.settle(ctx, p.net.allPhones())
}

// reserve gives the client a device number.
func (p *Phone) reserve(waiting *pairing, display string) (*Device, error) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	a := p.account
	if len(a.devices) > p.net.opts.MaxLinkedDevices {
		return nil, ErrTooManyDevices
	}
	a.keyIndex++
	return &Device{
		net: p.net, account: a, number: a.freeDevice(), props: waiting.props, display: display,
		noise: waiting.noise, identity: waiting.identity, keys: waiting.keys, keyIndex: a.keyIndex,
	}, nil
}

// signIdentity signs a device's identity with the account's key.
func (p *Phone) signIdentity(d *Device, secret []byte) ([]byte, error) {
	details, err := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID:     proto.Uint32(uint32(d.number) + 1000),
		Timestamp: proto.Uint64(uint64(time.Now().Unix())),
		KeyIndex:  proto.Uint32(d.keyIndex),
	})
	if err != nil {
		return nil, fmt.Errorf("marshal the device identity: %w", err)
	}
	message := append(append(append([]byte(nil), whatsmeow.AdvAccountSignaturePrefix...), details...), d.identity[:]...)
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*p.identity.Priv), message)
	signed, err := proto.Marshal(&waAdv.ADVSignedDeviceIdentity{
		Details: details, AccountSignatureKey: p.identity.Pub[:], AccountSignature: signature[:],
	})
	if err != nil {
		return nil, fmt.Errorf("marshal the signed identity: %w", err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(signed)
	return proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: mac.Sum(nil)})
}

func (n *Network) sendPairSuccess(waiting *pairing, d *Device, identity []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	waiting.successID = n.nextID()
	content := []Node{
		{Tag: "device-identity", Content: identity},
		{Tag: "device", Attrs: attrs{"jid": d.JID(), "lid": d.LID()}},
		{Tag: "platform", Attrs: attrs{"name": "android"}},
	}
	if d.account.business {
		content = append(content, Node{Tag: "biz", Attrs: attrs{"name": d.account.name}})
	}
	waiting.conn.Send(Node{Tag: "iq", Attrs: attrs{
		"from": types.ServerJID, "type": "set", "id": waiting.successID, "t": wire.UnixNow(), "xmlns": "md",
	}, Content: []Node{{Tag: "pair-success", Content: content}}})
}

// adopt adds the device to the account and makes the client log in.
func (p *Phone) adopt(waiting *pairing, d *Device) {
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	d.account.devices[d.number] = d
	n.endPairing(waiting)
	n.devicesChanged(d)
	n.notify()
	waiting.conn.Send(wire.StreamError("515", ""))
	// whatsmeow hangs up by itself. The server does for a client that does not.
	n.later(waiting.conn, time.Second, func(c *conn) { c.HangUp() })
}

// LinkedDevices returns the account's companions, as the phone lists them.
func (p *Phone) LinkedDevices() []*Device {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	var out []*Device
	for _, d := range p.account.sorted() {
		if d.number != 0 {
			out = append(out, d)
		}
	}
	return out
}

// Unlink removes a companion from the account. It is told so now, or when it connects next.
func (p *Phone) Unlink(d *Device) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	if d.account == p.account && d.number != 0 {
		p.net.unlink(d)
	}
}
