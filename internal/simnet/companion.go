package simnet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// syncKey encrypts the account's app state.
type syncKey struct {
	id          []byte
	data        []byte
	fingerprint *waE2E.AppStateSyncKeyFingerprint
	at          int64
}

// background runs f on the phone's behalf. Closing the network cancels its context and waits for it.
func (p *Phone) background(what string, f func(context.Context) error) {
	p.running.Start(func() {
		if err := f(p.ctx); err != nil && p.ctx.Err() == nil {
			p.net.Log.Warnf("%s: %v", what, err)
		}
	})
}

// Welcome sends a new companion the key of the app state and the history. The caller holds Directory.Mu.
func (p *Phone) Welcome(d *people.Device) {
	p.background("welcome a companion", func(ctx context.Context) error {
		if _, err := p.beginAppState(ctx); err != nil {
			return err
		}
		err := p.shareKeys(ctx, d)
		if err != nil {
			return err
		}
		if err = p.shareHistory(ctx, d); err != nil {
			return err
		}
		p.net.Mu.Lock()
		defer p.net.Mu.Unlock()
		d.Welcomed = true
		p.net.Notify()
		return nil
	})
}

// beginAppState creates the key of the account's app state and stores the push name in it, once.
func (p *Phone) beginAppState(ctx context.Context) (*syncKey, error) {
	p.appState.Lock()
	defer p.appState.Unlock()
	if p.syncKey != nil {
		return p.syncKey, nil
	}
	key, err := p.newSyncKey(ctx)
	if err != nil {
		return nil, err
	}
	if p.options.Name != "" {
		err = p.client.SendAppState(ctx, appstate.BuildSettingPushName(p.options.Name))
	}
	if err != nil {
		return nil, fmt.Errorf("enter the push name: %w", err)
	}
	return key, nil
}

// newSyncKey creates a key and encrypts the account's state with it from now on. The caller holds appState.
func (p *Phone) newSyncKey(ctx context.Context) (*syncKey, error) {
	key := &syncKey{
		id: append([]byte{0, byte(len(p.syncKeys))}, wire.Random(4)...), data: wire.Random(32), at: time.Now().UnixMilli() + int64(len(p.syncKeys)),
		fingerprint: &waE2E.AppStateSyncKeyFingerprint{RawID: proto.Uint32(1000), CurrentIndex: proto.Uint32(0), DeviceIndexes: []uint32{0}},
	}
	fingerprint, err := proto.Marshal(key.fingerprint)
	if err != nil {
		return nil, fmt.Errorf("marshal the key's fingerprint: %w", err)
	}
	if err = p.memory.PutAppStateSyncKey(ctx, key.id, store.AppStateSyncKey{Data: key.data, Fingerprint: fingerprint, Timestamp: key.at}); err != nil {
		return nil, err
	}
	p.syncKey, p.syncKeys = key, append(p.syncKeys, key)
	return key, nil
}

// shareKeys sends a companion all keys of the account's state.
func (p *Phone) shareKeys(ctx context.Context, d *people.Device) error {
	share := new(waE2E.AppStateSyncKeyShare)
	p.appState.Lock()
	for _, key := range p.syncKeys {
		share.Keys = append(share.Keys, &waE2E.AppStateSyncKey{
			KeyID: &waE2E.AppStateSyncKeyId{KeyID: key.id},
			KeyData: &waE2E.AppStateSyncKeyData{
				KeyData: key.data, Fingerprint: key.fingerprint, Timestamp: proto.Int64(key.at),
			},
		})
	}
	p.appState.Unlock()
	return p.sendPeer(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_SHARE.Enum(), AppStateSyncKeyShare: share,
	})
}

// sendPeer sends a protocol message to one companion.
func (p *Phone) sendPeer(ctx context.Context, d *people.Device, msg *waE2E.ProtocolMessage) error {
	return p.sendPeerAs(ctx, d, "", msg)
}

// sendPeerAs does so under an id, or a new one if it is empty. whatsmeow sends such messages only to devices that it has a session with.
func (p *Phone) sendPeerAs(ctx context.Context, d *people.Device, id types.MessageID, msg *waE2E.ProtocolMessage) error {
	if err := p.beginSession(ctx, d); err != nil {
		return err
	}
	sending, done := p.memory.ForSend(ctx)
	defer done()
	_, err := p.client.SendMessage(sending, d.JID(), &waE2E.Message{ProtocolMessage: msg}, whatsmeow.SendRequestExtra{ID: id, Peer: true})
	if err != nil {
		return fmt.Errorf("send to a companion: %w", err)
	}
	return nil
}

