package simnet

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"time"

	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
)

// syncKey encrypts the account's app state.
type syncKey struct {
	id          []byte
	data        []byte
	fingerprint *waE2E.AppStateSyncKeyFingerprint
	at          int64
}

// background runs something on behalf of the phone until it ends or the network does.
func (p *Phone) background(what string, f func(context.Context) error) {
	p.running.start(func() {
		if err := f(p.ctx); err != nil && p.ctx.Err() == nil {
			p.net.log.Warnf("%s: %v", what, err)
		}
	})
}

// welcome gives a new companion what it needs: the key of the app state, and the history. The caller holds Network.mu.
func (p *Phone) welcome(d *Device) {
	p.background("welcome a companion", func(ctx context.Context) error {
		key, err := p.beginAppState(ctx)
		if err != nil {
			return err
		}
		if err = p.shareKey(ctx, d, key); err != nil {
			return err
		}
		if err = p.shareHistory(ctx, d); err != nil {
			return err
		}
		p.net.mu.Lock()
		defer p.net.mu.Unlock()
		d.welcomed = true
		p.net.notify()
		return nil
	})
}

// beginAppState makes the key of the account's app state and enters the push name, once.
func (p *Phone) beginAppState(ctx context.Context) (*syncKey, error) {
	p.appState.Lock()
	defer p.appState.Unlock()
	if p.syncKey != nil {
		return p.syncKey, nil
	}
	key := &syncKey{
		id: append([]byte{0, 0}, randomBytes(4)...), data: randomBytes(32), at: time.Now().UnixMilli(),
		fingerprint: &waE2E.AppStateSyncKeyFingerprint{RawID: proto.Uint32(1000), CurrentIndex: proto.Uint32(0), DeviceIndexes: []uint32{0}},
	}
	fingerprint, err := proto.Marshal(key.fingerprint)
	if err != nil {
		return nil, fmt.Errorf("marshal the key's fingerprint: %w", err)
	}
	if err = p.memory.PutAppStateSyncKey(ctx, key.id, store.AppStateSyncKey{Data: key.data, Fingerprint: fingerprint, Timestamp: key.at}); err != nil {
		return nil, err
	}
	p.syncKey = key
	if p.options.Name != "" {
		err = p.client.SendAppState(ctx, appstate.BuildSettingPushName(p.options.Name))
	}
	if err != nil {
		return nil, fmt.Errorf("enter the push name: %w", err)
	}
	return key, nil
}

func (p *Phone) shareKey(ctx context.Context, d *Device, key *syncKey) error {
	return p.sendPeer(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_SHARE.Enum(),
		AppStateSyncKeyShare: &waE2E.AppStateSyncKeyShare{Keys: []*waE2E.AppStateSyncKey{{
			KeyID: &waE2E.AppStateSyncKeyId{KeyID: key.id},
			KeyData: &waE2E.AppStateSyncKeyData{
				KeyData: key.data, Fingerprint: key.fingerprint, Timestamp: proto.Int64(key.at),
			},
		}}},
	})
}

// sendPeer sends to one companion. whatsmeow sends such messages only if there is a session already.
func (p *Phone) sendPeer(ctx context.Context, d *Device, msg *waE2E.ProtocolMessage) error {
	if err := p.beginSession(ctx, d); err != nil {
		return err
	}
	sending, done := p.memory.crypto.forSend(ctx)
	defer done()
	_, err := p.client.SendMessage(sending, d.JID(), &waE2E.Message{ProtocolMessage: msg}, whatsmeow.SendRequestExtra{Peer: true})
	if err != nil {
		return fmt.Errorf("send to a companion: %w", err)
	}
	return nil
}

func (p *Phone) beginSession(ctx context.Context, d *Device) error {
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
		return fmt.Errorf("no keys of companion %d", d.number)
	}
	builder := session.NewBuilderFromSignal(p.client.Store, address, store.SignalProtobufSerializer)
	err = p.withSessions(ctx, func(ctx context.Context) error { return builder.ProcessBundle(ctx, bundle) })
	if err != nil {
		return fmt.Errorf("begin a session with a companion: %w", err)
	}
	return nil
}

// bundleOf fetches what is needed to begin a session with a device; nil if there is none.
func (p *Phone) bundleOf(ctx context.Context, device types.JID) *prekey.Bundle {
	//lint:ignore SA1019 whatsmeow begins sessions only as a part of sending, which is too late here.
	return p.client.DangerousInternals().FetchPreKeysNoError(ctx, []types.JID{device})[device]
}

