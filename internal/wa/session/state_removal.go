package session

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/appstate/lthash"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"google.golang.org/protobuf/proto"
)

// RemoveState removes the entries of a patch from the state that the account's devices share.
// Entries that do not exist are left out. Like [Client.ChangeState], it returns nil if the network
// has accepted the change, and [Client.FollowState] then applies it.
func (c *Client) RemoveState(ctx context.Context, patch appstate.PatchInfo) error {
	return c.changeState(ctx, patch, (*Client).tryEncodeRemoval)
}

// tryEncodeRemoval encodes the removal of entries. whatsmeow encodes only entries that are set, so
// that its patch is changed: the operation and its MAC, and the hashes that depend on them.
func (c *Client) tryEncodeRemoval(ctx context.Context, info appstate.PatchInfo) (stateChange, error) {
	change, err := c.tryEncodeState(ctx, info)
	if err != nil {
		return change, err
	}
	secret, err := c.stores.AppStateKeys.GetAppStateSyncKey(ctx, change.key)
	switch {
	case err != nil:
		return change, Explain(err)
	case secret == nil:
		return change, ErrNoStateKey
	}
	keys, err := hkdf.Key(sha256.New, secret.Data, nil, "WhatsApp Mutation Keys", 5*sha256.Size)
	if err != nil {
		return change, fmt.Errorf("derive the keys of the account's state: %w", err)
	}
	patch := new(waServerSync.SyncdPatch)
	if err := proto.Unmarshal(change.patch, patch); err != nil {
		return change, fmt.Errorf("read a change of the account's state: %w", err)
	}
	change.patch, err = removal{
		name: info.Type, key: change.key, version: change.version + 1,
		values: keys[64:96], snapshots: keys[96:128], patches: keys[128:160],
	}.of(patch, change)
	return change, err
}

// removal turns a patch that sets entries into one that removes them.
type removal struct {
	name                       appstate.WAPatchName
	key                        []byte
	version                    uint64 // after the removal
	values, snapshots, patches []byte // keys of MACs
}

// of returns the encoded removal of the entries of a patch that exist, or nil if none does.
func (r removal) of(patch *waServerSync.SyncdPatch, from stateChange) ([]byte, error) {
	var existing []*waServerSync.SyncdMutation
	var removed [][]byte // the MACs of the values so far
	var macs []byte
	for _, mutation := range patch.GetMutations() {
		former := from.values[string(mutation.GetRecord().GetIndex().GetBlob())]
		if former == "" {
			continue
		}
		removed = append(removed, []byte(former))
		value := mutation.GetRecord().GetValue()
		content := value.GetBlob()[:len(value.GetBlob())-sha256.Size]
		mutation.Operation = waServerSync.SyncdMutation_REMOVE.Enum()
		mac := r.valueMAC(content)
		value.Blob = append(content, mac...)
		macs = append(macs, mac...)
		existing = append(existing, mutation)
	}
	if len(existing) == 0 {
		return nil, nil
	}
	state := from.hash
	lthash.WAPatchIntegrity.SubtractThenAddInPlace(state[:], removed, nil)
	version := binary.BigEndian.AppendUint64(nil, r.version)
	patch.Mutations = existing
	patch.SnapshotMAC = macOf(sha256.New, r.snapshots, state[:], version, []byte(r.name))
	patch.PatchMAC = macOf(sha256.New, r.patches, patch.SnapshotMAC, macs, version, []byte(r.name))
	return proto.Marshal(patch)
}

// valueMAC returns the MAC of the encrypted value of a removed entry.
func (r removal) valueMAC(content []byte) []byte {
	operation := byte(waServerSync.SyncdMutation_REMOVE) + 1
	length := binary.BigEndian.AppendUint64(nil, uint64(len(r.key)+1))
	return macOf(sha512.New, r.values, []byte{operation}, r.key, content, length)[:sha256.Size]
}

func macOf(algorithm func() hash.Hash, key []byte, parts ...[]byte) []byte {
	mac := hmac.New(algorithm, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