func (p *Phone) beginSession(ctx context.Context, d *people.Device) error {
	address := d.LID().SignalAddress()
	known, err := p.memory.HasSession(ctx, address.String())
	if err != nil || known {
		return err
	}
	if err = p.memory.PutLIDMapping(ctx, p.LID(), p.PN()); err != nil {
		return err
	}
	bundle := p.bundleOf(ctx, d.LID())
	if bundle == nil {
		return fmt.Errorf("no keys of companion %d", d.Number)
	}
	builder := session.NewBuilderFromSignal(p.client.Store, address, store.SignalProtobufSerializer)
	err = p.withSessions(ctx, func(ctx context.Context) error { return builder.ProcessBundle(ctx, bundle) })
	if err != nil {
		return fmt.Errorf("begin a session with a companion: %w", err)
	}
	return nil
}

// bundleOf fetches the keys that begin a session with a device; nil if there are none.
func (p *Phone) bundleOf(ctx context.Context, device types.JID) *prekey.Bundle {
	//lint:ignore SA1019 whatsmeow begins sessions only as a part of sending, which is too late here.
	return p.client.DangerousInternals().FetchPreKeysNoError(ctx, []types.JID{device})[device]
}

// publishName shows others the account's new name.
func (p *Phone) publishName(name string) {
	p.net.Mu.Lock()
	p.Account.PushName = name
	p.net.Notify()
	p.net.Mu.Unlock()
	p.mu.Lock()
	p.options.Name = name
	p.mu.Unlock()
}

// SetPushName changes the name that others see, and updates the companions.
func (p *Phone) SetPushName(ctx context.Context, name string) error {
	p.publishName(name)
	if _, err := p.beginAppState(ctx); err != nil {
		return err
	}
	if err := p.client.SendAppState(ctx, appstate.BuildSettingPushName(name)); err != nil {
		return fmt.Errorf("change the push name: %w", err)
	}
	return nil
}

// SetContact adds a person to the account's address book, which the companions share.
func (p *Phone) SetContact(ctx context.Context, number, fullName, firstName string) error {
	number = wire.Digits(number)
	p.mu.Lock()
	p.book[number] = fullName
	p.mu.Unlock()
	pn := types.NewJID(number, types.DefaultUserServer).String()
	action := &waSyncAction.ContactAction{
		FullName: proto.String(fullName), FirstName: proto.String(firstName), PnJID: proto.String(pn),
		SaveOnPrimaryAddressbook: proto.Bool(true),
	}
	p.net.Mu.Lock()
	if a := p.net.ByNumber[number]; a != nil && !a.Withheld {
		action.LidJID = proto.String(a.LID().String())
	}
	p.net.Mu.Unlock()
	return p.changeBook(ctx, 2, &waSyncAction.SyncActionValue{ContactAction: action}, appstate.IndexContact, pn)
}

// Contact returns the names of a person in the phone's address book, as all of the account's devices have changed it; empty if the person
// is not in it.
func (p *Phone) Contact(ctx context.Context, person types.JID) (fullName, firstName string, err error) {
	if _, err := p.beginAppState(ctx); err != nil {
		return "", "", err
	}
	mutations, _, err := p.readCollection(ctx, string(appstate.WAPatchCriticalUnblockLow))
	names := p.namesOf(person)
	for _, m := range mutations {
		if len(m.Index) < 2 || !slices.Contains(names, m.Index[1]) {
			continue
		}
		if action := m.Action.GetContactAction(); action != nil && m.Index[0] == appstate.IndexContact {
			return action.GetFullName(), action.GetFirstName(), nil
		}
		if action := m.Action.GetLidContactAction(); action != nil && m.Index[0] == appstate.IndexLIDContact {
			return action.GetFullName(), action.GetFirstName(), nil
		}
	}
	return "", "", err
}

// SetLIDContact adds a person without a number to the account's address book, which the companions share. An empty username means that the
// person has given theirs up.
func (p *Phone) SetLIDContact(ctx context.Context, person types.JID, fullName, username string) error {
	action := &waSyncAction.LidContactAction{FullName: proto.String(fullName)}
	if username != "" {
		action.Username = proto.String(username)
	}
	return p.changeBook(ctx, 1, &waSyncAction.SyncActionValue{LidContactAction: action}, appstate.IndexLIDContact, person.String())
}

func (p *Phone) changeBook(ctx context.Context, version int32, value *waSyncAction.SyncActionValue, index ...string) error {
	err := p.SendAppState(ctx, appstate.PatchInfo{
		Type:      appstate.WAPatchCriticalUnblockLow,
		Mutations: []appstate.MutationInfo{{Index: index, Version: version, Value: value}},
	})
	if err != nil {
		return fmt.Errorf("change the address book: %w", err)
	}
	return nil
}