// shareHistory sends what the phone has of the past, which is little: the people it knows and who of them is who.
func (p *Phone) shareHistory(ctx context.Context, d *Device) error {
	known := p.acquaintances()
	bootstrap := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_INITIAL_BOOTSTRAP.Enum(), ChunkOrder: proto.Uint32(1), Progress: proto.Uint32(100),
	}
	names := &waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_PUSH_NAME.Enum()}
	for _, person := range known {
		if !person.lid.IsEmpty() {
			bootstrap.PhoneNumberToLidMappings = append(bootstrap.PhoneNumberToLidMappings, &waHistorySync.PhoneNumberToLIDMapping{
				PnJID: proto.String(person.pn.String()), LidJID: proto.String(person.lid.String()),
			})
		}
		if person.name != "" {
			names.Pushnames = append(names.Pushnames, &waHistorySync.Pushname{ID: proto.String(person.pn.String()), Pushname: proto.String(person.name)})
		}
	}
	if err := p.sendHistory(ctx, d, bootstrap, waE2E.HistorySyncType_INITIAL_BOOTSTRAP); err != nil {
		return err
	}
	return p.sendHistory(ctx, d, names, waE2E.HistorySyncType_PUSH_NAME)
}

type acquaintance struct {
	pn, lid types.JID
	name    string
}

// acquaintances returns the phone's own account, those in its address book, and the members of common groups.
func (p *Phone) acquaintances() []acquaintance {
	p.mu.Lock()
	var numbers []string
	for number := range p.book {
		numbers = append(numbers, number)
	}
	p.mu.Unlock()
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	known := map[*account]struct{}{p.account: {}}
	for _, number := range numbers {
		if a := n.byNumber[number]; a != nil {
			known[a] = struct{}{}
		}
	}
	for _, g := range n.groupsOf(p.account) {
		for a := range g.members {
			known[a] = struct{}{}
		}
	}
	var out []acquaintance
	for a := range known {
		out = append(out, acquaintance{a.pn(), a.alternative(types.DefaultUserServer), a.name})
	}
	return out
}

// sendHistory compresses and uploads one part of the history, and sends the companion its place.
func (p *Phone) sendHistory(ctx context.Context, d *Device, part *waHistorySync.HistorySync, kind waE2E.HistorySyncType) error {
	raw, err := proto.Marshal(part)
	if err != nil {
		return fmt.Errorf("marshal the history: %w", err)
	}
	var compressed bytes.Buffer
	writer := zlib.NewWriter(&compressed)
	if _, err = writer.Write(raw); err == nil {
		err = writer.Close()
	}
	if err != nil {
		return fmt.Errorf("compress the history: %w", err)
	}
	uploaded, err := p.client.Upload(ctx, compressed.Bytes(), whatsmeow.MediaHistory)
	if err != nil {
		return fmt.Errorf("upload the history: %w", err)
	}
	return p.sendPeer(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(),
		HistorySyncNotification: &waE2E.HistorySyncNotification{
			FileSHA256: uploaded.FileSHA256, FileLength: &uploaded.FileLength, MediaKey: uploaded.MediaKey,
			FileEncSHA256: uploaded.FileEncSHA256, DirectPath: &uploaded.DirectPath, EncHandle: &uploaded.Handle,
			SyncType: kind.Enum(), ChunkOrder: proto.Uint32(1), Progress: proto.Uint32(100),
		},
	})
}

// SetPushName changes the name that others see, and tells the companions.
func (p *Phone) SetPushName(ctx context.Context, name string) error {
	p.net.mu.Lock()
	p.account.name = name
	p.net.mu.Unlock()
	p.mu.Lock()
	p.options.Name = name
	p.mu.Unlock()
	if _, err := p.beginAppState(ctx); err != nil {
		return err
	}
	if err := p.client.SendAppState(ctx, appstate.BuildSettingPushName(name)); err != nil {
		return fmt.Errorf("change the push name: %w", err)
	}
	return nil
}

