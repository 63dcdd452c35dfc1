package wa

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"bridged/internal/wa/convert"

	"go.mau.fi/libsignal/keys/prekey"
	signalsession "go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// A message is encrypted for every device of its recipients, in a Signal session
// with each. whatsmeow begins those that are missing while it sends: it asks for
// all keys at once, and keeps nothing when the send fails. In a group of hundreds
// that takes long, holds up decryption as long, and costs every device one of its
// keys with each try. So sessions are begun before the send, a batch at a time:
// the network is asked without the Signal lock, and what was begun is kept.

const (
	// keyQuery is how many devices' keys one query asks for.
	keyQuery = 250
	// sessionBatch is how many sessions are begun in one transaction, while
	// nothing is decrypted: some tens of milliseconds.
	sessionBatch = 50
)

// recipient is one device that a message is encrypted for.
type recipient struct {
	wire    types.JID // as the network names it there
	address types.JID // as its session is kept: by LID where that is known
}

func (r recipient) key() string { return r.address.SignalAddress().String() }

// devicesOf returns the devices that a message to a chat goes to, and this one.
// It returns none where whatsmeow has to find out who the recipient is.
func (l *link) devicesOf(ctx context.Context, to types.JID) ([]types.JID, error) {
	people, err := l.people(ctx, to)
	if err != nil || len(people) == 0 {
		return nil, err
	}
	devices, err := l.cli.GetUserDevices(ctx, people)
	if err != nil {
		return nil, fmt.Errorf("ask for the recipients' devices: %w", err)
	}
	if to.Server == types.GroupServer {
		devices = slices.DeleteFunc(devices, func(d types.JID) bool {
			return d.Server == types.HostedServer || d.Server == types.HostedLIDServer
		})
	}
	return devices, nil
}

// people returns who gets a message to a chat, the account itself among them.
func (l *link) people(ctx context.Context, to types.JID) ([]types.JID, error) {
	if to.Server == types.GroupServer {
		return l.groupMembers(ctx, to)
	}
	lid := to
	if to.Server == types.DefaultUserServer {
		var err error
		if lid, err = l.stores.lids.GetLIDForPN(ctx, to); err != nil {
			return nil, err
		}
	}
	_, own := l.m.own()
	if lid.Server != types.HiddenUserServer || own == "" {
		return nil, nil
	}
	if self := convert.WireJID(own); self != lid {
		return []types.JID{lid, self}, nil
	}
	return []types.JID{lid}, nil
}

// addresses returns the recipients that devices are, but this one. Sessions that were kept
// under a number are moved to the LID first, as whatsmeow does.
func (l *link) addresses(ctx context.Context, devices []types.JID) ([]recipient, error) {
	numbers := slices.DeleteFunc(slices.Clone(devices), func(d types.JID) bool { return d.Server != types.DefaultUserServer })
	lids, err := l.stores.lids.GetManyLIDsForPNs(ctx, numbers)
	if err != nil {
		return nil, err
	}
	recipients := make([]recipient, 0, len(devices))
	for _, device := range devices {
		if l.isThisDevice(device) {
			continue
		}
		address := device
		if lid := lids[device]; !lid.IsEmpty() {
			if err := l.stores.sessions.MigratePNToLID(ctx, device, lid); err != nil {
				return nil, err
			}
			address = lid
		}
		recipients = append(recipients, recipient{wire: device, address: address})
	}
	return recipients, nil
}

func (l *link) isThisDevice(device types.JID) bool {
	pn, lid := l.m.own()
	jid := convert.JID(device)
	return jid != "" && (jid == pn || jid == lid) && device.Device == l.stores.number
}

// beginSessions begins the sessions with recipients that have none, and returns
// the addresses of those that the network has no keys of.
func (l *link) beginSessions(ctx context.Context, recipients []recipient) (without map[string]bool, err error) {
	missing, err := l.withoutSession(ctx, recipients)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	for chunk := range slices.Chunk(missing, keyQuery) {
		if err := l.beginChunk(ctx, chunk); err != nil {
			return nil, err
		}
	}
	if missing, err = l.withoutSession(ctx, missing); err != nil {
		return nil, err
	}
	without = make(map[string]bool, len(missing))
	for _, r := range missing {
		without[r.key()] = true
	}
	return without, nil
}

// withoutSession returns the recipients with which there is no session.
func (l *link) withoutSession(ctx context.Context, recipients []recipient) ([]recipient, error) {
	addresses := make([]string, len(recipients))
	for i, r := range recipients {
		addresses[i] = r.key()
	}
	missing, err := l.m.db.withoutSession(ctx, l.device, addresses)
	if err != nil {
		return nil, fmt.Errorf("look for the sessions: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(recipients), func(r recipient) bool { return !missing[r.key()] }), nil
}

// beginChunk asks for the keys of some recipients and begins sessions with them.
// One send does so at a time, so that no two take keys of the same device.
func (l *link) beginChunk(ctx context.Context, recipients []recipient) error {
	select {
	case l.beginning <- struct{}{}:
		defer func() { <-l.beginning }()
	case <-ctx.Done():
		return ctx.Err()
	}
	missing, err := l.withoutSession(ctx, recipients)
	if err != nil || len(missing) == 0 {
		return err
	}
	asked := make([]types.JID, len(missing))
	for i, r := range missing {
		asked[i] = r.wire
	}
	bundles, err := l.fetchKeys(ctx, asked)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(missing, sessionBatch) {
		err := l.signal.transact(ctx, func(ctx context.Context) error { return l.beginBatch(ctx, batch, bundles) })
		if err != nil {
			return fmt.Errorf("begin sessions: %w", sessionFile.Explain(err))
		}
	}
	return nil
}

// beginBatch begins sessions within a transaction. A session that the other side
// has begun in the meantime is left as it is, and a device whose keys are not
// valid is left out.
func (l *link) beginBatch(ctx context.Context, batch []recipient, bundles map[types.JID]*prekey.Bundle) error {
	for _, r := range batch {
		bundle := bundles[r.wire]
		if bundle == nil {
			continue
		}
		if has, err := l.stores.sessions.HasSession(ctx, r.key()); err != nil {
			return err
		} else if has {
			continue
		}
		switch err := l.beginSession(ctx, r, bundle); {
		case errors.Is(err, signalerror.ErrInvalidSignature), errors.Is(err, signalerror.ErrNoSignedPreKey):
			l.m.log.Warn().Str("device", convert.JID(r.wire).Redacted()).Err(err).Msg("keys of a device not taken")
		case err != nil:
			return err
		}
	}
	return nil
}

// beginSession begins a session with one device. An identity that has changed
// is taken, as whatsmeow does: the person has a new phone.
func (l *link) beginSession(ctx context.Context, r recipient, bundle *prekey.Bundle) error {
	builder := signalsession.NewBuilderFromSignal(l.stores.signal, r.address.SignalAddress(), store.SignalProtobufSerializer)
	err := builder.ProcessBundle(ctx, bundle)
	if !errors.Is(err, signalerror.ErrUntrustedIdentity) {
		return err
	}
	if err := l.forgetIdentity(ctx, r.address); err != nil {
		return err
	}
	return builder.ProcessBundle(ctx, bundle)
}
