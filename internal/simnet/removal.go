package simnet

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/appstate/lthash"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// RemoveContact removes a person from the account's address book, which the companions share. It does nothing if the person is not in it.
func (p *Phone) RemoveContact(ctx context.Context, number string) error {
	number = wire.Digits(number)
	p.mu.Lock()
	delete(p.book, number)
	p.mu.Unlock()
	return p.removeFromBook(ctx, appstate.IndexContact, types.NewJID(number, types.DefaultUserServer).String())
}

// RemoveLIDContact does so with a person without a number.
func (p *Phone) RemoveLIDContact(ctx context.Context, person types.JID) error {
	return p.removeFromBook(ctx, appstate.IndexLIDContact, person.String())
}

func (p *Phone) removeFromBook(ctx context.Context, index ...string) error {
	err := p.changeAppState(ctx, appstate.PatchInfo{
		Type:      appstate.WAPatchCriticalUnblockLow,
		Mutations: []appstate.MutationInfo{{Index: index, Value: new(waSyncAction.SyncActionValue)}},
	}, removing)
	if err != nil {
		return fmt.Errorf("remove from the address book: %w", err)
	}
	return nil
}

// removing encodes the removal of the entries that exist. It changes a patch that sets them, because whatsmeow encodes no removals.
func removing(ctx context.Context, processor *appstate.Processor, key *syncKey, state appstate.HashState, info appstate.PatchInfo, entries []appstate.Mutation) ([]byte, error) {
	encoded, err := processor.EncodePatch(ctx, key.id, state, info)
	if err != nil {
		return nil, err
	}
	patch := new(waServerSync.SyncdPatch)
	if err := proto.Unmarshal(encoded, patch); err != nil {
		return nil, err
	}
	keys, err := hkdf.Key(sha256.New, key.data, nil, "WhatsApp Mutation Keys", 5*sha256.Size)
	if err != nil {
		return nil, err
	}
	values, snapshots, patches := keys[64:96], keys[96:128], keys[128:160]
	var former [][]byte // the MACs of the values so far
	var macs []byte
	patch.Mutations = slices.DeleteFunc(patch.Mutations, func(m *waServerSync.SyncdMutation) bool {
		i := slices.IndexFunc(entries, func(e appstate.Mutation) bool { return bytes.Equal(e.IndexMAC, m.GetRecord().GetIndex().GetBlob()) })
		if i < 0 {
			return true
		}
		former = append(former, entries[i].ValueMAC)
		m.Operation = waServerSync.SyncdMutation_REMOVE.Enum()
		value := m.GetRecord().GetValue()
		content := value.GetBlob()[:len(value.GetBlob())-sha256.Size]
		length := binary.BigEndian.AppendUint64(nil, uint64(len(key.id)+1))
		mac := macOf(sha512.New, values, []byte{byte(waServerSync.SyncdMutation_REMOVE) + 1}, key.id, content, length)[:sha256.Size]
		value.Blob = slices.Concat(content, mac)
		macs = append(macs, mac...)
		return false
	})
	if len(former) == 0 {
		return nil, nil
	}
	lthash.WAPatchIntegrity.SubtractThenAddInPlace(state.Hash[:], former, nil)
	version := binary.BigEndian.AppendUint64(nil, state.Version+1)
	patch.SnapshotMAC = macOf(sha256.New, snapshots, state.Hash[:], version, []byte(info.Type))
	patch.PatchMAC = macOf(sha256.New, patches, patch.SnapshotMAC, macs, version, []byte(info.Type))
	return proto.Marshal(patch)
}

func macOf(algorithm func() hash.Hash, key []byte, parts ...[]byte) []byte {
	mac := hmac.New(algorithm, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
