package pairing

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
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

var (
	// ErrNoPairing reports a number for which no client waits, or a QR code that is no longer known.
	ErrNoPairing = errors.New("no client waits to be linked with this code")
	// ErrWrongCode reports a pairing code other than the one the client shows.
	ErrWrongCode = errors.New("the pairing code is wrong")
	// ErrBadQR reports a text that is not a client's QR code.
	ErrBadQR = errors.New("not a QR code for linking a device")
	// ErrCheckConnection stands for the phone's "check your connection" after scanning a QR code whose secret the network has voided.
	ErrCheckConnection = errors.New("check your connection: the secret of the QR code is void")
	// ErrClientGone reports that the client hung up before it was linked.
	ErrClientGone = errors.New("the client hung up while it was being linked")
)

// await waits for a step of the client that is being linked.
func await[T any](ctx context.Context, waiting *Pairing, from <-chan T) (value T, err error) {
	select {
	case value = <-from:
		return value, nil
	case <-waiting.conn.Done():
		return value, ErrClientGone
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// Link makes a client a device of an account, after both sides have agreed on a secret, and makes it log in. identity is the account's key.
func (n *Desk) Link(ctx context.Context, a *people.Account, waiting *Pairing, identity *keys.KeyPair, secret []byte) (*people.Device, error) {
	d, err := n.reserve(a, waiting)
	if err != nil {
		return nil, err
	}
	signed, err := signIdentity(identity, d, secret)
	if err != nil {
		return nil, err
	}
	if err := n.awaitRotated(ctx, waiting); err != nil {
		return nil, err
	}
	n.sendPairSuccess(waiting, d, signed)
	refused, err := await(ctx, waiting, waiting.answered)
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	n.adopt(waiting, d)
	return d, nil
}

// Scan returns the client that shows a QR code, and the secret in the code. It fails with [ErrCheckConnection] if the secret is void, as the
// first one scanned is.
func (n *Desk) Scan(qr string) (*Pairing, []byte, error) {
	_, fields, found := strings.Cut(qr, "#")
	if !found {
		// Older clients show the fields without an address before them.
		fields = qr
	}
	parts := strings.Split(fields, ",")
	if len(parts) < 4 {
		return nil, nil, ErrBadQR
	}
	secret, err := base64.StdEncoding.DecodeString(parts[3])
	if err != nil {
		return nil, nil, ErrBadQR
	}
	n.Mu.Lock()
	waiting := n.pairings[parts[0]]
	n.Mu.Unlock()
	if waiting == nil || waiting.gone() {
		return nil, nil, ErrNoPairing
	}
	if identity, err := base64.StdEncoding.DecodeString(parts[2]); err != nil || len(identity) != 32 || [32]byte(identity) != waiting.identity {
		return nil, nil, ErrBadQR
	}
	if n.voids(waiting, parts[3]) {
		return nil, nil, ErrCheckConnection
	}
	return waiting, secret, nil
}

// reserve assigns a device number of an account to a client that is being linked.
func (n *Desk) reserve(a *people.Account, waiting *Pairing) (*people.Device, error) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if len(a.Devices) > n.MaxLinkedDevices {
		return nil, ErrTooManyDevices
	}
	return a.NewCompanion(waiting.noise, waiting.identity, waiting.keys, waiting.props, waiting.display), nil
}

// signIdentity signs a device's identity with the key of its account.
func signIdentity(account *keys.KeyPair, d *people.Device, secret []byte) ([]byte, error) {
	details, err := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID:     proto.Uint32(uint32(d.Number) + 1000),
		Timestamp: proto.Uint64(uint64(time.Now().Unix())),
		KeyIndex:  proto.Uint32(d.KeyIndex),
	})
	if err != nil {
		return nil, fmt.Errorf("marshal the device identity: %w", err)
	}
	message := append(append(append([]byte(nil), whatsmeow.AdvAccountSignaturePrefix...), details...), d.Identity[:]...)
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*account.Priv), message)
	signed, err := proto.Marshal(&waAdv.ADVSignedDeviceIdentity{
		Details: details, AccountSignatureKey: account.Pub[:], AccountSignature: signature[:],
	})
	if err != nil {
		return nil, fmt.Errorf("marshal the signed identity: %w", err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(signed)
	return proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: mac.Sum(nil)})
}

// sendPairSuccess sends a client its signed identity.
func (n *Desk) sendPairSuccess(waiting *Pairing, d *people.Device, identity []byte) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	waiting.successID = n.NextID()
	content := []Node{
		{Tag: "device-identity", Content: identity},
		{Tag: "device", Attrs: attrs{"jid": d.JID(), "lid": d.LID()}},
		{Tag: "platform", Attrs: attrs{"name": "android"}},
	}
	if d.Account.Business {
		content = append(content, Node{Tag: "biz", Attrs: attrs{"name": d.Account.PushName}})
	}
	waiting.send(Node{Tag: "iq", Attrs: attrs{
		"from": types.ServerJID, "type": "set", "id": waiting.successID, "t": wire.UnixNow(), "xmlns": "md",
	}, Content: []Node{{Tag: "pair-success", Content: content}}})
}

// adopt adds the device to its account and makes the client log in.
func (n *Desk) adopt(waiting *Pairing, d *people.Device) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.endPairing(waiting)
	n.Admit(d)
	n.Notify()
	waiting.send(wire.StreamError("515", ""))
	// whatsmeow hangs up by itself. The server hangs up on clients that do not.
	n.Later(waiting.conn, time.Second, func(c *people.Client) { c.HangUp() })
}
