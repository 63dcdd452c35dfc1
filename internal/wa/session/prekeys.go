package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	signaloptional "go.mau.fi/libsignal/util/optional"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"golang.org/x/sync/semaphore"
)

// LargestBatch limits an upload of one-time keys. Only tests change it: whatsmeow uploads 812.
var LargestBatch uint32 = math.MaxUint32

// preKeyBatches stores the one-time keys of an upload in one transaction. whatsmeow would make
// 812 durable commits at the first login.
//
// Within the transaction, which holds the only connection, whatsmeow takes its lock for making
// keys (store/sqlstore/store.go, preKeyLock). Making a retry receipt's key takes the lock first
// and then the connection. To avoid a deadlock, only one of the two runs at a time.
type preKeyBatches struct {
	store.PreKeyStore
	buffer store.EventBuffer   // for its transactions
	making *semaphore.Weighted // held while keys are made
}

func newPreKeyBatches(keys store.PreKeyStore, buffer store.EventBuffer) preKeyBatches {
	return preKeyBatches{keys, buffer, semaphore.NewWeighted(1)}
}

// GenOnePreKey makes the key of a retry receipt.
func (s preKeyBatches) GenOnePreKey(ctx context.Context) (*keys.PreKey, error) {
	if err := s.making.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.making.Release(1)
	return s.PreKeyStore.GenOnePreKey(ctx)
}

// GetOrGenPreKeys returns the keys to upload. It stores either all missing keys or none.
func (s preKeyBatches) GetOrGenPreKeys(ctx context.Context, count uint32) (out []*keys.PreKey, err error) {
	if err := s.making.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.making.Release(1)
	err = s.buffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		out, err = s.PreKeyStore.GetOrGenPreKeys(ctx, min(count, LargestBatch))
		return err
	})
	return out, err
}

// keyRequest returns the query for the keys of devices.
func keyRequest(devices []types.JID) waBinary.Node {
	users := make([]waBinary.Node, len(devices))
	for i, device := range devices {
		users[i] = waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": device, "reason": "identity"}}
	}
	return waBinary.Node{Tag: "key", Content: users}
}

// keyBundles parses the answer to a query for keys. refused says why devices have none.
func keyBundles(answer *waBinary.Node) (bundles map[types.JID]*prekey.Bundle, refused map[types.JID]error) {
	bundles, refused = make(map[types.JID]*prekey.Bundle), make(map[types.JID]error)
	list, _ := answer.GetOptionalChildByTag("list")
	for _, user := range list.GetChildren() {
		device, named := user.Attrs["jid"].(types.JID)
		if user.Tag != "user" || !named {
			continue
		}
		bundle, err := keyBundle(device, user)
		if err != nil {
			refused[device] = err
			continue
		}
		bundles[device] = bundle
	}
	return bundles, refused
}

// keyBundle parses the keys of one device.
func keyBundle(device types.JID, user waBinary.Node) (*prekey.Bundle, error) {
	if failure, failed := user.GetOptionalChildByTag("error"); failed {
		return nil, fmt.Errorf("the network has no keys: %v", failure.Attrs["code"])
	}
	if keys, apart := user.GetOptionalChildByTag("keys"); apart {
		user.Content = append(user.GetChildren(), keys.GetChildren()...)
	}
	registration, ok := bytesIn(user, "registration", 4)
	identityKey, hasIdentity := bytesIn(user, "identity", 32)
	signed, hasSigned := user.GetOptionalChildByTag("skey")
	if !ok || !hasIdentity || !hasSigned {
		return nil, errors.New("the keys are incomplete")
	}
	signedID, signedKey, err := publicKey(signed)
	if err != nil {
		return nil, err
	}
	signature, ok := bytesIn(signed, "signature", 64)
	if !ok {
		return nil, errors.New("the signed key has no signature")
	}
	oneTimeID, oneTimeKey := signaloptional.NewEmptyUint32(), ecc.ECPublicKeyable(nil)
	if oneTime, has := user.GetOptionalChildByTag("key"); has {
		id, key, err := publicKey(oneTime)
		if err != nil {
			return nil, err
		}
		oneTimeID, oneTimeKey = signaloptional.NewOptionalUint32(id), key
	}
	return prekey.NewBundle(binary.BigEndian.Uint32(registration), uint32(device.Device), oneTimeID, signedID, oneTimeKey, signedKey,
		[64]byte(signature), identity.NewKey(ecc.NewDjbECPublicKey([32]byte(identityKey)))), nil
}

// publicKey parses one key with its number.
func publicKey(node waBinary.Node) (id uint32, key ecc.ECPublicKeyable, err error) {
	number, ok := bytesIn(node, "id", 3)
	value, hasValue := bytesIn(node, "value", 32)
	if !ok || !hasValue {
		return 0, nil, fmt.Errorf("no valid %s", node.Tag)
	}
	return binary.BigEndian.Uint32(append([]byte{0}, number...)), ecc.NewDjbECPublicKey([32]byte(value)), nil
}

// bytesIn returns the content of a child, and false if it has not the given length.
func bytesIn(node waBinary.Node, tag string, length int) ([]byte, bool) {
	child, _ := node.GetOptionalChildByTag(tag)
	content, ok := child.Content.([]byte)
	return content, ok && len(content) == length
}