// SetContact enters a person into the account's address book, which the companions share.
func (p *Phone) SetContact(ctx context.Context, number, fullName, firstName string) error {
	number = digits(number)
	p.mu.Lock()
	p.book[number] = fullName
	p.mu.Unlock()
	if _, err := p.beginAppState(ctx); err != nil {
		return err
	}
	pn := types.NewJID(number, types.DefaultUserServer)
	action := &waSyncAction.ContactAction{
		FullName: proto.String(fullName), FirstName: proto.String(firstName), PnJID: proto.String(pn.String()),
		SaveOnPrimaryAddressbook: proto.Bool(true),
	}
	p.net.mu.Lock()
	if a := p.net.byNumber[number]; a != nil && !a.withheld {
		action.LidJID = proto.String(a.lid().String())
	}
	p.net.mu.Unlock()
	err := p.client.SendAppState(ctx, appstate.PatchInfo{
		Type: appstate.WAPatchCriticalUnblockLow,
		Mutations: []appstate.MutationInfo{{
			Index: []string{appstate.IndexContact, pn.String()}, Version: 2, Value: &waSyncAction.SyncActionValue{ContactAction: action},
		}},
	})
	if err != nil {
		return fmt.Errorf("enter a contact: %w", err)
	}
	return nil
}

// SendAppState changes any of the account's synced settings, as the phone's menus do.
func (p *Phone) SendAppState(ctx context.Context, patch appstate.PatchInfo) error {
	if _, err := p.beginAppState(ctx); err != nil {
		return err
	}
	return p.client.SendAppState(ctx, patch)
}

// answerPeer handles a request of a companion to the phone.
func (p *Phone) answerPeer(message *events.Message) {
	asked := message.Message.GetProtocolMessage()
	p.mu.Lock()
	deaf := p.deaf
	p.mu.Unlock()
	p.net.mu.Lock()
	d := p.net.device(message.Info.Sender)
	p.net.mu.Unlock()
	if asked == nil || deaf || d == nil || d.account != p.account || d.number == 0 {
		return
	}
	if asked.GetAppStateSyncKeyRequest() != nil {
		p.background("share a key again", func(ctx context.Context) error {
			key, err := p.beginAppState(ctx)
			if err != nil {
				return err
			}
			return p.shareKey(ctx, d, key)
		})
		return
	}
	request := asked.GetPeerDataOperationRequestMessage()
	if request.GetPeerDataOperationRequestType() == waE2E.PeerDataOperationRequestType_PLACEHOLDER_MESSAGE_RESEND && request != nil {
		p.background("send a message again to a companion", func(ctx context.Context) error {
			return p.resendToCompanion(ctx, d, message.Info.ID, request)
		})
	}
}

// IgnoreRequests makes the phone ignore the requests of its companions, as if it were off, or answer them again.
func (p *Phone) IgnoreRequests(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = deaf
}

// resendToCompanion sends messages that a companion could not decrypt, as the phone has them.
func (p *Phone) resendToCompanion(ctx context.Context, d *Device, id types.MessageID, request *waE2E.PeerDataOperationRequestMessage) error {
	response := &waE2E.PeerDataOperationRequestResponseMessage{
		PeerDataOperationRequestType: request.PeerDataOperationRequestType, StanzaID: proto.String(id),
	}
	for _, wanted := range request.GetPlaceholderMessageResendRequest() {
		info, err := p.webMessage(ctx, wanted.GetMessageKey())
		if err != nil {
			return err
		}
		raw, err := proto.Marshal(info)
		if err != nil {
			return fmt.Errorf("marshal a message for a companion: %w", err)
		}
		response.PeerDataOperationResult = append(response.PeerDataOperationResult, &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult{
			PlaceholderMessageResendResponse: &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult_PlaceholderMessageResendResponse{
				WebMessageInfoBytes: raw,
			},
		})
	}
	return p.sendPeer(ctx, d, &waE2E.ProtocolMessage{
		Type:                                    waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE.Enum(),
		PeerDataOperationRequestResponseMessage: response,
	})
}

// webMessage returns a message in the form in which the phone passes it to companions. It waits for one that is still on its way.
func (p *Phone) webMessage(ctx context.Context, key *waCommon.MessageKey) (*waWeb.WebMessageInfo, error) {
	p.mu.Lock()
	own, mine := p.sent[key.GetID()]
	p.mu.Unlock()
	if mine {
		return &waWeb.WebMessageInfo{Key: key, Message: own.msg, MessageTimestamp: proto.Uint64(uint64(own.at.Unix()))}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := p.ReceivedID(ctx, key.GetID())
	if err != nil {
		return nil, fmt.Errorf("find the message that a companion asks for: %w", err)
	}
	info := &waWeb.WebMessageInfo{
		Key: key, Message: r.RawMessage, MessageTimestamp: proto.Uint64(uint64(r.Info.Timestamp.Unix())), PushName: proto.String(r.Info.PushName),
	}
	if r.Info.IsGroup {
		info.Participant = proto.String(r.Info.Sender.ToNonAD().String())
	}
	return info, nil
}
