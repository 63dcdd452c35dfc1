package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/libsignal/keys/prekey"
	signalsession "go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/wa/convert"
)

// whatsmeow starts missing Signal sessions while it sends: it asks for all keys at once, and
// discards them if the send fails. In a group of hundreds this blocks decryption for long, and
// each attempt uses up one key of every device. So bridged starts sessions before the send, in
// batches, and asks for the keys without holding the Signal lock.

const (
	// keyQuery is the number of devices in one query for keys.
	keyQuery = 250
	// sessionBatch is the number of sessions that one transaction starts, which takes tens of
	// milliseconds.
	sessionBatch = 50
)

// Recipient is one device that a message is encrypted for.
type Recipient struct {
	wire    types.JID // as the network names it
	address types.JID // of its session: the LID if it is known
}

func (r Recipient) key() string { return r.address.SignalAddress().String() }

// Recipients returns the recipients for devices, without this device. Like whatsmeow, it first
// moves sessions that are stored under a number to the LID.
func (c *Client) Recipients(ctx context.Context, devices []types.JID) ([]Recipient, error) {
	numbers := slices.DeleteFunc(slices.Clone(devices), func(d types.JID) bool { return d.Server != types.DefaultUserServer })
	lids, err := c.stores.LIDs.GetManyLIDsForPNs(ctx, numbers)
	if err != nil {
		return nil, err
	}
	recipients := make([]Recipient, 0, len(devices))
	for _, device := range devices {
		if c.isThisDevice(device) {
			continue
		}
		address := device
		if lid := lids[device]; !lid.IsEmpty() {
			if err := c.stores.Sessions.MigratePNToLID(ctx, device, lid); err != nil {
				return nil, err
			}
			address = lid
		}
		recipients = append(recipients, Recipient{wire: device, address: address})
	}
	return recipients, nil
}

func (c *Client) isThisDevice(device types.JID) bool {
	pn, lid := c.observer.Own()
	jid := convert.JID(device)
	return jid != "" && (jid == pn || jid == lid) && device.Device == c.Device.Device
}

// StartSessions starts missing sessions. It returns the addresses of recipients for which the
// network has no keys.
func (c *Client) StartSessions(ctx context.Context, recipients []Recipient) (without map[string]bool, err error) {
	missing, err := c.withoutSession(ctx, recipients)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	for chunk := range slices.Chunk(missing, keyQuery) {
		if err := c.startChunk(ctx, chunk); err != nil {
			return nil, err
		}
	}
	if missing, err = c.withoutSession(ctx, missing); err != nil {
		return nil, err
	}
	without = make(map[string]bool, len(missing))
	for _, r := range missing {
		without[r.key()] = true
	}
	return without, nil
}

// withoutSession returns the recipients that have no session.
func (c *Client) withoutSession(ctx context.Context, recipients []Recipient) ([]Recipient, error) {
	addresses := make([]string, len(recipients))
	for i, r := range recipients {
		addresses[i] = r.key()
	}
	missing, err := c.db.withoutSession(ctx, c.Device, addresses)
	if err != nil {
		return nil, fmt.Errorf("look for the sessions: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(recipients), func(r Recipient) bool { return !missing[r.key()] }), nil
}

// startChunk asks for keys and starts sessions. Only one send does so at a time, so that no two
// sends take keys of the same device.
func (c *Client) startChunk(ctx context.Context, recipients []Recipient) error {
	if err := c.starting.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.starting.Release(1)
	missing, err := c.withoutSession(ctx, recipients)
	if err != nil || len(missing) == 0 {
		return err
	}
	asked := make([]types.JID, len(missing))
	for i, r := range missing {
		asked[i] = r.wire
	}
	bundles, err := c.fetchKeys(ctx, asked)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(missing, sessionBatch) {
		err := c.store.transact(ctx, func(ctx context.Context) error { return c.startBatch(ctx, batch, bundles) })
		if err != nil {
			return fmt.Errorf("start sessions: %w", Explain(err))
		}
	}
	return nil
}

// startBatch starts sessions within a transaction. It skips sessions that the other side has
// started in the meantime, and devices with invalid keys.
func (c *Client) startBatch(ctx context.Context, batch []Recipient, bundles map[types.JID]*prekey.Bundle) error {
	for _, r := range batch {
		bundle := bundles[r.wire]
		if bundle == nil {
			continue
		}
		if has, err := c.stores.Sessions.HasSession(ctx, r.key()); err != nil {
			return err
		} else if has {
			continue
		}
		switch err := c.startSession(ctx, r, bundle); {
		case errors.Is(err, signalerror.ErrInvalidSignature), errors.Is(err, signalerror.ErrNoSignedPreKey):
			c.log.Warn().Str("device", convert.JID(r.wire).Redacted()).Err(err).Msg("ignoring invalid keys of a device")
		case err != nil:
			return err
		}
	}
	return nil
}

// startSession accepts a changed identity, as whatsmeow does: the person has a new phone.
func (c *Client) startSession(ctx context.Context, r Recipient, bundle *prekey.Bundle) error {
	builder := signalsession.NewBuilderFromSignal(&c.stores, r.address.SignalAddress(), store.SignalProtobufSerializer)
	err := builder.ProcessBundle(ctx, bundle)
	if !errors.Is(err, signalerror.ErrUntrustedIdentity) {
		return err
	}
	if err := c.dangerous().ClearUntrustedIdentity(ctx, r.address); err != nil {
		return err
	}
	return builder.ProcessBundle(ctx, bundle)
}

// fetchKeys asks the network for one key of each device. whatsmeow's own method loses the reason
// of a refusal.
func (c *Client) fetchKeys(ctx context.Context, devices []types.JID) (map[types.JID]*prekey.Bundle, error) {
	answer, err := c.dangerous().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "encrypt", Type: "get", To: types.ServerJID, Content: []waBinary.Node{keyRequest(devices)},
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the recipients' keys: %w", err)
	}
	bundles, refused := keyBundles(answer)
	for device, reason := range refused {
		c.log.Warn().Str("device", convert.JID(device).Redacted()).Err(reason).Msg("the network has no valid keys for a device")
	}
	return bundles, nil
}
