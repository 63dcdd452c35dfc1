package wa

import (
	"context"
	"math"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/util/keys"
)

// largestBatch is what tests bound: at a first login whatsmeow wants 812 keys. It
// is a variable for the tests alone.
var largestBatch uint32 = math.MaxUint32

// preKeyBatches stores the one-time keys of an upload in one transaction.
// whatsmeow stores each in one of its own: 812 durable commits before the first
// login is complete.
type preKeyBatches struct {
	store.PreKeyStore
	// buffer is the session database's own. Its transaction of a decryption is
	// one like any other.
	buffer store.EventBuffer
}

// GetOrGenPreKeys returns the keys that are to be uploaded. The missing ones are
// all stored, or none is.
func (s preKeyBatches) GetOrGenPreKeys(ctx context.Context, count uint32) (out []*keys.PreKey, err error) {
	err = s.buffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		out, err = s.PreKeyStore.GetOrGenPreKeys(ctx, min(count, largestBatch))
		return err
	})
	return out, err
}
