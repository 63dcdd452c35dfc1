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

// whatsmeow begins missing Signal sessions while it sends: it asks for all keys at
// once, and keeps nothing when the send fails. In a group of hundreds that holds up
// decryption for long, and costs every device one key with each try. So sessions are
// begun before the send, in batches, asking without the Signal lock.

const (
	// keyQuery limits the devices in one query for keys.
	keyQuery = 250
	// sessionBatch limits the sessions that one transaction begins: tens of milliseconds.
	sessionBatch = 50
)

// Recipient is one device that a message is encrypted for.
type Recipient struct {
	wire    types.JID // as the network names it there
	address types.JID // as its session is kept: by LID where that is known
}

func (r Recipient) key() string { return r.address.SignalAddress().String() }

// Recipients returns the recipients of devices other than this one. It moves sessions
// that were kept under a number to the LID first, as whatsmeow does.
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

// BeginSessions begins missing sessions, and returns the addresses of recipients whose
// keys the network does not have.
func (c *Client) BeginSessions(ctx context.Context, recipients []Recipient) (without map[string]bool, err error) {
	missing, err := c.withoutSession(ctx, recipients)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	for chunk := range slices.Chunk(missing, keyQuery) {
		if err := c.beginChunk(ctx, chunk); err != nil {
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

// withoutSession returns the recipients with which there is no session.
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

// beginChunk asks for keys and begins sessions, one send at a time, so that no two take
// keys of one device.
func (c *Client) beginChunk(ctx context.Context, recipients []Recipient) error {
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
		err := c.store.transact(ctx, func(ctx context.Context) error { return c.beginBatch(ctx, batch, bundles) })
		if err != nil {
			return fmt.Errorf("begin sessions: %w", Explain(err))
		}
	}
	return nil
}

// beginBatch begins sessions within a transaction. It leaves sessions that the other
// side has begun meanwhile, and leaves out devices with invalid keys.
func (c *Client) beginBatch(ctx context.Context, batch []Recipient, bundles map[types.JID]*prekey.Bundle) error {
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
		switch err := c.beginSession(ctx, r, bundle); {
		case errors.Is(err, signalerror.ErrInvalidSignature), errors.Is(err, signalerror.ErrNoSignedPreKey):
			c.log.Warn().Str("device", convert.JID(r.wire).Redacted()).Err(err).Msg("keys of a device not taken")
		case err != nil:
			return err
		}
	}
	return nil
}

// beginSession accepts a changed identity, as whatsmeow does: the person has a new phone.
func (c *Client) beginSession(ctx context.Context, r Recipient, bundle *prekey.Bundle) error {
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

// fetchKeys asks the network for keys of devices, one of each. whatsmeow's own
// method loses the reason where the query is refused.
func (c *Client) fetchKeys(ctx context.Context, devices []types.JID) (map[types.JID]*prekey.Bundle, error) {
	answer, err := c.dangerous().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "encrypt", Type: "get", To: types.ServerJID, Content: []waBinary.Node{keyRequest(devices)},
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the recipients' keys: %w", err)
	}
	bundles, refused := keyBundles(answer)
	for device, reason := range refused {
		c.log.Warn().Str("device", convert.JID(device).Redacted()).Err(reason).Msg("no keys of a device")
	}
	return bundles, nil
}
