package simnet

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/proto/waSyncdSnapshotRecovery"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/people"
)

// ChangeSyncKey encrypts the account's state with a new key from now on. Companions get the key only when they ask for it.
func (p *Phone) ChangeSyncKey(ctx context.Context) error {
	if _, err := p.beginAppState(ctx); err != nil {
		return err
	}
	p.appState.Lock()
	defer p.appState.Unlock()
	_, err := p.newSyncKey(ctx)
	return err
}

// Recoveries returns the names of the collections that companions asked to recover, in order.
func (p *Phone) Recoveries() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.recoveries)
}

// recoveryRequested handles a companion's request to recover a collection that it cannot read, and reports whether the request was one.
func (p *Phone) recoveryRequested(d *people.Device, id types.MessageID, request *waE2E.PeerDataOperationRequestMessage) bool {
	const kind = waE2E.PeerDataOperationRequestType_COMPANION_SYNCD_SNAPSHOT_FATAL_RECOVERY
	if request == nil || request.GetPeerDataOperationRequestType() != kind {
		return false
	}
	name := request.GetSyncdCollectionFatalRecoveryRequest().GetCollectionName()
	p.mu.Lock()
	p.recoveries = append(p.recoveries, name)
	p.mu.Unlock()
	p.background("send a collection of the state", func(ctx context.Context) error {
		snapshot, err := p.collection(ctx, name)
		if err != nil {
			return err
		}
		return p.sendPeer(ctx, d, &waE2E.ProtocolMessage{
			Type: waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE.Enum(),
			PeerDataOperationRequestResponseMessage: &waE2E.PeerDataOperationRequestResponseMessage{
				PeerDataOperationRequestType: kind.Enum(), StanzaID: proto.String(id),
				PeerDataOperationResult: []*waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult{{
					SyncdSnapshotFatalRecoveryResponse: &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult_SyncDSnapshotFatalRecoveryResponse{
						CollectionSnapshot: snapshot, IsCompressed: proto.Bool(true),
					},
				}},
			},
		})
	})
	return true
}

// collection returns the content of a collection, unencrypted and compressed.
func (p *Phone) collection(ctx context.Context, name string) ([]byte, error) {
	mutations, state, err := p.readCollection(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read the collection %s: %w", name, err)
	}
	snapshot := &waSyncdSnapshotRecovery.SyncdSnapshotRecovery{
		Version:        &waSyncdSnapshotRecovery.SyncdVersion{Version: proto.Uint64(state.Version)},
		CollectionName: proto.String(name), CollectionLthash: state.Hash[:],
	}
	for _, m := range mutations {
		index, err := json.Marshal(m.Index)
		if err != nil {
			return nil, err
		}
		snapshot.MutationRecords = append(snapshot.MutationRecords, &waSyncdSnapshotRecovery.SyncdPlainTextRecord{
			Value: &waSyncAction.SyncActionData{Index: index, Value: m.Action, Version: proto.Int32(m.Version)}, KeyID: m.KeyID, Mac: m.ValueMAC,
		})
	}
	raw, err := proto.Marshal(snapshot)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err = w.Write(raw); err == nil {
		err = w.Close()
	}
	return packed.Bytes(), err
}
